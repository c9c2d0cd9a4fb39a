"""What functions of torch and methods of tensors return."""

from __future__ import annotations

from dataclasses import replace

from triage.drafts.host.tensors import any_float, product_of, shape_of, stated_dtype, stated_sizes, transposed
from triage.drafts.host.values import (
    TORCH_TYPES,
    UNKNOWN,
    Alternatives,
    Const,
    Dtype,
    Float,
    Int,
    Items,
    TensorValue,
    Unknown,
    merged,
)

_SAME_TENSOR = frozenset({
    "contiguous", "detach", "clone", "cuda", "cpu", "requires_grad_", "data", "pin_memory", "to_local", "abs",
    "exp", "sqrt", "neg", "relu", "sigmoid", "tanh", "masked_fill", "masked_fill_", "fill_", "zero_", "copy_",
    "clamp", "clamp_", "add_", "mul_", "div_", "sub_", "nan_to_num", "roll", "flip", "wait", "type_as", "add",
    "mul", "sub", "div", "pow", "softmax", "log_softmax"
})  # fmt: skip
_RESHAPED = frozenset({
    "view", "reshape", "flatten", "unsqueeze", "squeeze", "expand", "narrow", "repeat", "repeat_interleave",
    "unflatten", "select", "index_select", "gather", "expand_as", "view_as", "sum", "mean", "amax", "amin", "max",
    "min", "norm", "prod", "cumsum", "diff", "diagonal", "tile", "movedim", "index_add_", "scatter_",
    "scatter_add_", "matmul", "mm", "bmm", "einsum", "pad", "cat", "stack", "take_along_dim"
})  # fmt: skip
TRANSPOSED = frozenset(["t", "transpose", "permute", "mT", "T", "mH", "swapaxes", "adjoint"])
_INDICES = frozenset(["argmax", "argmin", "argsort", "nonzero", "bincount", "searchsorted", "count_nonzero"])
_NEW = frozenset({
    "empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "tensor", "as_tensor",
    "empty_strided", "eye", "linspace"
})  # fmt: skip
_CASTS = {name: TORCH_TYPES[name] for name in ("float", "half", "double", "int", "long", "short", "bool")} | {
    "bfloat16": "bf16",
    "byte": "u8",
    "char": "i8",
}


def method_result(
    name: str, tensor: TensorValue, positional: list[Alternatives], words: dict[str, Alternatives]
) -> Alternatives:
    """What a method of a tensor returns, without ``stride`` and ``size`` of a dimension."""
    match name:
        case "size":
            return (shape_of(tensor),)
        case "dim" | "ndimension":
            return (Int(tensor.rank, True) if tensor.rank is not None else Int(),)
        case "numel" | "nelement":
            return (product_of(tensor.sizes),)
        case "element_size":
            return (Int(),)
        case "data_ptr":
            return (Int(),)
        case "item":
            return (Float(),) if tensor.dtype in ("fp16", "bf16", "fp32", "fp64") else (Int(), Float())
        case "tolist" | "is_contiguous" | "get_device" | "all" | "any" | "equal":
            return UNKNOWN
        case "to" | "type" | "astype":
            for value in [*positional, *words.values()]:
                match value[0]:
                    case Dtype(name=dtype):
                        return merged(replace(tensor, dtype=each.name) for each in value if isinstance(each, Dtype))
                    case TensorValue(dtype=dtype):
                        return (replace(tensor, dtype=dtype),)
            return (tensor,)
        case "view" if positional and isinstance(positional[0][0], Dtype):
            return (replace(tensor, dtype=positional[0][0].name),)
        case "new_empty" | "new_zeros" | "new_ones" | "new_full" | "new_tensor":
            sizes = stated_sizes(positional[:1] if name == "new_full" else positional, words)
            return (TensorValue(stated_dtype(words, tensor.dtype), sizes),)
        case "chunk" | "split" | "unbind" | "tensor_split":
            return (Items(((replace(tensor, sizes=tensor.sizes if name != "unbind" else None),),), open=True),)
        case "view" | "reshape":
            return (TensorValue(tensor.dtype, stated_sizes(positional, words)),)
        case "sort" | "topk" | "kthvalue":
            return (Items(((TensorValue(tensor.dtype),), (TensorValue("i64"),))),)
    if name in _CASTS:
        return (replace(tensor, dtype=_CASTS[name]),)
    if name in TRANSPOSED:
        return (transposed(tensor),)
    if name in _INDICES:
        return (TensorValue("i64"),)
    if name in _RESHAPED:
        if name in ("max", "min") and (positional or "dim" in words):
            return (Items(((TensorValue(tensor.dtype),), (TensorValue("i64"),))),)
        return (TensorValue(stated_dtype(words, tensor.dtype)),)
    if name in _SAME_TENSOR:
        return (replace(tensor, transposed=tensor.transposed and name != "contiguous"),)
    return (TensorValue(tensor.dtype),)


def strides(name: str, tensor: TensorValue, positional: list[Alternatives], last: int) -> Alternatives:
    """What ``name.stride(…)`` returns; ``last``: the last dimension whose stride the function asks for."""
    if not positional:
        if tensor.rank is None:
            return UNKNOWN
        return (Items(tuple((Int(stride=name, inner=index == tensor.rank - 1),) for index in range(tensor.rank))),)
    match positional[0][0]:
        case Int(value=int(index), exact=True):
            pass
        case _:
            return (Int(stride=name),)
    outer, inner = Int(stride=name), Int(1, stride=name, inner=True)
    if tensor.transposed:
        return (outer, inner)
    if index == -1 or (tensor.rank is not None and index == tensor.rank - 1):
        return (inner,)
    if index < 0 or tensor.rank is not None:
        return (outer,)
    # How many dimensions it has is not known: strides are asked for up to the last.
    return (inner, outer) if index == last and index > 0 else (outer,)


def function_result(
    name: str, last: str, positional: list[Alternatives], words: dict[str, Alternatives]
) -> Alternatives:
    """What ``torch.…`` returns; ``last``: the last part of its name."""
    first = positional[0][0] if positional else Unknown()
    if last.endswith("_like") and isinstance(first, TensorValue):
        return (replace(first, dtype=stated_dtype(words, first.dtype), transposed=False),)
    if last in _NEW and name.count(".") == 1:
        default = "i64" if last == "randint" or (last == "arange" and not any_float(positional)) else "fp32"
        if last in ("tensor", "as_tensor", "full"):
            default = "fp32" if any_float(positional) else "i64"
            filled = positional[-1] if positional else ()
            if any(isinstance(value, Const) and isinstance(value.value, bool) for value in filled):
                default = "i1"
        if last in ("full", "empty_strided"):
            sizes = stated_sizes(positional[:1], words)
        elif last == "randint":
            sizes = stated_sizes([words.get("size", positional[-1] if positional else UNKNOWN)], {})
        else:
            line = last in ("arange", "tensor", "as_tensor", "linspace")
            sizes = (Int(),) if line else stated_sizes(positional, words)
        if isinstance(first, TensorValue):
            return (first,)
        return (TensorValue(stated_dtype(words, default), sizes),)
    if last in ("finfo", "iinfo", "device", "no_grad", "is_tensor", "is_floating_point"):
        return UNKNOWN
    if name.startswith(("torch.cuda", "torch.version", "torch.library", "torch.compiler", "torch.distributed")):
        return UNKNOWN if not isinstance(first, TensorValue) else (first,)
    if last in ("sort", "topk", "unique_consecutive") and isinstance(first, TensorValue):
        return (Items(((TensorValue(first.dtype),), (TensorValue("i64"),))),)
    if last in _INDICES:
        return (TensorValue("i64"),)
    tensors = [value for values in positional for value in values[:1] if isinstance(value, TensorValue)]
    for values in positional[:1]:
        if isinstance(values[0], Items):
            tensors += [value for item in values[0].items for value in item[:1] if isinstance(value, TensorValue)]
    if not tensors:
        return UNKNOWN
    if last in ("cat", "stack", "where", "matmul", "mm", "einsum") or last in _RESHAPED:
        return (TensorValue(stated_dtype(words, tensors[0].dtype)),)
    return (replace(tensors[0], dtype=stated_dtype(words, tensors[0].dtype)),)
