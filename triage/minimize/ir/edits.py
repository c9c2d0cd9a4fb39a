"""Patches of a text by whole lines and by parts of lines, made against one text and applied in any combination."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from triage.ir.mlir import Span
from triage.minimize.problem import PatchSet, ReductionProblem

TextProblem = ReductionProblem[str]


@dataclass(frozen=True, slots=True)
class LinePatch:
    """``drop``: ranges of lines, first and last included. ``spans``: parts of lines and their replacements.
    ``items``: items to insert at a column of a list in parentheses, with the commas that they need. ``before``: new
    lines to insert before a line."""

    drop: tuple[tuple[int, int], ...] = ()
    spans: Mapping[Span, str] = field(default_factory=dict)
    items: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    before: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def cut(*spans: Span) -> LinePatch:
    """Remove parts of lines."""
    return LinePatch(spans=dict.fromkeys(spans, ""))


def replaced(first: int, last: int, line: str) -> LinePatch:
    """Replace whole lines by one line."""
    return LinePatch(((first, last),), before={first: (line,)})


def mention(name: str) -> re.Pattern[str]:
    """Matches the name of a value, a block or an alias, but not a longer name that begins with it."""
    return re.compile(rf"{re.escape(name)}(?![\w$.-])")


def sweep(problem: TextProblem, *passes: Callable[[str], list[LinePatch]], chunks: bool = True) -> None:
    """For each pass, apply as many of its patches as keep the failure. Back to front: later lines use earlier ones."""
    for propose in passes:
        lines = problem.best.split("\n")
        problem.sweep(PatchSet(propose(problem.best)[::-1], partial(apply, lines)), chunks)


def take_first(problem: TextProblem, *passes: Callable[[str], list[str]]) -> None:
    """For each pass, take the first text that is smaller and fails alike, again from there until there is none."""
    for propose in passes:
        while problem.first([text for text in propose(problem.best) if problem.smaller(text) is not None]):
            pass


def apply(lines: Sequence[str], patches: Iterable[LinePatch]) -> str:
    """The text with all patches applied. Whatever lies in a dropped line is dropped. Of two parts that overlap the
    first counts, unless both are removed; with the last item of a list goes the comma before it. Equal insertions at
    one position are made once."""
    gone: set[int] = set()
    spans: dict[int, dict[tuple[int, int], str]] = {}
    items: dict[int, dict[int, dict[str, None]]] = {}
    before: dict[int, dict[str, None]] = {}
    for patch in patches:
        for first, last in patch.drop:
            gone.update(range(first, last + 1))
        for (line, start, end), text in patch.spans.items():
            spans.setdefault(line, {}).setdefault((start, end), text)
        for (line, column), added in patch.items.items():
            items.setdefault(line, {}).setdefault(column, {}).update(dict.fromkeys(added))
        for line, added in patch.before.items():
            before.setdefault(line, {}).update(dict.fromkeys(added))
    for line, columns in items.items():
        for column, texts in columns.items():
            comma = "" if lines[line].startswith(")", column) else ", "
            spans.setdefault(line, {})[column, column] = ", ".join(texts) + comma
    result: list[str] = []
    for number, text in enumerate(lines):
        result += before.get(number, ())
        if number not in gone:
            result.append(_changed(text, spans[number]) if number in spans else text)
    return "\n".join(result)


def _changed(line: str, spans: Mapping[tuple[int, int], str]) -> str:
    changed, at, removed = "", 0, False

    def with_rest(rest: str) -> str:
        if removed and changed.endswith(tuple("([{<")):
            return changed + rest.lstrip(" ")
        # After the last item of a list was removed, the comma before it goes too.
        comma = removed and rest[:1] in tuple(")]}>") and changed.rstrip().endswith(",")
        return (changed.rstrip()[:-1] if comma else changed) + rest

    for (start, end), text in sorted(spans.items()):
        if start >= at:
            changed = with_rest(line[at:start]) + text
            at, removed = end, not text
        elif removed and not text:
            at = max(at, end)
    return with_rest(line[at:])
