"""What the signature of a kernel declares of a parameter: constexpr, type, default."""

from __future__ import annotations

import ast
from typing import Any

from triage.drafts.jitted import Jitted, dotted

_ANNOTATIONS = {
    "int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "int1": "i1", "int8": "i8", "uint8": "u8",
    "int16": "i16", "float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16",
    "int": "i32", "float": "fp32", "bool": "i1",
}  # fmt: skip
"""Types by annotations of parameters that are not constexprs; keys are the last component of the annotation."""


def is_constexpr(argument: ast.arg) -> bool:
    return argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)


def declared_type(argument: ast.arg) -> str | None:
    """The type that an annotation states."""
    node = argument.annotation
    if node is None or is_constexpr(argument):
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value.strip()
        return (
            text if text.startswith("*") or text in _ANNOTATIONS.values() else _ANNOTATIONS.get(text.rpartition(".")[2])
        )
    name = dotted(node)
    return _ANNOTATIONS.get(name.rpartition(".")[2]) if name else None


def default_of(jitted: Jitted, name: str) -> ast.expr | None:
    """The expression of a parameter's default."""
    arguments = jitted.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        if argument.arg == name and index >= first:
            return arguments.defaults[index - first]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg == name:
            return default
    return None


def literal(node: ast.expr) -> tuple[Any, bool]:
    """The JSON value of a default, and whether it is one."""
    if isinstance(node, ast.Call) and (dotted(node.func) or "").endswith("constexpr") and node.args:
        node = node.args[0]
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        name = dotted(node)
        return (f"tl.{name.rpartition('.')[2]}", True) if name and name.startswith("tl.") else (None, False)
    return value, value is None or isinstance(value, bool | int | float | str)
