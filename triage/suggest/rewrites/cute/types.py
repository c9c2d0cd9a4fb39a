"""The DSL's type of an expression, as far as its text shows it."""

from __future__ import annotations

import ast

from triage.harness.worker.cute import grammar
from triage.source.module import called
from triage.suggest.rewrites.cute.subject import CuteSubject

_TITLES = frozenset(grammar.DTYPES.values())


def type_of(subject: CuteSubject, node: ast.expr) -> str | None:
    """Text of the type that a value of this expression has; None where nothing shows it."""
    cutlass = subject.alias("cutlass")
    match node:
        case ast.Constant(value=bool()) | ast.Compare() | ast.BoolOp():
            return cutlass and f"{cutlass}.Boolean"
        case ast.Constant(value=int()):
            return cutlass and f"{cutlass}.Int32"
        case ast.Constant(value=float()):
            return cutlass and f"{cutlass}.Float32"
        case ast.Call(func=function) if called(node) in _TITLES:
            return subject.module.segment(function)
        case ast.Call(func=ast.Attribute(attr="to"), args=[dtype, *_]):
            return subject.module.segment(dtype)
        case ast.Call() if called(node).endswith("_idx") or called(node).endswith("_dim"):
            return cutlass and f"{cutlass}.Int32"
        case ast.Subscript(value=ast.Name(id=name)):
            return f"{name}.element_type"
        case ast.BinOp(left=left, right=right):
            types = [type_ for side in (left, right) if (type_ := type_of(subject, side)) is not None]
            # A constant takes the type of what it is combined with.
            sides = [side for side in (left, right) if not isinstance(side, ast.Constant)]
            known = [type_ for side in sides if (type_ := type_of(subject, side)) is not None]
            return next(iter([*known, *types]), None)
        case ast.UnaryOp(operand=operand):
            return type_of(subject, operand)
        case ast.IfExp(body=body):
            return type_of(subject, body)
    return None
