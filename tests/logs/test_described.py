"""Failures that somebody describes in their own words; commands that were cut off."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
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
]


@pytest.mark.parametrize(("sentence", "kind"), DESCRIBED)
def test_a_failure_that_is_described_and_not_quoted(sentence: str, kind: Kind) -> None:
    diagnosis = diagnosed(f"We use triton 3.2.\n{sentence}\nAny idea?\n" + "more\n" * 10)
    assert (diagnosis.kind, diagnosis.headline) == (kind, sentence.lstrip("# "))


def test_what_is_no_failure_of_a_compile_is_not_described() -> None:
    for line in ("Building triton from source hangs at the wheel.", "It segfaults, I think.", "    hangs = compile(x)"):
        assert diagnose_text(f"About triton.\n{line}\n") is None


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
        "the path in cc_cmd was wrong:\nFileNotFoundError: [WinError 2] The system cannot find the file specified\n",
    ],
)
def test_a_host_compiler_that_is_told_by_the_lines_around_its_error(text: str) -> None:
    assert diagnosed(text).kind is Kind.ENVIRONMENT
