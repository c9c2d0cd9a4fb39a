"""Clean-up of an edited text: no ``pass`` that a block does not need, no runs of blank lines."""

import ast
import re
from collections.abc import Iterator

from triage.source.module import Module

_EMPTY = re.compile(r"\(\s+\)")


def tidied(text: str) -> str:
    """The text after clean-up; unchanged where it is not valid Python."""
    module = Module.parse(text)
    if module is None:
        return text
    cuts: list[tuple[int, int]] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.If) and node.orelse and all(isinstance(child, ast.Pass) for child in node.orelse):
            cuts.append((module.span(node.body[-1])[1], module.span(node.orelse[-1])[1]))
    for depth, block in blocks(module.tree):
        idle = [statement for statement in block if isinstance(statement, ast.Pass)]
        idle = idle if depth == 0 or len(idle) < len(block) else idle[1:]
        cuts += [_with_line(text, *module.span(statement)) for statement in idle]
    before = len(text)
    for start, end in sorted(cuts, key=lambda cut: cut[1], reverse=True):
        text = text[:start] + text[min(end, before) :] if start < before else text
        before = min(before, start)
    return _without_blank_runs(_EMPTY.sub("()", text)).lstrip("\n")


def blocks(tree: ast.Module) -> Iterator[tuple[int, list[ast.stmt]]]:
    """Every block of statements with its depth: 0 is the file itself."""
    waiting: list[tuple[int, ast.AST]] = [(0, tree)]
    while waiting:
        depth, node = waiting.pop(0)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield depth, block
                waiting += [(depth + 1, child) for child in block]


def _without_blank_runs(text: str) -> str:
    """No blank lines where a block begins, at most one within a block and two between top-level statements."""
    lines: list[str] = []
    blank = 0
    for line in text.split("\n"):
        if not line.strip():
            blank += 1
            continue
        if lines and not lines[-1].rstrip().endswith((":", "(", "[", ",")):
            lines += [""] * min(blank, 1 if line[0].isspace() else 2)
        lines.append(line)
        blank = 0
    return "\n".join([*lines, ""])


def _with_line(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of a statement, with the rest of its line where that holds no other code."""
    head = text.rfind("\n", 0, start) + 1
    tail = text.find("\n", end)
    tail = len(text) if tail < 0 else tail
    rest = text[end:tail]
    if not text[head:start].strip() and (not rest.strip() or rest.lstrip().startswith("#")):
        return head, min(len(text), tail + 1)
    if rest.lstrip().startswith(";"):
        return start, end + len(rest) - len(rest.lstrip("; "))
    return start, end
