"""Passes over assembly (PTX and AMD's): lines, sections and blocks are removed."""

import re

from triage.minimize.ir.edits import LinePatch, TextProblem, cut, sweep
from triage.minimize.problem import Size

_COMMENT = re.compile(r"\s*(?://|;)")
_DIRECTIVE = re.compile(r"\s*(?:\.(?![^\n]*;\s*[\w@])|[{}()\]]\s*[;,]?\s*$|[\w$.]+:(?!:)|\"|$)")

_PART = re.compile(
    r"\s*//.*$"  # a comment
    r"|[^;{}]+;(?=.*;)|(?<=;)[^;{}]+;"  # one of several statements
    r"|^\s*@!?%\w+ "  # the guard of an instruction
    r"|\s*,\s*\.\w+ [^,]*(?=,|$)| \.(?:ptr|align) [^,\s]*"  # a qualifier of a parameter
)


def measure(text: str) -> Size:
    """Instructions, then characters."""
    return count(text), len(text)


def count(text: str) -> int:
    """Instructions: lines that are not directives, labels, braces or comments."""
    return sum(not _COMMENT.match(line) and not _DIRECTIVE.match(line) for line in text.split("\n"))


def reduce(problem: TextProblem) -> None:
    """Reduce until nothing more can be removed. Raises BudgetUsed, EnvironmentFault."""

    def once(first: bool) -> None:
        problem.step("sections and blocks")
        sweep(problem, blocks)
        problem.step("lines")
        sweep(problem, lines, parts)

    problem.rounds(once)


def blocks(text: str) -> list[LinePatch]:
    """Remove what is in brackets over several lines, with the line that opens them."""
    patches, opened = [], list[int]()
    for at, line in enumerate(text.split("\n")):
        if _opens(line):
            opened.append(at)
        elif _closes(line) and opened:
            patches.append(LinePatch(drop=((opened.pop(), at),)))
    return patches


def lines(text: str) -> list[LinePatch]:
    """Remove a line, except one that opens or closes brackets."""
    return [
        LinePatch(drop=((at, at),))
        for at, line in enumerate(text.split("\n"))
        if not _opens(line) and not _closes(line)
    ]


def _opens(line: str) -> bool:
    return _bare(line).endswith(("{", "("))


def _closes(line: str) -> bool:
    return _bare(line).rstrip(";,") in ("}", ")")


def _bare(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line.partition("//")[0]).strip()


def parts(text: str) -> list[LinePatch]:
    """Remove statements that share a line, qualifiers of parameters, comments and guards of instructions."""
    patches = []
    for at, line in enumerate(text.split("\n")):
        patches += [cut((at, *part.span())) for part in _PART.finditer(line)]
        if (braces := re.fullmatch(r"(\s*\{).*(\}\s*)", line)) is not None:
            patches.append(cut((at, *braces.span(1)), (at, *braces.span(2))))
    return patches
