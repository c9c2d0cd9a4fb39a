"""Lists in brackets inside a line: where their items are, and how one is taken out with its comma."""

from __future__ import annotations

from collections.abc import Iterator

_OPEN, _CLOSE = "([{<", ")]}>"


def closing(bare: str, at: int) -> int | None:
    """The column of the bracket that closes the one at column ``at``; None when it is not in the line."""
    depth = 0
    for column in range(at, len(bare)):
        one = bare[column]
        if one in _OPEN:
            depth += 1
        elif one in _CLOSE and not (one == ">" and bare[column - 1] == "-"):
            depth -= 1
            if depth == 0:
                return column
    return None


def items(bare: str, start: int, end: int) -> list[tuple[int, int]]:
    """The items, separated by commas, between two columns."""
    found, depth, at = [], 0, start
    for column in range(start, end):
        one = bare[column]
        if one in _OPEN:
            depth += 1
        elif one in _CLOSE and not (one == ">" and bare[column - 1] == "-"):
            depth -= 1
        elif one == "," and depth == 0:
            found.append((at, column))
            at = column + 1
    if bare[at:end].strip():
        found.append((at, end))
    return found


def gaps(bare: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """For each item the columns to take out: it goes with the comma behind it. Any of them can go together."""
    for number, (first, last) in enumerate(items(bare, start, end)):
        behind = last + 1 if last < end else last
        yield (first, behind + (number == 0 and bare[behind : behind + 1] == " "))
