"""Cases of modules that a code generator on top of Triton wrote: the kernels, without the generator's own code."""

import ast
import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from triage.cases.artifacts import derived, literal
from triage.frontends import documents
from triage.model.case import Case
from triage.model.errors import InputError

_HOSTS = frozenset({"torch", "helion", "triton", "__future__"})
"""Packages whose imports are removed: ``_HEAD`` has those that a kernel needs."""
_HELPERS = "inductor_helpers"
_OWN_HELPERS = frozenset(
    {
        "maximum", "minimum", "max2", "min2", "any", "prod", "promote_to_tensor", "div_floor_integer",
        "remainder_integer", "maximum_with_index", "minimum_with_index", "max_with_index", "min_with_index",
        "welford_reduce", "welford_combine", "welford",
    }
)  # fmt: skip
"""Helpers that ``inductor_helpers.py.txt`` defines; any other needs torch."""
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
    """The files of a case: ``kernel.py``, and torch's helpers if the kernels call them.

    ``kernel.py`` is the module with the generator's imports replaced, and without the statements and decorators for
    which ``dropped`` holds. All other lines keep their numbers.
    """
    lines = text.split("\n")
    for node in tree.body:
        if _is_import(node) or dropped(node):
            _blank(
                lines,
                min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]),
                node,
            )
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
    for index in range(first - 1, node.end_lineno or node.lineno):
        # The whole line: the position of a decorator is behind its @.
        lines[index] = ""


def case(files: Mapping[str, str], document: dict[str, Any], where: str) -> Case:
    """The case with these files, in a folder of its own; ``where`` names it in errors. Raises InputError."""
    try:
        json.dumps(document)
    except (TypeError, ValueError):
        raise InputError(f"{where}: contains a value that is not a literal") from None
    folder = derived.keep(files, document)
    try:
        return documents.load(folder)
    except InputError as error:
        raise InputError(str(error).replace(str(folder / "case.json"), where)) from None


def missing(case: Case) -> str | None:
    """One line with the options for the arguments that the module does not describe; None if it describes all."""
    tree = literal.parse(case.text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] if tree else []
    kernel = next((function for function in functions if function.name == case.name), None)
    flags = []
    for argument in kernel.args.args if kernel else ():
        if argument.arg in case.signature or argument.arg in case.constexprs:
            continue
        constant = argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
        flags.append(f"--const {argument.arg}=VALUE" if constant else f"--arg {argument.arg}=TYPE")
    if not flags:
        return None
    hint = case.origin.get("hint")
    return (
        f"{case.name}: its file does not describe all arguments; give {' '.join(flags)}{f' ({hint})' if hint else ''}"
    )
