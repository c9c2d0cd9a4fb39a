"""Failures that somebody describes in their own words; commands that were cut off."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_any, diagnose_text
from triage.model.diagnosis import Diagnosis, Kind


def diagnosed(text: str) -> Diagnosis:
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    return diagnosis


DESCRIBED = [
    ("Our Triton kernel ends in a segfault with num_stages=3.", Kind.SEGFAULT),
    ("# PermissionError on the triton cache in our cluster", Kind.ENVIRONMENT),
    ("The job stops, as it cannot write to `/.triton` there.", Kind.ENVIRONMENT),
    ("Our autotuned kernel runs into an IMA on sm_90.", Kind.LAUNCH_ERROR),
    ("# Compiling _scan_kernel fails with triton 3.6", Kind.UNKNOWN),
    ("With BLOCK=65536 compiling this triton.jit function never finishes.", Kind.TIMEOUT),
    ("Compiling the kernel for BLOCK=65536 ends with the OOM killer.", Kind.OUT_OF_MEMORY),
    ("The kernel needs more shared memory than this GPU has.", Kind.OUT_OF_RESOURCES),
    ("With num_stages=5 ptxas dies with signal 11.", Kind.PTXAS),
]


@pytest.mark.parametrize(("sentence", "kind"), DESCRIBED)
def test_a_failure_that_is_described_and_not_quoted(sentence: str, kind: Kind) -> None:
    diagnosis = diagnosed(f"We use triton 3.2.\n{sentence}\nAny idea?\n" + "more\n" * 10)
    assert (diagnosis.kind, diagnosis.headline) == (kind, sentence.lstrip("# "))


def test_a_signal_of_the_processor_needs_no_word_about_a_compiler() -> None:
    link = "https://example.org/blob/0a1b/lib/Vectorize.cpp#L42"
    diagnosis = diagnosed(
        f"Since triton 3.5 this ends early.\nThis line is it:\n{link}\n`n` is 0 there, thus SIGFPE.\n"
    )
    assert (diagnosis.kind, diagnosis.file, diagnosis.line) == (Kind.ABORT, "Vectorize.cpp", 42)


WHOLE = "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered"


@pytest.mark.parametrize(
    ("text", "kind", "headline"),
    [
        (
            f"It ended in `Triton Error [CUDA]: an illegal\nmemory access was encountered`.\n\n    {WHOLE}\n",
            Kind.LAUNCH_ERROR,
            "The driver could not run the kernel: an illegal memory access was encountered",
        ),
        (
            "With triton I met `device kernel image is invalid` on a V100.\n",
            Kind.LAUNCH_ERROR,
            "The driver could not load the kernel: device kernel image is invalid",
        ),
        (
            "CuTe DSL 4.3:\nError Code: 35\n- Error name: (<E.ok: 0>, b'cudaErrorInsufficientDriver')\n",
            Kind.LAUNCH_ERROR,
            "The driver could not run the kernel: cudaErrorInsufficientDriver",
        ),
        ("Error 'ptxas' failed with error code 255 with triton\n", Kind.PTXAS, "ptxas: failed with exit code 255"),
        (
            "import triton\nFatal Python error: parachute: (parachute) Segmentation Fault\n",
            Kind.SEGFAULT,
            "parachute: (parachute) Segmentation Fault",
        ),
    ],
)
def test_an_error_of_the_driver_or_the_assembler_as_it_is_passed_on(text: str, kind: Kind, headline: str) -> None:
    diagnosis = diagnosed(text)
    assert (diagnosis.kind, diagnosis.headline) == (kind, headline)
    assert "CUDA error" not in diagnosis.message


def test_a_line_of_source_in_a_notebook_s_traceback_is_no_failure() -> None:
    shown = "     29         msg += 'Please create a symlink of libcuda.so to any.'\n---> 30     assert a, msg\n"
    diagnosis = diagnosed(f"in libcuda_dirs()\n{shown}\nAssertionError: libcuda.so cannot found!\n")
    assert diagnosis.headline == "AssertionError: libcuda.so cannot found!"


def test_what_is_no_failure_of_a_compile_is_not_described() -> None:
    for line in ("Building triton from source hangs at the wheel.", "It segfaults, I think.", "    hangs = compile(x)"):
        assert diagnose_text(f"About triton.\n{line}\n") is None


def test_a_crash_of_a_compiler_of_c_plus_plus_is_not_triton_s() -> None:
    said = "With two jobs nvcc randomly segfaults on the kernels of the backward pass (e.g. `bwd.cu`)."
    found = diagnose_any(f"Building our package for a GPU that the triton of torch 2.9 knows.\n{said}\n")
    assert found is not None
    assert (found.kind, found.headline) == (Kind.OTHER, said)


def test_a_host_compiler_s_command_that_was_cut_off() -> None:
    diagnosis = diagnosed(
        "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpab12cd34/main.c', '-O3', '-I/u"
    )
    assert (diagnosis.kind, diagnosis.exception) == (Kind.ENVIRONMENT, "CalledProcessError")


@pytest.mark.parametrize(
    "text",
    [
        "WARNING: no MSVC.\n  from C:\\T\\tmpab12cd34\\main.c:1:\n"
        "C:\\K\\corecrt.h:10:10: fatal error: vcruntime.h: No such file or directory\n" + "text\n" * 20,
        "WSL2:\n/usr/bin/ld: cannot find -lcuda: No such file or directory\n"
        "collect2: error: ld returned 1 exit status\n",
        "triton:\n/usr/bin/ld: cannot find -l:libcuda.so.1\ncollect2: error: ld returned 1 exit status\n",
        "/usr/bin/ld: cannot find -lcuda\ncollect2: error: ld returned 1 exit status\n\n----\n"
        "CalledProcessError                        Traceback (most recent call last)\n" + "text\n" * 20,
        "the path in cc_cmd was wrong:\nFileNotFoundError: [WinError 2] The system cannot find the file specified\n",
    ],
)
def test_a_host_compiler_that_is_told_by_the_lines_around_its_error(text: str) -> None:
    assert diagnosed(text).kind is Kind.ENVIRONMENT


LINKED = (
    "# Triton does not compile on my machine\n\nA new installation, nothing of it runs.\n\n```\n"
    "In file included from D:\\T\\tmpq1w2e3r4\\main.c:3:\nD:\\py\\Include\\x.h:7:2: warning: unused\n{error}\n"
    "check failed: Command '['D:\\\\L\\\\clang.exe', 'D:\\\\T\\\\tmpq1w2e3r4\\\\main.c', '-O3', '-sha\n```\n"
)


@pytest.mark.parametrize(
    "error",
    [
        "clang: error: linker command failed with exit code 1181 (use -v to see invocation)",
        "clang++: error: unable to execute command: program not executable",
        "LINK : fatal error LNK1158: cannot run 'rc.exe'",
        "/usr/bin/gcc: fatal error: no input files",
    ],
)
def test_what_the_host_compiler_prints_precedes_the_title(error: str) -> None:
    diagnosis = diagnosed(LINKED.format(error=error))
    assert diagnosis.kind is Kind.ENVIRONMENT
    assert diagnosis.headline == f"The host compiler failed: {error.partition('error')[2].partition(': ')[2]}"


def test_the_command_of_the_launcher_precedes_the_title() -> None:
    assert "host compiler failed" in diagnosed(LINKED.format(error="1 warning generated.")).headline


def test_a_driver_of_another_build_is_not_triton_s_launcher() -> None:
    text = "# Compiling the extension fails with triton installed\n$ make all\nclang: error: no such file: 'a.c'\n"
    diagnosis = diagnose_any(text)
    assert diagnosis is not None
    assert diagnosis.kind is Kind.OTHER
    assert diagnosis.headline == "clang: error: no such file: 'a.c'"


@pytest.mark.parametrize(
    ("wrapped", "headline"),
    [
        ("/x/cuda.h:12:10: fatal error: 'limits.h' file\n      not found\n   12 | #include <limits.h>", "limits.h"),
        ("/x/cuda.h:12:10: fatal error: limits.h: No such\nfile or directory", "limits.h"),
        ("/x/cuda.h:12:10: fatal error: limits.h: No su\nch file or directory", "limits.h"),
    ],
)
def test_a_host_compiler_s_message_that_was_wrapped(wrapped: str, headline: str) -> None:
    diagnosis = diagnosed(f"In file included from /tmp/tmpab12cd34/main.c:1:\n{wrapped}\n1 error generated.\n")
    assert diagnosis.headline == f"The host compiler does not find {headline}"
    assert (diagnosis.file, diagnosis.line) == ("cuda.h", 12)


def test_a_message_is_not_joined_with_the_next_one() -> None:
    text = "/x/k.c:1:1: error: bad 'a.h' there\n/x/k.c:2:1: error: file not found\n"
    diagnosis = diagnose_any(text)
    assert diagnosis is not None
    assert "does not find" not in diagnosis.headline


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Triton compilation timeouts: I waited and waited", Kind.TIMEOUT),
        ("Autotuning my triton kernels sits at 0% for many hours", Kind.TIMEOUT),
        ("# The triton compile freezes since num_stages is 6", Kind.TIMEOUT),
        ("My gluon kernel deadlocks with 12 consumer warps. The GPU is busy.", Kind.UNKNOWN),
    ],
)
def test_what_does_not_end_is_told_in_many_words(text: str, kind: Kind) -> None:
    diagnosis = diagnose_any(text)
    assert diagnosis is not None
    assert (diagnosis.kind, bool(diagnosis.message)) == (kind, True)


def test_a_compile_that_took_its_time_has_not_failed() -> None:
    assert diagnose_any("Autotuning my triton kernels ran for 10 minutes, and they are 20 % faster") is None


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("hits llvm_unreachable in", Kind.UNREACHABLE),
        ("reaches unreachable in", Kind.UNREACHABLE),
        ("calls report_fatal_error in", Kind.LLVM_FATAL),
        ("with FP8: `assert(isa<X>(y))` fires in", Kind.ASSERTION),
        ("segfaults in", Kind.SEGFAULT),
    ],
)
def test_the_file_in_which_the_compiler_is_said_to_give_up(told: str, kind: Kind) -> None:
    diagnosis = diagnosed(f"Our triton.jit kernel {told} lib/Analysis/Reduce.cpp when the axis is 0")
    assert (diagnosis.kind, diagnosis.file) == (kind, "Reduce.cpp")
