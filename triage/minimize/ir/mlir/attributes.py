"""Passes over attributes, arguments of functions, aliases and locations."""

import re

from triage.ir.brackets import closing, gaps, items
from triage.ir.locations import is_alias
from triage.ir.mlir import ParsedModule, Span, blank
from triage.minimize.ir.edits import LinePatch, apply, cut, mention
from triage.minimize.ir.mlir.operations import ARGUMENT_LIST, functions

_ENTRY = re.compile(r'\s*(?:"[^"]*"|[\w$.-]+)(?:\s*=|\s*$|\s*[,}])')
_OPENS = re.compile(r"(?: attributes)? ?(?<!<)\{(?=[^{}]*[\w\"])")
_ALIAS = re.compile(r"([#!][\w$.-]+) = ")
_LOCATION = re.compile(r" ?\bloc\(")


def without_locations(text: str) -> str:
    """The text without ``loc(…)`` and their aliases."""
    lines = text.split("\n")
    drop, spans = list[tuple[int, int]](), dict[Span, str]()
    for at, line in enumerate(lines):
        if is_alias(line):
            drop.append((at, at))
            continue
        bare = blank(line)
        start = 0
        while (match := _LOCATION.search(bare, start)) is not None:
            end = closing(bare, match.end() - 1)
            start = match.end() if end is None else end + 1
            if end is not None:
                spans[at, match.start(), end + 1] = ""
    return apply(lines, [LinePatch(tuple(drop), spans)])


def dictionaries(document: ParsedModule) -> list[LinePatch]:
    """Remove a dictionary of attributes of an operation, an argument or the module."""
    return [cut(span) for span, _ in _dictionaries(document)]


def entries(document: ParsedModule) -> list[LinePatch]:
    """Remove an entry of a dictionary of attributes."""
    patches = []
    for (line, start, end), opening in _dictionaries(document):
        inner = list(gaps(document.bare[line], opening + 1, end - 1))
        # The only entry goes with the braces.
        patches += [cut((line, *gap)) for gap in (inner if len(inner) != 1 else [(start, end)])]
    return patches


def _dictionaries(document: ParsedModule) -> list[tuple[Span, int]]:
    """Spans of dictionaries with the word before them, and the column of the brace."""
    spans = []
    for operation in document.walk():
        for line in operation.headers:
            bare = document.bare[line]
            for match in _OPENS.finditer(bare):
                end = closing(bare, match.end() - 1)
                if end is not None and _ENTRY.match(document.lines[line], match.end()):
                    spans.append(((line, match.start(), end + 1), match.end() - 1))
    return spans


def function_arguments(document: ParsedModule) -> list[LinePatch]:
    """Remove an argument of a function that nothing uses."""
    patches = []
    for function in functions(document):
        line, bare = function.first, document.bare[function.first]
        opening = ARGUMENT_LIST.search(document.lines[line])
        end = closing(bare, opening.end() - 1) if opening else None
        if opening is None or end is None:
            continue
        arguments = items(bare, opening.end(), end)
        for (first, last), gap in zip(arguments, gaps(bare, opening.end(), end), strict=True):
            value = function.regions[0].names.get(bare[first:last].strip().partition(":")[0])
            if value is not None and not value.uses:
                patches.append(cut((line, *gap)))
    return patches


def unused_aliases(document: ParsedModule) -> list[LinePatch]:
    """Remove an alias that no other line names."""
    patches = []
    for line, text in enumerate(document.lines):
        if (alias := _ALIAS.match(text)) is not None:
            named = mention(alias[1])
            if not any(named.search(other) for at, other in enumerate(document.lines) if at != line):
                patches.append(LinePatch(drop=((line, line),)))
    return patches
