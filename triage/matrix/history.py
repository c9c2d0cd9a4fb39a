"""One column of the table, read from the oldest release to the newest: first bad, last good, fixed in. Pure.

Only what was observed is named. Where a release between two that differ was not tried, or could not be decided, a note
beside the edge names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from triage.matrix.cell import CellVerdict, MatrixCell
from triage.matrix.releases import between
from triage.model.compilers import TRITON
from triage.model.document import Documented


@dataclass(frozen=True, slots=True)
class Stretch(Documented):
    """Releases that follow each other in the table with the same result. First and last were observed; of those
    between them, ``releases`` has the ones that were compiled."""

    verdict: CellVerdict
    signature: str | None
    releases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class History(Documented):
    """``first_bad``: the oldest release that failed. ``last_good``: the newest one before it that compiled.
    ``last_bad``: the newest one that failed. ``fixed_in``: the oldest one after it that compiled.
    Each is None where there is none among those that were tried. ``notes``: what was not observed."""

    target: str
    runs: tuple[Stretch, ...]
    first_bad: str | None
    last_good: str | None
    last_bad: str | None
    fixed_in: str | None
    notes: tuple[str, ...]


def history(
    target: str,
    releases: Sequence[str],
    cells: Mapping[str, MatrixCell],
    asked: Sequence[str] = (),
    known: Sequence[str] = TRITON.releases,
) -> History:
    """Read ``cells`` in the order of ``releases``. ``asked``: releases that may be missing from ``cells`` (a
    bisection's), and that the notes then name. ``known``: all releases of the compiler."""
    decided = [
        (name, cells[name]) for name in releases if name in cells and cells[name].verdict is not CellVerdict.UNDECIDED
    ]
    runs = tuple(
        Stretch(verdict, signature, tuple(name for name, _ in group))
        for (verdict, signature), group in groupby(decided, key=lambda item: (item[1].verdict, item[1].signature))
    )
    bad = [index for index, (_, cell) in enumerate(decided) if cell.verdict.bad]
    good = [index for index, (_, cell) in enumerate(decided) if cell.verdict is CellVerdict.COMPILES]
    before = [index for index in good if bad and index < bad[0]]
    after = [index for index in good if bad and index > bad[-1]]
    names = [name for name, _ in decided]
    return History(
        target,
        runs,
        names[bad[0]] if bad else None,
        names[before[-1]] if before else None,
        names[bad[-1]] if bad else None,
        names[after[0]] if after else None,
        tuple(_notes(decided, bad, bool(after), asked, known)),
    )


def _notes(
    decided: list[tuple[str, MatrixCell]], bad: list[int], fixed: bool, asked: Sequence[str], known: Sequence[str]
) -> list[str]:
    names = [name for name, _ in decided]
    tried = set(names)
    untried = [name for name in asked if name not in tried]
    if not bad:
        absent = bool(decided) and all(cell.verdict is CellVerdict.NOT_APPLICABLE for _, cell in decided)
        note = "no release that was tried has the API that it uses"
        return [*([note] if absent else []), *([_unseen(untried, "fails")] if untried and decided else [])]
    notes = []
    first, last = bad[0], bad[-1]
    if first == 0:
        notes.append(f"fails on {names[0]}, the oldest that could be tried, already")
    else:
        notes += _open(names[first - 1], names[first], tried, "the first bad one", known)
    if not fixed and last == len(decided) - 1:
        notes.append(f"fails on {names[-1]}, the newest that could be tried, still")
    elif last < len(decided) - 1:
        what = "the fix" if decided[last + 1][1].verdict is CellVerdict.COMPILES else "the first without the API"
        notes += _open(names[last], names[last + 1], tried, what, known)
    gaps = [index for index in range(first, last) if not decided[index][1].verdict.bad]
    if gaps:
        notes.append("more than one stretch of releases fails; first bad is of the oldest, fixed in of the newest")
    elif untried and len(bad) == len(decided):
        notes.append(_unseen(untried, "compiles"))
    elif taken := _taken(decided, asked):
        notes.append(f"not seen, and taken to be like the releases around: {', '.join(taken)}")
    return notes


def _taken(decided: list[tuple[str, MatrixCell]], asked: Sequence[str]) -> list[str]:
    """Releases that were not tried, between two that agree."""
    return [
        name
        for (older, before), (newer, after) in pairwise(decided)
        if (before.verdict, before.signature) == (after.verdict, after.signature)
        for name in between(older, newer, asked)
    ]


def _open(older: str, newer: str, tried: set[str], what: str, known: Sequence[str]) -> list[str]:
    """Releases inside an edge that gave no answer, and may move it."""
    inside = [name for name in between(older, newer, known) if name not in tried]
    return [f"{what} may be {_listed(inside)} instead of {newer}: not seen"] if inside else []


def _unseen(untried: Sequence[str], verb: str) -> str:
    return f"whether it {verb} on {_listed(untried)} was not seen"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
