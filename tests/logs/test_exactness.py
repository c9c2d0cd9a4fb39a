"""Skipping what has no anchor, and reading in blocks, changes nothing in what is found."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row, one_in

from triage.logs import reading, sieve
from triage.logs.episodes import ranked
from triage.logs.finding import Finding
from triage.logs.reading import Log
from triage.logs.scan import ANCHORS, read, readers
from triage.logs.sieve import Sieve, needles, one_at_a_time, present, robust, sieve_for
from triage.logs.window import LINES_AFTER

DATA = Path(__file__).parent / "data"
TEXTS = {path.name: path.read_text() for path in sorted(DATA.rglob("*.log"))}
DULL = [f"    %{number} = arith.addi %{number}, %c1_i32 : i32 loc(#loc{number})" for number in range(2 * LINES_AFTER)]


def every_line(block: bytes) -> list[int]:
    """The slow way: nothing is skipped."""
    starts = [0]
    while (end := block.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    return starts


def found(log: Log, by: Sieve | None = None) -> list[Finding]:
    result = read(log, by)
    return ranked(result.findings, result.context.boundaries)


def buried(text: str) -> str:
    """The text torn apart by IR, as threads tear it, and with far more than a window before and after."""
    lines = text.split("\n")
    middle = len(lines) // 2
    return "\n".join([*DULL, *lines[:middle], *DULL[:20], *lines[middle:], *DULL])


@pytest.mark.parametrize("part", one_in(3, range(3)))
def test_nothing_is_lost_by_skipping(part: int) -> None:
    for name in sorted(TEXTS)[part::3]:
        for text in (TEXTS[name], buried(TEXTS[name])):
            assert found(text) == found(text, every_line), name


@each_row(sorted(TEXTS))
def test_no_line_without_an_anchor_is_anybody_s(name: str) -> None:
    hits = sieve_for((*ANCHORS, "E   "))
    for line in TEXTS[name].split("\n"):
        assert readers(line) is None or hits(line.encode())


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes, sizes: Iterator[int]) -> None:
        self._data, self._sizes = io.BytesIO(data), sizes

    def read(self, size: int = -1, /) -> bytes:
        return self._data.read(next(self._sizes))


@settings(max_examples=12, deadline=None)
@given(names=st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=3), seed=st.integers(0, 2**16))
def test_any_chunking_gives_the_same(names: list[str], seed: int) -> None:
    text = buried("\n".join(TEXTS[name] for name in names))
    sizes = random.Random(seed)
    expected = found(text)
    assert found(io.BytesIO(text.encode())) == expected
    assert found(Trickle(text.encode(), iter(lambda: sizes.choice([1, 7, 80, 4096, 65536]), -1))) == expected
    assert found(text.split("\n")) == expected


def test_small_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = buried("\n".join(TEXTS.values()))
    expected = found(text)
    for size in (700, 5_000):
        monkeypatch.setattr(reading, "BLOCK", size)
        # A line longer than a block is cut there; the fixtures have none that matters beyond 700 characters.
        assert [one.diagnosis.signature for one in found(text)] == [one.diagnosis.signature for one in expected]


def test_without_a_wheel_the_sieve_is_the_same() -> None:
    wanted = needles((*ANCHORS, "E   "))
    slow, fast = one_at_a_time(wanted), sieve_for((*ANCHORS, "E   "))
    for text in TEXTS.values():
        data = text.encode()
        lines = [{data.count(b"\n", 0, hit) for hit in hits(data)} for hits in (slow, fast)]
        assert lines[0] == lines[1]


def test_without_a_wheel_a_line_has_the_same_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = present(ANCHORS)
    monkeypatch.setattr(sieve, "HAS_VECTORS", False)
    slow = present(ANCHORS)
    for line in (
        "an anchor's surrogate: error: \ud800",
        *(line for text in TEXTS.values() for line in text.split("\n")),
    ):
        assert sorted(set(fast(line))) == slow(line)


def test_a_needle_survives_entities_and_is_long_enough() -> None:
    assert robust("'tt.dot' op ") == "tt.dot"
    assert robust("' op ") == " op "
    with pytest.raises(ValueError, match="long enough"):
        robust("'ab'")
    assert needles(["Error", "MemoryError", "LLVM ERROR: "]) == [b"Error", b"LLVM ERROR: "]
    assert sieve.HAS_VECTORS, "the development environment has the wheel"
