"""Assembly as text (PTX, AMD's): lines, sections and blocks taken out."""

from __future__ import annotations

import re
from collections.abc import Callable

from triage.minimize.ir.edits import Edit
from triage.minimize.ir.search import Search, Size

_COMMENT = re.compile(r"\s*(?://|;)")
_DIRECTIVE = re.compile(r"\s*(?:\.(?![^\n]*;\s*[\w@])|[{}()\]]\s*[;,]?\s*$|[\w$.]+:(?!:)|\"|$)")

_PART = re.compile(
    r"\s*//.*$"  # a comment
    r"|[^;{}]+;(?=.*;)|(?<=;)[^;{}]+;"  # one of several statements
    r"|^\s*@!?%\w+ "  # the guard of an instruction
    r"|\s*,\s*\.\w+ [^,]*(?=,|$)| \.(?:ptr|align) [^,\s]*"  # what qualifies a parameter
)


def measure(text: str) -> Size:
    """Instructions, then characters."""
    return count(text), len(text)


def count(text: str) -> int:
    """Instructions: lines that are no directives, labels, braces and comments."""
    return sum(not _COMMENT.match(line) and not _DIRECTIVE.match(line) for line in text.split("\n"))


def reduce(search: Search, told: Callable[[str], None]) -> None:
    """Until nothing more can be taken out. Raises BudgetUsed."""

    def round_() -> None:
        told("sections and blocks")
        search.edits(blocks)
        told("lines")
        search.edits(lines)
        search.edits(parts)

    search.until_nothing(round_)


def blocks(text: str) -> list[Edit]:
    """What stands in brackets over several lines, with the line that opens them."""
    edits, opened = [], list[int]()
    for at, line in enumerate(text.split("\n")):
        if _opens(line):
            opened.append(at)
        elif _closes(line) and opened:
            edits.append(Edit(drop=((opened.pop(), at),)))
    return edits


def lines(text: str) -> list[Edit]:
    """Every line on its own, but for those that open or close brackets: what is left is to be well formed."""
    every = enumerate(text.split("\n"))
    return [Edit(drop=((at, at),)) for at, line in every if not _opens(line) and not _closes(line)]


def _opens(line: str) -> bool:
    return _bare(line).endswith(("{", "("))


def _closes(line: str) -> bool:
    return _bare(line).rstrip(";,") in ("}", ")")


def _bare(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line.partition("//")[0]).strip()


def parts(text: str) -> list[Edit]:
    """Statements that share a line, what follows a directive's first word, comments, guards of instructions."""
    edits = []
    for at, line in enumerate(text.split("\n")):
        for found in _PART.finditer(line):
            edits.append(Edit(spans={(at, found.start(), found.end()): ""}))
        if (braces := re.fullmatch(r"(\s*\{).*(\}\s*)", line)) is not None:
            edits.append(Edit(spans={(at, *braces.span(1)): "", (at, *braces.span(2)): ""}))
    return edits
