"""What is being reduced: a kernel's text and its configuration together, and how large that is."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from triage.model.case import Case, frozen

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True)
class Specimen:
    """``text`` is the kernel's whole file; ``case`` its configuration, whose folder is the user's own and whose file is
    not read. ``loose``: names that the original reads without having defined them, which may be its very failure."""

    text: str
    case: Case
    loose: frozenset[str] = frozenset()

    def key(self) -> str:
        """Hash of everything that decides the outcome; equal candidates are compiled once."""
        document = self.case.to_json()
        for name in ("origin", "toolchain"):
            document.pop(name, None)
        return hashlib.sha256(json.dumps([self.text, document], sort_keys=True).encode()).hexdigest()[:24]

    def size(self) -> tuple[int, int]:
        """Tokens, then characters: what is to become smaller."""
        return tokens(self.text), len(self.text)

    def without(self, arguments: tuple[str, ...]) -> Case:
        """The case without some of its kernel's arguments."""
        case = self.case
        return replace(
            case,
            signature=frozen({name: value for name, value in case.signature.items() if name not in arguments}),
            constexprs=frozen({name: value for name, value in case.constexprs.items() if name not in arguments}),
            divisible=frozen({name: value for name, value in case.divisible.items() if name not in arguments}),
            inputs=frozen(remaining(case.inputs, set(case.signature) - set(arguments))),
        )


def remaining(inputs: Mapping[str, Any], signature: Collection[str]) -> dict[str, Any]:
    """A case's inputs, of those arguments that are left."""
    if not inputs:
        return {}
    kept = {name: value for name, value in inputs.get("arguments", {}).items() if name in signature}
    outputs = [name for name in inputs.get("outputs", ()) if name in signature]
    return {**inputs, "arguments": kept, "outputs": outputs}


@lru_cache(maxsize=4096)
def tokens(text: str) -> int:
    """Python tokens, without comments, line ends and indentation. A text that has no tokens counts its characters."""
    try:
        return sum(token.type not in _LAYOUT for token in tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return len(text)


def body_lines(text: str, kernel: str) -> int:
    """Lines of the kernel's body that hold code: without blank lines, comments and its docstring."""
    tree = ast.parse(text)
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == kernel]
    if not found:
        return 0
    body = found[-1].body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        body = body[1:]
    lines = text.split("\n")
    numbers = {line for node in body for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return sum(bool(lines[number - 1].split("#")[0].strip()) for number in numbers)
