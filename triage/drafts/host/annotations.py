"""Values of a parameter by its annotation."""

from __future__ import annotations

import ast

from triage.drafts.host.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Alternatives,
    Const,
    Dtype,
    Float,
    Int,
    Items,
    TensorValue,
    none_last,
)
from triage.drafts.jitted import dotted

_ANNOTATED = {
    "LongTensor": "i64", "IntTensor": "i32", "BoolTensor": "i1", "FloatTensor": "fp32", "HalfTensor": "fp16",
    "BFloat16Tensor": "bf16", "ByteTensor": "u8", "CharTensor": "i8", "DoubleTensor": "fp64",
}  # fmt: skip
_PLAIN: dict[str, Alternatives] = {"int": (Int(),), "float": (Float(),), "bool": (FALSE, TRUE), "dtype": (Dtype(),)}


def annotated(node: ast.expr | None) -> Alternatives:
    """Values that an annotation allows; empty where it says nothing."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                return annotated(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return ()
        case ast.Constant(value=None):
            return (NONE,)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return none_last((*annotated(left), *annotated(right)))
        case ast.Subscript(value=value, slice=index):
            outer = (dotted(value) or "").rpartition(".")[2]
            inner = index.elts if isinstance(index, ast.Tuple) else [index]
            match outer:
                case "Optional":
                    return none_last((*annotated(inner[0]), NONE))
                case "Union":
                    return none_last(tuple(value for each in inner for value in annotated(each)))
                case "Literal":
                    return tuple(
                        Const(each.value)
                        if not isinstance(each.value, int) or isinstance(each.value, bool)
                        else Int(each.value, True)
                        for each in inner
                        if isinstance(each, ast.Constant)
                    )
                case "list" | "List" | "tuple" | "Tuple" | "Sequence" | "Iterable":
                    return (Items((annotated(inner[0]) or UNKNOWN,), open=True),)
                case "Annotated":
                    return annotated(inner[0])
            # As jaxtyping's Float[Tensor, "a b"].
            return annotated(inner[0]) if inner and (dotted(inner[0]) or "").endswith("Tensor") else ()
        case ast.Name() | ast.Attribute():
            name = (dotted(node) or "").rpartition(".")[2]
            if name in _ANNOTATED:
                return (TensorValue(_ANNOTATED[name]),)
            if name.endswith("Tensor"):
                return (TensorValue(),)
            return _PLAIN.get(name, ())
    return ()
