"""Toolchains: what is found, what is made, what a user reads when neither works."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import triage.harness.toolchains as under_test
from triage.harness.deadline import Deadline
from triage.harness.environment import interpreter_environment
from triage.harness.toolchains import Toolchain, Toolchains, cache_root
from triage.harness.toolchains.failures import InstallFailure, Problem, diagnose, explain, redact
from triage.harness.toolchains.installers import find_installer
from triage.harness.toolchains.managed import MARKER
from triage.harness.toolchains.model import fingerprint
from triage.harness.toolchains.toolchains import find_python
from triage.model.compilers import TRITON
from triage.model.errors import EnvironmentFault, InputError
from triage.model.releases import RELEASES, ReleaseRequest, nearest, parse, sort_key

VERSION = "3.2.0"
REPOSITORY = Path(under_test.__file__).parents[3]
UV = find_installer().uv
needs_uv = pytest.mark.skipif(not UV, reason="uv makes an environment in a second, pip in a minute; see the slow test")


# --- versions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("3.2.0", "triton==3.2.0"),
        (" 3.2.0 ", "triton==3.2.0"),
        ("v3.2.0", "triton==3.2.0"),
        ("3.5.0rc1", "triton==3.5.0rc1"),
        ("3.3.1.post2", "triton==3.3.1.post2"),
        ("3.4.0+git1a2b3c", "triton==3.4.0+git1a2b3c"),
        ("3.3", "triton==3.3.1"),  # the series is over: its newest is known
        ("3.7", "triton==3.7.1"),
        ("3.9", "triton==3.9.*"),  # it may get another patch: the installer knows
        ("3.10", "triton==3.10.*"),
        ("4.0.1", "triton==4.0.1"),
    ],
)
def test_what_a_version_asks_for(text: str, requirement: str) -> None:
    assert parse(text).requirement == requirement


GARBAGE = (
    *("", "3", "3.", "latest", "3.2.0.0", "3.2.x", "03.2.0", "3.2.0;x", "3.2.0 ||", "-3.2.0", "3.2.0\n3.3.0"),
    *(
        "==3.2.0",
        "3.2.0 --index-url http://x",
        "../3.2.0",
        "3.2.0/..",
        "3.2rc1",
        "3.2.0+",
        "٣.2.0",
        "3.1٣.0",
        "3.999999.0",
    ),
)


@pytest.mark.parametrize("text", GARBAGE)
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(InputError) as told:
        parse(text)
    assert_one_line(told.value, "--triton")


@pytest.mark.parametrize("text", ["2.1", "2.3.1", "1.0.0", "0.4"])
def test_triton_before_3_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Triton \d\.x is not supported; 3\.0 is the oldest"):
        parse(text)


@given(st.text())
def test_any_text_is_a_version_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        assert parse(text).requirement.startswith("triton==")


def test_versions_follow_each_other_as_releases_do() -> None:
    ordered = [
        *("unknown", "2.3.1", "3.0.0.dev1", "3.0.0a1", "3.0.0rc1", "3.0.0rc2", "3.0.0", "3.0.0+git1"),
        *("3.0.0.post1", "3.1.0", "3.9.0", "3.10.0"),
    ]
    shuffled = sorted(ordered, key=lambda version: version[::-1])
    assert sorted(shuffled, key=sort_key) == ordered
    assert sorted(RELEASES, key=sort_key) == list(RELEASES)


@pytest.mark.parametrize(
    ("request_", "version", "accepts", "is_met"),
    [
        (ReleaseRequest("3.4.0", False), "3.4.0", True, True),
        (ReleaseRequest("3.4.0", False), "3.4.0+git1a2b", True, False),  # an index may serve it, a stranger's is not it
        (ReleaseRequest("3.4.0", False), "3.4.1", False, False),
        (ReleaseRequest("3.1", True), "3.1.0", True, True),
        (ReleaseRequest("3.1", True), "3.10.0", False, False),
        (ReleaseRequest("3.1", True), "3.1.0rc1", False, False),
    ],
)
def test_which_version_answers_a_request(request_: ReleaseRequest, version: str, accepts: bool, is_met: bool) -> None:
    assert (request_.accepts(version), request_.is_met_by(version)) == (accepts, is_met)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.99.0", ["3.7.1", "3.8.0", "3.9.0"]),
        ("3.0.5", ["3.0.0", "3.1.0", "3.2.0"]),
        ("3.3.2", ["3.3.0", "3.3.1", "3.4.0"]),
    ],
)
def test_the_releases_near_one_that_does_not_exist(version: str, expected: list[str]) -> None:
    assert nearest(version, ["2.3.1", *RELEASES]) == expected


# --- what installers say --------------------------------------------------------------------------------------

# As printed by uv 0.13 and pip 23.2, shortened only where "…" stands.
OUTPUTS = {
    "uv-unknown": (
        "3.99.0",
        "error: No solution found when resolving dependencies\n  cause: Because there is no version of "
        "triton==3.99.0 and you require triton==3.99.0, we can conclude that your requirements are unsatisfiable.\n",
        Problem.NO_SUCH_VERSION,
    ),
    "uv-unknown-series": (
        "3.99",
        "error: No solution found when resolving dependencies\n  cause: Because only triton<=3.9.0 is available and "
        "you require triton==3.99.*, we can conclude that your requirements are unsatisfiable.\n",
        Problem.NO_SUCH_VERSION,
    ),
    "uv-partial-mirror": (
        "3.2.0",
        "  cause: Because there is no version of triton==3.2.0 and you require triton==3.2.0, we can conclude …\n",
        Problem.NO_PACKAGE,
    ),
    "uv-empty-index": (
        "3.2.0",
        "  cause: Because triton was not found in the package registry and you require triton==3.2.0, we can …\n",
        Problem.NO_PACKAGE,
    ),
    "uv-no-wheel": (
        "3.0.0",
        "error: No solution found when resolving dependencies\n  cause: Because triton==3.0.0 has no wheels with a "
        "matching Python ABI tag (e.g., `cp313`) and you require triton==3.0.0, we can conclude that your "
        "requirements are unsatisfiable.\n\nhint: You require CPython 3.13 (`cp313`), but we only found wheels for "
        "`triton` (v3.0.0) with the following Python ABI tags: `cp38`, `cp39`, `cp310`, `cp311`, `cp312`\n",
        Problem.NO_WHEEL,
    ),
    "uv-no-platform": (
        "3.2.0",
        "  cause: Because triton==3.2.0 has no wheels with a matching platform tag (e.g., `macosx_14_0_arm64`) …\n",
        Problem.NO_WHEEL_AT_ALL,
    ),
    "uv-refused": (
        "3.2.0",
        "error: ReleaseRequest failed after 3 retries in 7.6s\n  cause: Failed to fetch: http://127.0.0.1:9/simple/triton/\n"
        "  cause: error sending request for url (http://127.0.0.1:9/simple/triton/)\n"
        "  cause: client error (Connect)\n  cause: tcp connect error\n  cause: Connection refused (os error 111)\n",
        Problem.NO_NETWORK,
    ),
    "uv-offline": (
        "3.2.0",
        "  cause: Because triton was not found in the cache and you require triton==3.2.0, we can conclude …\n\n"
        "hint: Packages were unavailable because the network was disabled. …\n",
        Problem.NO_NETWORK,
    ),
    "uv-disk-full": (
        "3.2.0",
        "error: Failed to install: triton-3.2.0-cp311-….whl (triton==3.2.0)\n  cause: Failed to copy to `/c/e/lib…`\n"
        "  cause: failed to copy file from … to …: No space left on device (os error 28)\n",
        Problem.DISK_FULL,
    ),
    "pip-unknown": (
        "3.99.0",
        "ERROR: Could not find a version that satisfies the requirement triton==3.99.0 (from versions: 2.0.0, 2.3.1, "
        "3.8.0, 3.9.0, 3.9.1)\nERROR: No matching distribution found for triton==3.99.0\n",
        Problem.NO_SUCH_VERSION,
    ),
    "pip-no-wheel": (
        "3.0.0",
        "ERROR: Could not find a version that satisfies the requirement triton==3.0.0 (from versions: 3.2.0, 3.9.0)\n"
        "ERROR: No matching distribution found for triton==3.0.0\n",
        Problem.NO_WHEEL,
    ),
    "pip-empty-index": (
        "3.2.0",
        "ERROR: Could not find a version that satisfies the requirement triton==3.2.0 (from versions: none)\n"
        "ERROR: No matching distribution found for triton==3.2.0\n",
        Problem.NO_PACKAGE,
    ),
    "pip-refused": (
        "3.2.0",
        "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection "
        "broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7fe7c96bc490>: "
        "Failed to establish a new connection: [Errno 111] Connection refused')': /simple/triton/\n"
        "ERROR: Could not find a version that satisfies the requirement triton==3.2.0 (from versions: none)\n"
        "ERROR: No matching distribution found for triton==3.2.0\n",
        Problem.NO_NETWORK,
    ),
    "pip-disk-full": (
        "3.2.0",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        Problem.DISK_FULL,
    ),
    "venv-disk-full": ("3.2.0", "Error: [Errno 28] No space left on device\n", Problem.DISK_FULL),
    "venv-debian": (
        "3.2.0",
        "The virtual environment was not created successfully because ensurepip is not available. …\n",
        Problem.NO_VENV,
    ),
    "silence": ("3.2.0", "", Problem.OTHER),
    "something-else": ("3.2.0", "Collecting triton\nERROR: hash mismatch\ndetails\n", Problem.OTHER),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_an_installer_says(name: str) -> None:
    version, output, problem = OUTPUTS[name]
    request = parse(version)
    failure = diagnose(output, request)
    assert failure.problem is problem
    told = explain(failure, request, folder=Path("/cache/env"), log=Path("/cache/env.log"))
    assert_one_line(told, version)
    # 2 only when the user can mend it by writing another version.
    assert told.exit_code == (2 if problem is Problem.NO_SUCH_VERSION else 3)


def test_the_nearest_are_the_installers_where_it_lists_them() -> None:
    version, output, _ = OUTPUTS["pip-unknown"]
    told = explain(diagnose(output, parse(version)), parse(version), folder=Path("/c"), log=Path("/l"))
    assert str(told).endswith("the nearest are 3.8.0, 3.9.0, 3.9.1")


def test_the_pythons_that_have_a_wheel_are_named() -> None:
    version, output, _ = OUTPUTS["uv-no-wheel"]
    failure = diagnose(output, parse(version))
    assert failure.pythons == {"3.8", "3.9", "3.10", "3.11", "3.12"}
    assert "wheels for Python 3.8, 3.9, 3.10, 3.11, 3.12 only" in str(
        explain(failure, parse(version), folder=Path("/c"), log=Path("/l"))
    )


def test_the_telling_line_of_an_unknown_failure() -> None:
    version, output, _ = OUTPUTS["something-else"]
    assert diagnose(output, parse(version)) == InstallFailure(Problem.OTHER, "hash mismatch")


def test_credentials_of_an_index_are_not_repeated() -> None:
    assert redact("GET https://me:s3cret@host/simple failed") == "GET https://***@host/simple failed"


# --- somebody's own environment -------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A virtual environment with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    return tmp_path / "env"


def site_packages(environment: Path) -> Path:
    return next(environment.glob("lib/python*/site-packages"))


def put_triton(folder: Path, version: str | None = "3.4.0") -> Path:
    """A Triton that cannot be imported without being noticed."""
    package = folder / "triton"
    (package / "_C").mkdir(parents=True)
    (package / "_C/libtriton.so").write_bytes(b"ELF")
    (package / "backends/nvidia/bin").mkdir(parents=True)
    (package / "backends/nvidia/bin/ptxas").write_bytes(b"ptxas")
    text = "" if version is None else f"__version__ = '{version}'\n"
    (package / "__init__.py").write_text(f"'''doc'''\n{text}raise SystemExit('triton was imported')\n")
    return package


def put_record(folder: Path, version: str, name: str = "triton") -> None:
    record = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_an_own_environment(bare: Path) -> None:
    package = put_triton(site_packages(bare))
    put_record(site_packages(bare), "3.4.0")
    found = Toolchains().from_python(bare / "bin/python")
    version = ".".join(map(str, sys.version_info[:3]))
    assert found == Toolchain(bare / "bin/python", "3.4.0", version, False, found.identity, package)
    # Its folder will do, and a name that PATH knows.
    assert Toolchains().from_python(bare) == found
    assert Toolchains().resolve(python=str(bare / "bin/python")) == found


@pytest.mark.parametrize(
    ("text", "record", "expected"),
    [
        ("3.4.0", None, "3.4.0"),
        (None, "3.4.0", "3.4.0"),
        ("3.4.0", "3.4.0+git1a2b3c", "3.4.0+git1a2b3c"),
        ("3.5.0", "3.5.0rc1", "3.5.0rc1"),  # a candidate's own text says the release
    ],
)
def test_where_the_version_comes_from(bare: Path, text: str | None, record: str | None, expected: str) -> None:
    put_triton(site_packages(bare), text)
    if record is not None:
        put_record(site_packages(bare), record)
    assert Toolchains().from_python(bare).release == expected


def test_pytorchs_own_build_is_found_by_its_record(bare: Path) -> None:
    put_triton(site_packages(bare), "3.1.0")
    put_record(site_packages(bare), "3.1.0+cf34004b8a", name="pytorch-triton")
    assert Toolchains().from_python(bare).release == "3.1.0+cf34004b8a"


@pytest.mark.parametrize(("record", "expected"), [("3.4.0+git1a2b3c", "3.4.0+git1a2b3c"), ("3.1.0", "3.4.0")])
def test_a_source_build_elsewhere(bare: Path, tmp_path: Path, record: str, expected: str) -> None:
    """An editable install's record is beside, and may have been left by an older checkout."""
    package = put_triton(tmp_path / "checkout/python", "3.4.0")
    (site_packages(bare) / "editable.pth").write_text(f"{tmp_path / 'checkout/python'}\n")
    put_record(site_packages(bare), record)
    found = Toolchains().from_python(bare)
    assert (found.release, found.package) == (expected, package)


def test_neither_the_folder_nor_pythonpath_lends_a_triton(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_triton(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONHOME", "/nonexistent")
    with pytest.raises(InputError, match="has no Triton"):
        Toolchains().from_python(bare)


def test_a_folder_named_triton_is_no_triton(bare: Path) -> None:
    (site_packages(bare) / "triton").mkdir()
    with pytest.raises(InputError) as told:
        Toolchains().from_python(bare)
    assert_one_line(
        told.value, f"{bare}/bin/python has no Triton; `{bare}/bin/python -m pip install triton`", "--triton"
    )


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda package: (package / "__init__.py").write_text("__version__ = '2.1.0'\n"), "has Triton 2.1.0; 3.0 is"),
        (lambda package: (package / "_C/libtriton.so").unlink(), "without a compiled library"),
    ],
)
def test_a_triton_that_cannot_be_used(bare: Path, break_it: object, says: str) -> None:
    package = put_triton(site_packages(bare))
    assert callable(break_it)
    break_it(package)
    with pytest.raises(InputError) as told:
        Toolchains().from_python(bare)
    assert_one_line(told.value, says)


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_what_is_no_interpreter(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    cases = {
        tmp_path / "missing": "no such file",
        Path("no-such-python"): "no such file",
        Path("~nobody-here/bin/python"): "no such file",
        tmp_path: "a folder without bin/python",
        script(tmp_path / "plain", "#!/bin/sh\n", 0o644): "Permission denied",
        script(tmp_path / "data", "\x7fELF nonsense"): "Exec format error",
        script(tmp_path / "fails", "#!/bin/sh\necho no such version >&2\nexit 127\n"): "no such version",
        script(tmp_path / "silent", "#!/bin/sh\n"): "does not answer",
        # It would take `-c` for its own, and the script's first words for a command.
        script(tmp_path / "shell", f"#!/bin/sh\ntest $1 = -c && touch {marker}\necho sh 1.0\n"): "sh 1.0",
        script(tmp_path / "broken", "#!/bin/sh\ntest $1 = -c && echo boom && exit 1\necho Python 3.11.1\n"): "boom",
        script(tmp_path / "old", _answering("3.7.17")): "Python 3.7.17 is too old; 3.8 is",
        script(tmp_path / "older", _answering("2.7.18")): "Python 2.7.18 is too old; 3.8 is",
    }
    for path, says in cases.items():
        with pytest.raises(InputError) as told:
            Toolchains().from_python(path)
        assert_one_line(told.value, f"--python {path}", says)
    assert not marker.exists()


def _answering(version: str) -> str:
    answer = json.dumps({"python": version, "package": None, "records": []})
    return f"#!/bin/sh\ntest $1 = -c && echo 'triage-probe {answer}' && exit\necho Python {version} >&2\n"


def test_a_program_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.harness.toolchains.probe.LIMIT_S", 0.2)
    sleeper = script(tmp_path / "sleeper", "#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(InputError, match="no answer within"):
        Toolchains().from_python(sleeper)


def test_what_python_prints_at_its_start_does_not_matter(bare: Path) -> None:
    put_triton(site_packages(bare))
    (site_packages(bare) / "noise.pth").write_text("import sys; print('hello'); print('hello', file=sys.stderr)\n")
    assert Toolchains().from_python(bare).release == "3.4.0"


# --- identity -------------------------------------------------------------------------------------------------


def test_identity_follows_what_decides_a_compile(tmp_path: Path) -> None:
    package = put_triton(tmp_path)

    def identity(**other: str) -> str:
        return fingerprint(package, TRITON, **{"release": "3.4.0", "python_version": "3.11.7", **other})

    seen = [identity()]
    assert identity() == seen[0]
    (package / "__pycache__").mkdir()
    (package / "__pycache__/x.cpython-311.pyc").write_bytes(b"x")
    assert identity() == seen[0], "byte code is no change"

    seen += [identity(release="3.4.1"), identity(python_version="3.12.0")]
    os.utime(package / "_C/libtriton.so", ns=(1, 1))
    seen.append(identity())
    (package / "_C/libtriton.so").write_bytes(b"longer")
    os.utime(package / "_C/libtriton.so", ns=(1, 1))
    seen.append(identity())
    (package / "backends/nvidia/bin/ptxas").write_bytes(b"another ptxas")
    seen.append(identity())
    (package / "backends/nvidia/bin/ptxas-blackwell").write_bytes(b"")
    seen.append(identity())
    (package / "compiler.py").write_text("# an edit in a source build\n")
    seen.append(identity())
    (package / "loop").symlink_to(package)
    assert identity() == seen[-1], "a link back is walked once"
    assert len(set(seen)) == len(seen)


# --- managed environments, really made ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for all tests that only need an environment; the user's own where one is named."""
    if chosen := os.environ.get("TRITON_TRIAGE_CACHE"):
        yield Path(chosen)
    else:
        folder = tmp_path_factory.mktemp("cache")
        yield folder
        shutil.rmtree(folder)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Path]:
    """An empty cache; removed at once, since an environment may take a gigabyte."""
    yield tmp_path / "fresh"
    shutil.rmtree(tmp_path / "fresh", ignore_errors=True)


@needs_uv
def test_an_environment_is_made_once_and_works(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchains(cache).managed(VERSION)
    assert (made.release, made.managed) == (VERSION, True)
    series = ".".join(made.python_version.split(".")[:2])
    assert made.python == cache / f"toolchains/{VERSION}-py{series}/bin/python"
    source = "import triton, setuptools; print(triton.__version__)"
    environment = interpreter_environment()
    assert subprocess.check_output([made.python, "-c", source], env=environment, text=True).strip() == VERSION

    # Nothing is asked any more: no installer is on PATH, no interpreter is started.
    monkeypatch.setenv("PATH", "")
    for starts in ("probe._run", "toolchains.probe"):
        monkeypatch.setattr(f"triage.harness.toolchains.{starts}", lambda *_: pytest.fail("an interpreter was started"))
    lines: list[str] = []
    start = time.monotonic()
    assert Toolchains(cache, lines.append).managed(VERSION) == made
    assert Toolchains(cache, lines.append).managed("3.2") == made
    assert time.monotonic() - start < 0.5
    assert lines == []


@needs_uv
def test_probing_a_managed_environment_says_the_same(cache: Path) -> None:
    made = Toolchains(cache).managed(VERSION)
    probed = Toolchains(cache).from_python(made.python)
    assert (probed.release, probed.python_version, probed.identity) == (
        made.release,
        made.python_version,
        made.identity,
    )


@needs_uv
def test_what_is_installed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchains(cache).managed(VERSION)
    half = cache / "toolchains/3.0.0-py3.11-half"
    half.mkdir()
    try:
        found = Toolchains(cache).installed()
    finally:
        half.rmdir()
    assert made in found
    assert [sort_key(one.release) for one in found] == sorted(sort_key(one.release) for one in found)
    # The default is among them: here, a triage that runs in that very environment.
    monkeypatch.setattr(sys, "executable", str(made.python))
    beside = [one for one in Toolchains(cache).installed() if not one.managed]
    assert [(one.python, one.release) for one in beside] == [(made.python, VERSION)]


@needs_uv
def test_resolving(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchains(cache).managed(VERSION)
    monkeypatch.setattr(sys, "executable", str(made.python))
    toolchains = Toolchains(cache)
    default = toolchains.default()
    assert not default.managed
    assert toolchains.resolve() == default
    assert toolchains.resolve(VERSION) == default, "no second environment for what is beside triage"
    assert toolchains.resolve("3.2") == default
    with pytest.raises(InputError, match="--triton and --python exclude each other"):
        toolchains.resolve(VERSION, python=str(made.python))


def test_no_triton_beside_triage(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(bare / "bin/python"))
    with pytest.raises(EnvironmentFault, match=r"has no Triton; .* or use --triton VERSION"):
        Toolchains().resolve()
    assert all(one.managed for one in Toolchains().installed())


# A triage of its own: prints each progress line and the result as they come.
BUILDER = """
import sys
from pathlib import Path
from triage.harness.toolchains import Toolchains
tell = lambda line: print(line, flush=True)
print("made", Toolchains(Path(sys.argv[1]), tell).managed(sys.argv[2]).python)
"""


def start_builder(cache: Path, version: str = VERSION, path: Path | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *filter(None, sys.path)])}
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(cache), version], stdout=subprocess.PIPE, text=True, env=environment
    )


def fake_uv(folder: Path, text: str) -> Path:
    """A program `uv` that does ``text`` where uv would install, and makes environments as uv does."""
    return script(folder / "uv", f'#!/bin/sh\nif test "$1" = pip; then\n{text}\nfi\nexec {UV[0]} "$@"\n').parent


def assert_one_line(told: Exception, *parts: str) -> None:
    assert "\n" not in str(told)
    for part in parts:
        assert part in str(told)


def assert_nothing_left(cache: Path) -> None:
    assert folders(cache) == [], "a half-made environment was left"


def folders(cache: Path) -> list[Path]:
    return [path for path in (cache / "toolchains").iterdir() if path.is_dir()]


@needs_uv
def test_two_that_start_at_once_make_one_environment(fresh: Path) -> None:
    builders = [start_builder(fresh) for _ in range(3)]
    outputs = [builder.communicate(timeout=240)[0] for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0, 0]
    assert len({output.splitlines()[-1] for output in outputs}) == 1
    assert sum(output.count("making an environment") for output in outputs) == 1


@needs_uv
def test_a_builder_that_was_killed(fresh: Path, tmp_path: Path) -> None:
    """Its installer is still writing when the next one comes; that one waits for it, then repairs."""
    started, ended = tmp_path / "started", tmp_path / "ended"
    slow = fake_uv(tmp_path / "bin", f"touch {started}; sleep 2; touch {ended}; exit 1")
    first = start_builder(fresh, path=slow)
    wait_for(started)
    first.kill()
    first.communicate(timeout=60)
    (half,) = folders(fresh)
    assert (half / "bin/python").exists()
    assert Toolchains(fresh).installed() == [one for one in Toolchains(fresh).installed() if not one.managed]

    lines: list[str] = []
    made = Toolchains(fresh, lines.append).managed(VERSION)
    assert ended.exists(), "the orphan was still at work"
    assert [line.split()[0] for line in lines] == ["waiting", "making"]
    subprocess.run([made.python, "-c", "import triton"], check=True, env=interpreter_environment())


@needs_uv
def test_an_interrupt_leaves_neither_an_environment_nor_an_installer(fresh: Path, tmp_path: Path) -> None:
    started, alive = tmp_path / "started", tmp_path / "alive"
    slow = fake_uv(tmp_path / "bin", f"touch {started}; sleep 2; touch {alive}; exit 1")
    builder = start_builder(fresh, path=slow)
    wait_for(started)
    builder.send_signal(signal.SIGINT)
    builder.communicate(timeout=60)
    assert builder.returncode != 0
    assert_nothing_left(fresh)
    time.sleep(2.2)
    assert not alive.exists()


@needs_uv
def test_an_installation_is_given_up_at_the_deadline(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, alive = tmp_path / "started", tmp_path / "alive"
    text = f"touch {started}; sleep 2; touch {alive}; exit 1"
    monkeypatch.setenv("PATH", str(fake_uv(tmp_path / "bin", text)), prepend=os.pathsep)
    deadline = Deadline()

    def pass_when_started() -> None:
        wait_for(started)
        deadline.stop()

    thread = threading.Thread(target=pass_when_started)
    thread.start()
    with pytest.raises(EnvironmentFault, match="the installation of Triton was given up: the time of this call is"):
        Toolchains(fresh, deadline=deadline).managed(VERSION)
    thread.join()
    assert_nothing_left(fresh)
    time.sleep(2.2)
    assert not alive.exists()


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)


@needs_uv
@pytest.mark.parametrize("harm", ["library", "interpreter", "marker"])
def test_an_environment_that_was_harmed_is_made_anew(fresh: Path, harm: str) -> None:
    made = Toolchains(fresh).managed(VERSION)
    match harm:
        case "library":
            (made.package / "_C/libtriton.so").unlink()
        case "interpreter":
            made.python.unlink()
        case _:
            (made.python.parents[1] / MARKER).write_text('{"schema": "trit')
    assert made not in Toolchains(fresh).installed()
    again = Toolchains(fresh).managed(VERSION)
    assert again.python == made.python
    assert again in Toolchains(fresh).installed()


@needs_uv
def test_through_a_linked_cache(fresh: Path, tmp_path: Path) -> None:
    fresh.mkdir()
    (tmp_path / "link").symlink_to(fresh)
    made = Toolchains(tmp_path / "link").managed(VERSION)
    assert Toolchains(tmp_path / "link").managed(VERSION) == made
    assert Toolchains(fresh).managed(VERSION).identity == made.identity


@needs_uv
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo 'cause: dns error' >&2; exit 2", "no package index answers (dns error); check the network"),
        ("echo 'write failed: No space left on device (os error 28)'; exit 2", "no space left for"),
        ("echo 'error: something new'; exit 1", "something new; `triage doctor`"),
        ("exit 0", "the installer brought no Triton instead"),
        ("kill -9 $$", "the installer printed nothing"),
    ],
)
def test_an_installer_that_fails(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    monkeypatch.setenv("PATH", str(fake_uv(tmp_path / "bin", text)), prepend=os.pathsep)
    with pytest.raises(EnvironmentFault) as told:
        Toolchains(fresh).managed(VERSION)
    assert_one_line(told.value, f"Triton {VERSION} could not be installed", says)
    assert_nothing_left(fresh)
    (log,) = (fresh / "toolchains").glob("*.log")
    assert "pip install" in log.read_text()


@needs_uv
def test_a_release_that_does_not_exist(fresh: Path) -> None:
    with pytest.raises(InputError) as told:
        Toolchains(fresh).managed("3.99.0")
    assert_one_line(told.value, "--triton 3.99.0: there is no such release of Triton; the nearest are", "3.9.0")
    assert_nothing_left(fresh)


@needs_uv
def test_an_index_that_cannot_be_reached(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Port 9 (discard) refuses; uv's own retries would take ten seconds.
    for name, value in (
        ("UV_INDEX_URL", "http://127.0.0.1:9/simple"),
        ("UV_NO_CACHE", "1"),
        ("UV_HTTP_RETRIES", "0"),
        ("UV_OFFLINE", "0"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentFault) as told:
        Toolchains(fresh).managed(VERSION)
    assert_one_line(told.value, "no package index answers", "check the network")
    assert_nothing_left(fresh)


@needs_uv
def test_pins_and_targets_of_the_users_project_do_not_matter(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "constraints.txt").write_text("triton==3.0.0\n")
    for name, value in (
        ("UV_CONSTRAINT", str(tmp_path / "constraints.txt")),
        ("PIP_CONSTRAINT", str(tmp_path / "constraints.txt")),
        ("PYTHONPATH", "/nonexistent"),
        ("PYTHONHOME", "/nonexistent"),
        ("VIRTUAL_ENV", "/nonexistent"),
    ):
        monkeypatch.setenv(name, value)
    assert Toolchains(fresh).managed(VERSION).release == VERSION


@pytest.mark.parametrize("place", ["below a file", "where nobody may write"])
def test_a_cache_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    cache = tmp_path / "file/cache" if place == "below a file" else Path("/proc/1/triage")
    with pytest.raises(EnvironmentFault) as told:
        Toolchains(cache).managed(VERSION)
    assert_one_line(told.value, "is not writable", "set TRITON_TRIAGE_CACHE")


def test_garbage_makes_nothing(fresh: Path) -> None:
    for text in ("../x", "latest", "2.1"):
        with pytest.raises(InputError):
            Toolchains(fresh).managed(text)
    assert not fresh.exists()


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", "relative")
    assert cache_root().is_absolute()
    monkeypatch.delenv("TRITON_TRIAGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "triton-triage"


# A uv that knows no wheel for triage's own Python, and says which have one.
NO_WHEEL_HERE = """
case "$*" in *-py{own}/*) echo 'triton==3.2.0 has no wheels with a matching Python ABI tag'
echo 'hint: we only found wheels for `triton` (v3.2.0) with the following Python ABI tags: `cp3{other}`'; exit 1;; esac
"""


@needs_uv
def test_another_python_where_the_own_has_no_wheel(
    fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [minor for minor in (10, 11, 12, 13) if minor != sys.version_info.minor and find_python(f"3.{minor}")]
    if not others:
        pytest.skip("no second Python on this machine")
    fake = fake_uv(tmp_path / "bin", NO_WHEEL_HERE.format(own=f"3.{sys.version_info.minor}", other=others[0]))
    monkeypatch.setenv("PATH", str(fake), prepend=os.pathsep)
    made = Toolchains(fresh).managed(VERSION)
    assert made.python_version.startswith(f"3.{others[0]}.")
    # It is remembered, and serves this Python from now on without asking again.
    monkeypatch.setenv("PATH", "")
    assert Toolchains(fresh).managed(VERSION) == made


@pytest.mark.slow
def test_without_uv(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triage.harness.toolchains.toolchains.find_installer", lambda: type(find_installer())(()))
    assert Toolchains(fresh).managed(VERSION).release == VERSION
    with pytest.raises(InputError, match="there is no such release of Triton; the nearest are"):
        Toolchains(fresh).managed("3.99.0")


def test_environments_that_others_may_have_made_are_not_used(tmp_path: Path, toolchains: Toolchains) -> None:
    environment = toolchains.managed("3.2.0").python.parent.parent
    (tmp_path / "toolchains").mkdir()
    (tmp_path / "toolchains" / environment.name).symlink_to(environment)
    assert "3.2.0" in [toolchain.release for toolchain in Toolchains(tmp_path).installed()]
    (tmp_path / "toolchains").chmod(0o777)
    assert "3.2.0" not in [toolchain.release for toolchain in Toolchains(tmp_path).installed()]
    with pytest.raises(EnvironmentFault, match="others may write to it"):
        Toolchains(tmp_path).managed("3.2.0")
