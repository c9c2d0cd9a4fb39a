"""The parameters of a CuTe host function as its source states them: types that its annotations give, and what has to be
stated for the others. Nothing is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triage.harness.worker.cute.grammar import DTYPES
from triage.source.functions import defaults, parameters

_SCALARS = {name: dtype for dtype, name in DTYPES.items()}
STREAMS = frozenset({"CUstream", "Stream", "cudaStream_t"})
"""Classes of streams, of CUDA's driver and of its runtime."""
_HINTS = {
    "Tensor": "--arg {}='tensor<f16, (128,64):(64,1), align=16>'",
    "Pointer": "--arg {}='ptr<f16, gmem, align=16>'",
    "Constexpr": "--const {}=VALUE",
}
_OTHER = "--arg {}=TYPE or --const {}=VALUE"


@dataclass(frozen=True, slots=True)
class HostFunction:
    """``annotated``: types by parameter, as its annotations state them. ``missing``: by parameter that has neither such
    an annotation nor a default, the option that states it."""

    annotated: Mapping[str, str]
    missing: Mapping[str, str]


def read(source: bytes, name: str) -> HostFunction | None:
    """The host function, or the class with that name; None where the file does not define it."""
    called = next(iter(_definitions(ast.parse(source), name)), None)
    if called is None:
        return None
    function, skipped = called
    has_default = {parameter.arg for parameter, _ in defaults(function)}
    annotated: dict[str, str] = {}
    missing: dict[str, str] = {}
    for parameter in parameters(function)[skipped:]:
        last = _last_name(parameter.annotation)
        if last in _SCALARS:
            annotated[parameter.arg] = _SCALARS[last]
        elif last in STREAMS:
            annotated[parameter.arg] = "stream"
        elif parameter.arg not in has_default:
            missing[parameter.arg] = _HINTS.get(last, _OTHER).replace("{}", parameter.arg)
    return HostFunction(annotated, missing)


def _definitions(tree: ast.Module, name: str) -> Iterator[tuple[ast.FunctionDef, int]]:
    """The function whose parameters are the kernel's, and how many of them the object of a class takes."""
    for node in reversed(tree.body):
        match node:
            case ast.FunctionDef(name=defined) if defined == name:
                yield node, 0
            case ast.ClassDef(name=defined, body=body) if defined == name:
                yield from ((each, 1) for each in body if isinstance(each, ast.FunctionDef) and each.name == "__call__")


def _last_name(annotation: ast.expr | None) -> str:
    """``Tensor`` of ``cute.Tensor``, ``Constexpr`` of ``cutlass.Constexpr[int]``; also of an annotation in quotes."""
    match annotation:
        case ast.Subscript(value=value):
            return _last_name(value)
        case ast.Attribute(attr=attribute):
            return attribute
        case ast.Name(id=name):
            return name
        case ast.Constant(value=str() as text):
            return text.partition("[")[0].rpartition(".")[2]
    return ""
