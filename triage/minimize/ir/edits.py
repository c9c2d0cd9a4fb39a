"""Changes of a text by whole lines and by parts of lines, made against one text and put together at will."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from triage.ir.mlir import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """``drop``: lines, from first to last, both gone. ``spans``: parts of lines and what takes their place.
    ``items``: of a list in parentheses, put before a column with the commas that it takes. ``before``: new lines before
    a line."""

    drop: tuple[tuple[int, int], ...] = ()
    spans: Mapping[Span, str] = field(default_factory=lambda: MappingProxyType({}))
    items: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    before: Mapping[int, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


def apply(lines: Sequence[str], edits: Iterable[Edit]) -> str:
    """The text with all edits made. What lies in a dropped line is dropped. Of two parts that overlap the first counts,
    unless both go; with the last of a list goes the comma before it. What is put before something stands there once,
    however often it was asked for."""
    gone: set[int] = set()
    spans: dict[int, dict[tuple[int, int], str]] = {}
    items: dict[int, dict[int, dict[str, None]]] = {}
    before: dict[int, dict[str, None]] = {}
    for edit in edits:
        for first, last in edit.drop:
            gone.update(range(first, last + 1))
        for (line, start, end), text in edit.spans.items():
            spans.setdefault(line, {}).setdefault((start, end), text)
        for (line, column), added in edit.items.items():
            items.setdefault(line, {}).setdefault(column, {}).update(dict.fromkeys(added))
        for line, added in edit.before.items():
            before.setdefault(line, {}).update(dict.fromkeys(added))
    for line, columns in items.items():
        for column, texts in columns.items():
            comma = "" if lines[line][column:].startswith(")") else ", "
            spans.setdefault(line, {})[column, column] = ", ".join(texts) + comma
    made: list[str] = []
    for number, held in enumerate(lines):
        made += before.get(number, ())
        if number not in gone:
            made.append(_changed(held, spans[number]) if number in spans else held)
    return "\n".join(made)


def _changed(line: str, spans: Mapping[tuple[int, int], str]) -> str:
    made, at, cut = "", 0, False

    def kept(rest: str) -> str:
        if cut and made.endswith(tuple("([{<")):
            return made + rest.lstrip(" ")
        # The last of a list went: the comma before it is nobody's.
        comma = cut and rest[:1] in tuple(")]}>") and made.rstrip().endswith(",")
        return (made.rstrip()[:-1] if comma else made) + rest

    for (start, end), text in sorted(spans.items()):
        if start >= at:
            made = kept(line[at:start]) + text
            at, cut = end, not text
        elif cut and not text:
            at = max(at, end)
    return kept(line[at:])
