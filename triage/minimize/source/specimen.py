"""The candidate of a source reduction: a kernel's text with its configuration, and its size."""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from triage.model.case import Case, Frozen, frozen
from triage.source.module import Module

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
    not read. ``undefined``: names that the original reads without having defined them, which may be its very failure.
    ``in_package``: compiled in a copy of the user's package, not alone in a folder."""

    text: str
    case: Case
    undefined: frozenset[str] = frozenset()
    in_package: bool = False

    def key(self) -> str:
        """Hash of everything that decides the outcome; equal candidates are compiled once."""
        document = {name: value for name, value in self.case.to_json().items() if name not in ("origin", "toolchain")}
        parts = [self.text, document, *([True] if self.in_package else [])]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]

    def size(self) -> tuple[int, int]:
        """Tokens, then characters."""
        return tokens(self.text), len(self.text)

    def case_without(self, arguments: Collection[str]) -> Case:
        """The case without some of its kernel's arguments, or those of its constructor."""
        case = self.case
        return replace(
            case,
            signature=without(case.signature, *arguments),
            constexprs=without(case.constexprs, *arguments),
            construct=without(case.construct, *arguments),
            divisible=without(case.divisible, *arguments),
            inputs=frozen(inputs_for(set(case.signature) - set(arguments), case.inputs)),
        )


def without(values: Frozen, *names: str) -> Frozen:
    """The values without some of their names."""
    return frozen({name: value for name, value in values.items() if name not in names})


def inputs_for(arguments: Collection[str], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A case's inputs, restricted to the given arguments."""
    if not inputs:
        return {}
    values = {name: value for name, value in inputs.get("arguments", {}).items() if name in arguments}
    outputs = [name for name in inputs.get("outputs", ()) if name in arguments]
    return {**inputs, "arguments": values, "outputs": outputs}


@lru_cache(maxsize=4096)
def tokens(text: str) -> int:
    """Python tokens, without comments, line ends and indentation; characters where the text cannot be tokenized."""
    try:
        return sum(token.type not in _LAYOUT for token in tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return len(text)


def body_lines(text: str, kernel: str) -> int:
    """Lines of the kernel's body that hold code: without blank lines, comments and its docstring; 0 where the text is
    not valid Python."""
    module = Module.parse(text)
    kernels: list[ast.FunctionDef | ast.ClassDef] = list(module.functions(kernel)) if module is not None else []
    if module is not None and not kernels:
        kernels += [node for node in module.tree.body if isinstance(node, ast.ClassDef) and node.name == kernel]
    if not kernels:
        return 0
    body = kernels[-1].body[ast.get_docstring(kernels[-1]) is not None :]
    lines = text.split("\n")
    numbers = {line for node in body for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return sum(bool(lines[number - 1].split("#")[0].strip()) for number in numbers)
