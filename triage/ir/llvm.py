"""Printed LLVM IR: its functions, blocks and instructions as ranges of lines."""

import re

from triage.ir import mlir

VALUE = re.compile(r'%(?:[\w$.-]+|"[^"]*")')
RESULT = re.compile(r"\s+(%[\w$.-]+) = ")
"""How an instruction with a result begins."""
LABEL = re.compile(r"([\w$.-]+):")
"""How a block begins."""
_INSTRUCTION = re.compile(r"^  (?![ ;\]])", re.MULTILINE)
"""Instructions are indented by two columns; the cases of a ``switch`` are indented further."""


def count_instructions(text: str) -> int:
    """The number of instructions in all functions."""
    return len(_INSTRUCTION.findall(text))


def blank(line: str) -> str:
    """The line with strings and comments blanked, all columns unchanged."""
    line = mlir.blank(line)
    comment = line.find(";")
    return line if comment < 0 else line[:comment] + " " * (len(line) - comment)


def functions(lines: list[str]) -> list[tuple[int, int]]:
    """The first and the last line of each function that has a body."""
    return [(start, lines.index("}", start)) for start, line in enumerate(lines) if line.startswith("define ")]


def instructions(lines: list[str], first: int, last: int) -> list[tuple[int, int]]:
    """The instructions of the function in these lines: the first and the last line of each (a switch has several)."""
    ranges, start = [], first + 1
    while start < last:
        line = lines[start]
        if line.startswith("  "):
            end = start
            if line.rstrip().endswith("["):
                end = next(number for number in range(start, last) if lines[number].strip().startswith("]"))
            ranges.append((start, end))
            start = end
        start += 1
    return ranges
