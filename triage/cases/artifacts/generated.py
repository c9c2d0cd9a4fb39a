"""Modules that a code generator on top of Triton wrote, as cases: the kernels, without what is around them."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from triage.cases.artifacts import derived, literal
from triage.model import case as cases
from triage.model.case import Case
from triage.model.errors import InputError

_HOSTS = frozenset({"torch", "helion", "triton", "__future__"})
"""Of what is imported from these, a kernel needs what ``_HEAD`` gives it."""
_HELPERS = "inductor_helpers"
_OWN_HELPERS = frozenset(
    {
        "maximum", "minimum", "max2", "min2", "any", "prod", "promote_to_tensor", "div_floor_integer",
        "remainder_integer", "maximum_with_index", "minimum_with_index", "max_with_index", "min_with_index",
        "welford_reduce", "welford_combine", "welford",
    }
)  # fmt: skip
"""Those of ``inductor_helpers.py.txt``; for all others torch has to be there."""
_HEAD = """\
import math

import triton
import triton.language as tl

try:
    from triton.language.extra import libdevice
except ImportError:  # up to 3.0
    from triton.language.extra.cuda import libdevice
tl_math = tl.math
"""
_OWN = f"""\
try:
    from torch._inductor.runtime import triton_helpers
except ImportError:
    import {_HELPERS} as triton_helpers
"""
_TORCHS = """\
try:
    from torch._inductor.runtime import triton_helpers
except ImportError:
    # Nothing may stand in for what the kernel calls.
    raise ModuleNotFoundError("No module named 'torch._inductor'", name="triton_helpers") from None
"""


def files(text: str, tree: ast.Module, dropped: Callable[[ast.AST], bool]) -> dict[str, str]:
    """``kernel.py``: the module with imports of the generator's own replaced, and without the statements and
    decorators that are ``dropped``; line by line as it was. Beside it what the kernels call of torch's helpers."""
    lines = text.split("\n")
    for node in tree.body:
        if _is_import(node) or dropped(node):
            _blank(lines, min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]), node)
    for inner in ast.walk(tree):
        for decorator in getattr(inner, "decorator_list", []):
            if dropped(decorator):
                _blank(lines, decorator.lineno, decorator)
    body = "\n".join(lines).strip("\n") + "\n"
    used = {
        node.attr
        for node in ast.walk(literal.parse(body) or ast.Module([], []))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "triton_helpers"
    }
    if not used:
        return {"kernel.py": f"{_HEAD}\n\n{body}"}
    if not used <= _OWN_HELPERS:
        return {"kernel.py": f"{_HEAD}{_TORCHS}\n\n{body}"}
    helpers = resources.files("triage.cases.artifacts").joinpath(f"{_HELPERS}.py.txt").read_text(encoding="utf-8")
    return {"kernel.py": f"{_HEAD}{_OWN}\n\n{body}", f"{_HELPERS}.py": helpers}


def _is_import(node: ast.stmt) -> bool:
    match node:
        case ast.ImportFrom(module=str() as module):
            return module.partition(".")[0] in _HOSTS
        case ast.Import(names=names):
            return all(name.name.partition(".")[0] in _HOSTS for name in names)
        case _:
            return False


def _blank(lines: list[str], first: int, node: ast.stmt | ast.expr) -> None:
    for place in range(first - 1, node.end_lineno or node.lineno):
        # A decorator begins behind its sign.
        lines[place] = ""


def case(files: Mapping[str, str], document: dict[str, Any], where: str) -> Case:
    """The case of such a module, in a folder of its own; ``where`` names it in errors. Raises InputError."""
    try:
        json.dumps(document)
    except (TypeError, ValueError):
        raise InputError(f"{where}: says what is no literal") from None
    folder = derived.keep(files, document)
    try:
        return cases.load(folder)
    except InputError as error:
        raise InputError(str(error).replace(str(folder / "case.json"), where)) from None


def missing(case: Case) -> str | None:
    """In a line, what the module does not say of the kernel's arguments, with the options that do."""
    tree = literal.parse(case.path.read_text(encoding="utf-8"))
    found = (
        [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == case.name]
        if tree
        else []
    )
    flags = []
    for argument in found[0].args.args if found else ():
        if argument.arg in case.signature or argument.arg in case.constexprs:
            continue
        constant = argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
        flags.append(f"--const {argument.arg}=VALUE" if constant else f"--arg {argument.arg}=TYPE")
    if not flags:
        return None
    hint = case.origin.get("hint")
    return f"{case.name}: its file does not say all; give {' '.join(flags)}{f' ({hint})' if hint else ''}"
