"""A log is untrusted: no text takes more than time in proportion to its length, and none is unbounded."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from rows import one_in

from triage.logs import diagnose_text, findings
from triage.logs.scan import MAX_FINDINGS

#: Pieces that, repeated, bring out the worst in an expression that backtracks.
HOSTILE = [
    "Assertion `", "Assertion failed: , function , file , line 3", ": assertion ", "UNREACHABLE executed at a:b:",
    'loc("a":1:2 at ', ": error: ", "LLVM ERROR: ", "a.B.", "#a<", " ", "/a", "Command 'ptxas returned ", '"', "\\",
    "(", " [with T = ", "%a", "1,", "[1, ", "f16 ", "\x1b[", "IR Dump Before ( ", "CompilationError: at 1:1:", "got ",
    "Pipeline failed while executing [`A` on ", "OutOfResources: Required: 1", "#1 0x00001111 a(b) ", "Killed SIG",
    "variable 'a", "E   ", ":1", "; T = ", "::<lambda", "\r", "\n", "\n^", "a.py:1:1: note: \n", "\nE   ",
]  # fmt: skip
BEGINNINGS = ["", "error: ", "LLVM ERROR: ", "ValueError: ", "x: f.cpp:3: void f(): Assertion `"]


def seconds(text: str) -> float:
    """The processor's time, since the machine may be doing other things."""
    start = time.process_time()
    diagnose_text(text)
    return time.process_time() - start


@pytest.mark.parametrize("piece", one_in(5, HOSTILE))
def test_time_is_in_proportion_to_length(piece: str) -> None:
    """Sixteen times the text may take sixteen times as long, and three times that on a loaded machine.

    Something quadratic would take 256 times as long.
    """
    for beginning in BEGINNINGS if "\n" not in piece else BEGINNINGS[:2]:
        short, long = (beginning + piece * (size // len(piece)) for size in (6_000, 96_000))
        # Below some milliseconds the clock and the caches decide; once they may decide against it.
        assert any(seconds(long) < 48 * max(seconds(short), 0.004) for _ in range(2)), beginning


def test_a_stream_is_read_as_it_comes() -> None:
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for _ in range(20_000):
            read += 1
            yield "some line of a long log\n"
        yield "LLVM ERROR: at the end\n"

    diagnosis = diagnose_text(lines())
    assert diagnosis is not None
    assert diagnosis.headline == "LLVM gave up: at the end"
    assert read == 20_000


def test_a_flood_hides_nothing_worse() -> None:
    text = "k.py:1:2: error: the same again\n" * (3 * MAX_FINDINGS) + "LLVM ERROR: and this ended it\n"
    assert len(findings(text)) <= MAX_FINDINGS + 1
    diagnosis = diagnose_text(text)
    assert diagnosis is not None
    assert diagnosis.headline == "LLVM gave up: and this ended it"


def test_a_huge_message_is_cut() -> None:
    diagnosis = diagnose_text("LLVM ERROR: " + "x" * 1_000_000)
    assert diagnosis is not None
    assert len(diagnosis.message) <= 4096
    assert len(diagnosis.headline) <= 160
    assert len(diagnosis.signature) <= 512
