"""A column read from oldest to newest: which edges are named, and what is said about what was not seen."""

from __future__ import annotations

import pytest

from triage.matrix.cell import CellVerdict, MatrixCell
from triage.matrix.history import History, history

RELEASES = ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0")
CELLS = {
    "C": MatrixCell(CellVerdict.COMPILES),
    "A": MatrixCell(CellVerdict.FAILS, signature="a"),
    "B": MatrixCell(CellVerdict.FAILS, signature="b"),
    "S": MatrixCell(CellVerdict.SUSPECT, signature="a"),
    "T": MatrixCell(CellVerdict.TIMEOUT, signature="timeout"),
    "N": MatrixCell(CellVerdict.NOT_APPLICABLE, reason="no such attribute"),
    "?": MatrixCell(CellVerdict.UNDECIDED, reason="no disk"),
}


def read(letters: str) -> History:
    """``.`` is a release that was not tried."""
    cells = {name: CELLS[letter] for name, letter in zip(RELEASES, letters, strict=True) if letter != "."}
    return history("cuda:90", RELEASES, cells, RELEASES)


@pytest.mark.parametrize(
    ("letters", "first_bad", "last_good", "last_bad", "fixed_in"),
    [
        ("AAACCCC", "3.0.0", None, "3.2.0", "3.3.1"),
        ("NNNNAAA", "3.4.0", None, "3.6.0", None),
        ("CCCAAAA", "3.3.1", "3.2.0", "3.6.0", None),
        ("CCAABCC", "3.2.0", "3.1.0", "3.4.0", "3.5.1"),
        ("CCCCCCC", None, None, None, None),
        ("NNNNNNN", None, None, None, None),
        ("???????", None, None, None, None),
        ("?A?C???", "3.1.0", None, "3.1.0", "3.3.1"),
        ("CNAACNN", "3.2.0", "3.0.0", "3.3.1", "3.4.0"),
        ("CASTC..", "3.1.0", "3.0.0", "3.3.1", "3.4.0"),
        # What the release lost afterwards was not fixed.
        ("CCAANNN", "3.2.0", "3.1.0", "3.3.1", None),
        # Two stretches: the first bad of the older one, the fix of the newer one.
        ("CACCACC", "3.1.0", "3.0.0", "3.4.0", "3.5.1"),
    ],
)
def test_edges(
    letters: str, first_bad: str | None, last_good: str | None, last_bad: str | None, fixed_in: str | None
) -> None:
    found = read(letters)
    assert (found.first_bad, found.last_good, found.last_bad, found.fixed_in) == (
        first_bad,
        last_good,
        last_bad,
        fixed_in,
    )


@pytest.mark.parametrize(
    ("letters", "notes"),
    [
        (
            "AAACCCC",
            [
                "fails on 3.0.0, the oldest that could be tried, already",
                "the fix may be 3.3.0 instead of 3.3.1: not seen",
            ],
        ),
        ("NNNNAAA", ["fails on 3.6.0, the newest that could be tried, still"]),
        ("CCCCCCC", []),
        ("C..C..C", ["whether it fails on 3.1.0, 3.2.0, 3.4.0 or 3.5.1 was not seen"]),
        (
            "A..A..A",
            [
                "fails on 3.0.0, the oldest that could be tried, already",
                "fails on 3.6.0, the newest that could be tried, still",
                "whether it compiles on 3.1.0, 3.2.0, 3.4.0 or 3.5.1 was not seen",
            ],
        ),
        (
            "C.CA..A",
            [
                "the first bad one may be 3.3.0 instead of 3.3.1: not seen",
                "fails on 3.6.0, the newest that could be tried, still",
                "not seen, and taken to be like the releases around: 3.1.0, 3.4.0, 3.5.1",
            ],
        ),
        (
            "CA?CCCC",
            [
                "the fix may be 3.2.0 or 3.3.0 instead of 3.3.1: not seen",
            ],
        ),
        # At an end: the cell says that it could not be told.
        ("CAACCC?", ["the fix may be 3.3.0 instead of 3.3.1: not seen"]),
        ("NNNNNNN", ["no release that was tried has the API that it uses"]),
        (
            "CACCACC",
            [
                "the fix may be 3.5.0 instead of 3.5.1: not seen",
                "more than one stretch of releases fails; first bad is of the oldest, fixed in of the newest",
            ],
        ),
    ],
)
def test_notes(letters: str, notes: list[str]) -> None:
    assert list(read(letters).notes) == notes


def test_runs_keep_different_failures_apart() -> None:
    assert [(run.verdict.value, run.signature, len(run.releases)) for run in read("CAABSTC").runs] == [
        ("compiles", None, 1),
        ("fails", "a", 2),
        ("fails", "b", 1),
        ("suspect", "a", 1),
        ("timeout", "timeout", 1),
        ("compiles", None, 1),
    ]
