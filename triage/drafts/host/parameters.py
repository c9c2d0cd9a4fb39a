"""Parameters of host functions: defaults, binding of a call's arguments, and which values are the likeliest."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from triage.drafts.host.values import (
    NONE,
    Abstract,
    Alternatives,
    Const,
    Float,
    Int,
    Items,
    Mapped,
    TensorValue,
    merged,
    none_last,
)
from triage.drafts.jitted import dotted
from triage.drafts.project_file import Scope

_TENSOR_USES = frozenset({
    "shape", "stride", "dtype", "device", "size", "contiguous", "view", "numel", "data_ptr", "is_contiguous",
    "to", "dim", "ndim", "reshape", "new_empty", "new_zeros", "is_cuda", "element_size", "transpose", "permute",
    "unsqueeze", "squeeze", "t", "mT", "T", "flatten", "requires_grad", "float", "half", "bfloat16", "double",
    "long", "amax", "sum"
})  # fmt: skip
"""Attributes by which a parameter is a tensor."""


def parameter_defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    words = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: default for argument, default in [*pairs, *words] if default is not None}


def bound_arguments(
    node: ast.AST, positional: list[Alternatives], words: Mapping[str, Alternatives], first: int
) -> dict[str, Alternatives]:
    """Arguments by parameter; the first parameters are left out that a call does not state (``self``)."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    names = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]][first:]
    known = {*names, *(argument.arg for argument in node.args.kwonlyargs)}
    bound = dict(zip(names, positional, strict=False))
    bound.update((name, value) for name, value in words.items() if name in known)
    if node.args.vararg:
        bound[node.args.vararg.arg] = (Items(tuple(positional[len(names) :])),)
    if node.args.kwarg:
        rest = tuple((name, value) for name, value in words.items() if name not in known)
        bound[node.args.kwarg.arg] = (Mapped(rest),)
    return bound


def best_values(
    callers: Alternatives, annotated: Alternatives, own: Alternatives, default: Iterable[Abstract]
) -> Alternatives:
    """The values of a parameter: what callers pass first; None after what is not None."""
    default = tuple(default)
    callers = tuple(value for value in callers if _agrees(value, annotated))
    tensor = any(isinstance(value, TensorValue) for value in (*callers, *annotated, *own))
    if tensor:
        default = tuple(value for value in default if value == NONE)
    values = merged(callers, default if default != (NONE,) else (), annotated, own, default)
    if any(isinstance(value, Int) and value.exact for value in values):
        values = tuple(value for value in values if not isinstance(value, Int) or value.value is not None)
    if any(isinstance(value, Float) and value.exact for value in values):
        values = tuple(value for value in values if not isinstance(value, Float) or value.value is not None)
    return none_last(values)


def _agrees(value: Abstract, annotated: Alternatives) -> bool:
    """Whether a value is of a kind that an annotation allows."""
    kinds = {type(each) for each in annotated if each != NONE}
    if not kinds or value == NONE or not isinstance(value, TensorValue | Int | Float | Const):
        return True
    return type(value) in kinds or (isinstance(value, Int) and Float in kinds)


def is_static(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(dotted(each) == "staticmethod" for each in node.decorator_list)


def is_class_method(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(dotted(each) == "classmethod" for each in node.decorator_list)


def used_as_tensors(scope: Scope) -> set[str]:
    """Names that a function uses as tensors."""
    return {
        node.value.id for node in scope.attributes if isinstance(node.value, ast.Name) and node.attr in _TENSOR_USES
    }
