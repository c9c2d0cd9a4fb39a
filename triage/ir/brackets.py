"""Bracketed lists inside a line: the columns of their items, and what to delete to remove an item with its comma."""

from collections.abc import Iterator

_OPEN, _CLOSE = "([{<", ")]}>"


def _depth_change(line: str, column: int) -> int:
    """1 at an opening bracket, -1 at a closing one, 0 elsewhere; the ``>`` of ``->`` is not a bracket."""
    character = line[column]
    if character in _OPEN:
        return 1
    return -1 if character in _CLOSE and not (character == ">" and line[column - 1] == "-") else 0


def closing(line: str, opening: int) -> int | None:
    """The column of the bracket that closes the one at column ``opening``; None when it is not in the line."""
    depth = 0
    for column in range(opening, len(line)):
        change = _depth_change(line, column)
        depth += change
        if change < 0 and depth == 0:
            return column
    return None


def items(line: str, start: int, end: int) -> list[tuple[int, int]]:
    """The items, separated by commas, between two columns."""
    spans, depth, first = [], 0, start
    for column in range(start, end):
        depth += _depth_change(line, column)
        if line[column] == "," and depth == 0:
            spans.append((first, column))
            first = column + 1
    if line[first:end].strip():
        spans.append((first, end))
    return spans


def gaps(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """For each item the columns to delete: the item and the comma behind it. Any of them can be deleted together."""
    for number, (first, last) in enumerate(items(line, start, end)):
        behind = last + 1 if last < end else last
        yield (first, behind + (number == 0 and line[behind : behind + 1] == " "))
