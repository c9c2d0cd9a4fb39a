"""What keeps the compiler, or a tool of its own, from being loaded or started."""

import pytest

from triage import match
from triage.logs import diagnose_any, diagnose_text
from triage.model.diagnosis import Kind


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ('Triton 3.4: I get "libstdc++.so.6 ... GLIBCXX 3.4.32 not found." with conda.\n', "GLIBCXX 3.4.32 not found"),
        ("I train a LoRA:\nimport error: No module named 'triton'\n", "import error: No module named 'triton'"),
        (
            "Error running attention: /home/u/.triton/cache/5DK/cuda_utils.so: undefined symbol: cuModuleGetFunction\n",
            "undefined symbol: cuModuleGetFunction",
        ),
    ],
)
def test_what_keeps_the_compiler_from_loading_as_users_tell_it(text: str, headline: str) -> None:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    assert diagnosis.kind is Kind.ENVIRONMENT
    assert headline in diagnosis.headline


def test_windows_says_why_ptxas_did_not_start() -> None:
    diagnosis = diagnose_text(
        "subprocess.CalledProcessError: Command ['C:\\triton\\backends\\nvidia\\bin\\ptxas.exe', '--version'] returned "
        "non-zero exit status 3221225794.\n"
    )
    assert diagnosis is not None
    assert diagnosis.headline == "ptxas: did not start, 0xC0000142: a DLL failed to initialise"


def test_a_shell_says_below_how_ptxas_ended() -> None:
    diagnosis = diagnose_text("Internal Triton PTX codegen error:\nSegmentation fault (core dumped)\n")
    assert diagnosis is not None
    assert diagnosis.headline == "ptxas: ended by signal SIGSEGV"


@pytest.mark.parametrize("escaped", ["\\\\", "\\"])
def test_a_path_that_is_longer_than_windows_allows(escaped: str) -> None:
    folders = ["C:", "Users", "u", "AppData", "Local", "Temp", "torchinductor_u", "triton", "0", "A" * 52]
    for name, is_long in (("triton_poi_fused_" + "view_" * 40, True), ("triton_poi_fused_view_0", False)):
        path = escaped.join([*folders, "tmp.pid_17396_ac66eb93-ba17-41e0-a0ae-0b6cbecc99ad", f"{name}.json"])
        diagnosis = diagnose_text(f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'\n")
        assert diagnosis is not None
        assert (match(diagnosis)[0].id == "windows-path-too-long") is is_long
        assert ("and Windows finds none of more than 259" in diagnosis.headline) is is_long


def test_windows_says_itself_that_a_path_is_too_long() -> None:
    diagnosis = diagnose_text(
        "triton: OSError: [WinError 206] The filename or extension is too long: 'C:\\\\t\\\\k.json'\n"
    )
    assert diagnosis is not None
    assert match(diagnosis)[0].id == "windows-path-too-long"


def test_msvc_refuses_what_intel_s_back_end_wrote() -> None:
    diagnosis = diagnose_text(
        "# [Windows] torch._inductor.exc.InductorError: RuntimeError: main.cpp\n\n```\n"
        "C:\\Temp\\tmpn1iom9ah\\main.cpp(994): error C3480: 'INDEX': a lambda capture must be a variable\n```\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ENVIRONMENT, "main.cpp", 994)
    assert diagnosis.headline.startswith("The host compiler refuses Triton's launcher: 'INDEX'")


def test_a_header_that_triton_s_launcher_includes() -> None:
    diagnosis = diagnose_text(
        "In file included from C:/Temp/tmp7h3_h1dj/cuda_utils.c:12:\n"
        "In file included from C:/Python313/Include/Python.h:70:\n"
        'C:/Python313/Include/cpython/pyatomic.h:543: error: #error "no implementation for this compiler"\n'
    )
    assert diagnosis is not None
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ENVIRONMENT, "pyatomic.h", 543)


@pytest.mark.parametrize(("package", "is_cache"), [("triton", True), ("models", False)])
def test_a_parent_of_the_cache_s_folder_that_cannot_be_made(package: str, is_cache: bool) -> None:
    diagnosis = diagnose_any(
        "My triton kernel:\nTraceback (most recent call last):\n"
        f'  File "/v/{package}/runtime/cache.py", line 69, in __init__\n    os.makedirs(self.cache_dir)\n'
        '  File "/usr/lib/python3.10/os.py", line 225, in makedirs\n    mkdir(name, mode)\n'
        "PermissionError: [Errno 13] Permission denied: '/home/u'\n"
    )
    assert diagnosis is not None
    assert (diagnosis.kind is Kind.ENVIRONMENT) is is_cache
    assert any(found.id == "cache-folder-not-writable" for found in match(diagnosis)) is is_cache
