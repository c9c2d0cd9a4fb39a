"""What functions of torch, numpy and JAX return, and methods of their tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from triage.drafts.cute.layouts import permuted, row_major
from triage.drafts.cute.values import (
    TORCH_DTYPES,
    UNKNOWN,
    ForeignMethod,
    Guess,
    Namespace,
    StreamValue,
    TorchDtype,
    TorchTensor,
)
from triage.drafts.host.values import Foreign
from triage.harness.worker.cute.grammar import width
from triage.model import gpus
from triage.model.target import Target

ROOTS = ("torch", "numpy", "jax", "cupy")
_FILLED = frozenset({
    "empty", "zeros", "ones", "rand", "randn", "full", "randint", "normal", "uniform", "random", "standard_normal",
    "empty_strided", "eye"
})  # fmt: skip
_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like"})
_SAME = frozenset({
    "softplus", "gelu", "silu", "normalize",
    "contiguous", "detach", "clone", "requires_grad_", "pin_memory", "abs", "exp", "sqrt", "neg", "clamp", "relu",
    "sigmoid", "tanh", "softmax", "round", "ceil", "floor", "log", "data", "ascontiguousarray", "asarray", "array",
    "where", "block_until_ready", "to_dlpack", "__dlpack__", "nan_to_num", "masked_fill", "div", "mul", "add", "sub"
})  # fmt: skip
_OF_DATA = frozenset({"tensor", "as_tensor", "array", "asarray", "from_numpy"})
_PROPERTIES = frozenset({
    "size", "stride", "dim", "dim_order", "numel", "element_size", "data_ptr", "is_contiguous", "ndimension"
})  # fmt: skip
_FROM_DATA = 1024
"""A usual length, where it is computed of the elements of a tensor."""
_CASTS = {"float": "f32", "half": "f16", "double": "f64", "bfloat16": "bf16", "int": "i32", "long": "i64",
          "short": "i16", "byte": "u8", "char": "i8", "bool": "i1"}  # fmt: skip


def multiprocessors(target: Target) -> Guess:
    """Of a product of the architecture: a number that a persistent kernel's grid depends on, and no layout."""
    row = gpus.architecture(target.backend, target.arch)
    return Guess(row.product.multiprocessors if row is not None and row.product is not None else 1)


def attribute(name: str) -> Any:
    """What ``torch.NAME`` is, where it is not a function."""
    last = name.rpartition(".")[2]
    if last in TORCH_DTYPES and name.count(".") <= 2:
        return TorchDtype(TORCH_DTYPES[last])
    return None


def on_host(words: Mapping[str, Any], default: bool) -> bool:
    """Whether a tensor that is made with these keywords is in memory of the CPU."""
    device = words.get("device", UNKNOWN)
    if isinstance(device, Namespace):
        device = device.attributes.get("type", UNKNOWN)
    if isinstance(device, str):
        return device.startswith("cpu")
    return default if "device" not in words or device is None else False


def function(name: str, positional: Sequence[Any], words: Mapping[str, Any], target: Target, where: str) -> Any:
    """The result of a function of a framework."""
    last = name.rpartition(".")[2]
    host = on_host(words, name.startswith(("torch.", "numpy.")))
    if last in _FILLED and not name.startswith("torch.cuda"):
        return _filled(name, last, positional, words, host, where)
    first = positional[0] if positional else UNKNOWN
    if last in _LIKE and isinstance(first, TorchTensor):
        if first.shape is None and not isinstance(words.get("dtype"), TorchDtype):
            return first  # What is learnt of its dimensions later is true of both.
        dtype = _dtype(words.get("dtype"), first.dtype)
        return TorchTensor(dtype, first.shape, first.stride, first.guessed, where, on_host(words, first.host))
    if last in ("tensor", "as_tensor", "array", "asarray", "from_numpy") and isinstance(
        first, list | tuple | int | float
    ):
        return _of_data(first, words, host, where)
    if last in ("arange", "linspace") and positional:
        bounds = [value for value in positional[:2] if isinstance(value, int)]
        if bounds and last == "arange":
            extent = bounds[0] if len(bounds) == 1 else bounds[1] - bounds[0]
            return TorchTensor(_dtype(words.get("dtype"), "i64"), (extent,), (1,), False, where, host)
        return UNKNOWN
    match last:
        case "is_available":
            return True
        case "device_count":
            return 1
        case "get_device_capability":
            return divmod(int(target.arch), 10)
        case "current_stream" | "default_stream" | "Stream":
            return Namespace({"cuda_stream": StreamValue()})
        case "device" | "Device":
            return Namespace({"type": str(first).partition(":")[0] if isinstance(first, str) else "cuda"})
        case "get_device_properties":
            major, minor = divmod(int(target.arch), 10)
            return Namespace({"multi_processor_count": multiprocessors(target), "major": major, "minor": minor})
        case "manual_seed" | "synchronize" | "seed" | "set_device" | "init":
            return None
    if isinstance(first, TorchTensor):
        if last in ("cat", "stack", "concat"):
            return UNKNOWN
        return method(first, last, positional[1:], words)
    return UNKNOWN


def _filled(
    name: str, last: str, positional: Sequence[Any], words: Mapping[str, Any], host: bool, where: str
) -> TorchTensor:
    own = "f64" if name.startswith("numpy") else "i64" if last == "randint" else "f32"
    dtype = _dtype(words.get("dtype"), own)
    sizes = list(positional)
    stated = words.get("size", words.get("shape"))
    if last in ("randint", "uniform", "normal") and stated is None:
        stated = next((value for value in positional if isinstance(value, tuple | list)), UNKNOWN)
    elif last == "full" and stated is None:
        stated = positional[0] if positional else UNKNOWN
        if not isinstance(stated, tuple | list):
            stated = (stated,)
    if last == "full" and "dtype" not in words and len(positional) > 1 and isinstance(positional[1], int):
        dtype = "i1" if isinstance(positional[1], bool) else "i64"
    if stated is not None:
        sizes = [stated]
    stride = None
    if last == "empty_strided" and len(positional) > 1:
        sizes, stride = [positional[0]], positional[1]
    if len(sizes) >= 1 and isinstance(sizes[0], tuple | list):
        # numpy's second argument is the type.
        if len(positional) > 1 and isinstance(positional[1], TorchDtype):
            dtype = positional[1].name
        sizes = list(sizes[0])
    if not all(isinstance(size, int) for size in sizes):
        return TorchTensor(dtype, None, None, True, where, host)
    shape = tuple(sizes)
    strides = tuple(stride) if isinstance(stride, tuple | list) else row_major(shape)
    return TorchTensor(dtype, shape, strides, any(isinstance(size, Guess) for size in sizes), where, host)


def _of_data(data: Any, words: Mapping[str, Any], host: bool, where: str) -> TorchTensor:
    shape: list[int] = []
    inner = data
    while isinstance(inner, list | tuple):
        shape.append(len(inner))
        inner = inner[0] if inner else 0
    own = "f32" if isinstance(inner, float) else "i64"
    return TorchTensor(_dtype(words.get("dtype"), own), tuple(shape), row_major(shape), False, where, host)


def _dtype(value: Any, default: str) -> str:
    return value.name if isinstance(value, TorchDtype) else default


def dtype_attribute(dtype: TorchDtype, name: str) -> Any:
    """An attribute of a type of elements of torch."""
    match name:
        case "itemsize":
            return max(1, width(dtype.name) // 8)
        case "is_signed":
            return not dtype.name.startswith("u")
        case "is_floating_point":
            return "f" in dtype.name
    return UNKNOWN


def tensor_attribute(tensor: TorchTensor, name: str) -> Any:
    """An attribute of a tensor; what is not known is a method of it."""
    match name:
        case "shape":
            return tensor.shape if tensor.shape is not None else ForeignMethod(tensor, "shape")
        case "dtype":
            return TorchDtype(tensor.dtype, tensor.guessed)
        case "device":
            return Namespace({"type": "cpu" if tensor.host else "cuda", "index": 0})
        case "ndim":
            return len(tensor.shape) if tensor.shape is not None else UNKNOWN
        case "T" | "mT" | "mH" | "H":
            return method(tensor, "t" if name == "T" else "mT", (), {})
        case "is_cuda":
            return not tensor.host
        case "data" | "grad":
            return tensor
        case "itemsize":
            return max(1, width(tensor.dtype) // 8)
    return ForeignMethod(tensor, name)


def method(tensor: TorchTensor, name: str, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
    """The result of a method of a tensor."""
    shape, stride = tensor.shape, tensor.stride
    flat = tuple(positional[0]) if positional and isinstance(positional[0], tuple | list) else tuple(positional)
    if name in ("to", "type", "astype", "cuda", "cpu") or name in _CASTS:
        return _moved(tensor, name, positional, words)
    if name in _PROPERTIES:
        return _property(tensor, name, positional)
    if name.endswith("_") and not name.startswith("_"):
        return tensor
    if shape is None or stride is None:
        return tensor if name in _SAME else TorchTensor(tensor.dtype, None, None, True, tensor.where, tensor.host)
    if not all(isinstance(value, int) for value in flat):
        if name == "view" and isinstance(flat[0], TorchDtype):
            return _recast(tensor, flat[0].name)
        if name not in _SAME:
            return UNKNOWN
    match name:
        case "permute" | "transpose" | "t" | "mT" | "swapaxes" | "moveaxis":
            return _permuted(tensor, _order(name, flat, words.get("dims"), len(shape)))
        case "contiguous" | "ascontiguousarray":
            return _copy(tensor, shape, row_major(shape))
        case "view" | "reshape":
            if "dtype" in words:
                return _recast(tensor, _dtype(words["dtype"], tensor.dtype))
            return _reshaped(tensor, flat)
        case "flatten":
            return _reshaped(tensor, (-1,))
        case "unsqueeze" if flat:
            at = flat[0] % (len(shape) + 1)
            inserted = shape[at] * stride[at] if at < len(shape) else 1
            return _copy(tensor, (*shape[:at], 1, *shape[at:]), (*stride[:at], inserted, *stride[at:]))
        case "squeeze":
            at = flat[0] % len(shape) if flat else None
            modes = [mode for mode, size in enumerate(shape) if size != 1 or (at is not None and mode != at)]
            return _copy(tensor, tuple(shape[mode] for mode in modes), tuple(stride[mode] for mode in modes))
        case "expand" if len(flat) == len(shape):
            sizes = tuple(old if new == -1 else new for old, new in zip(shape, flat, strict=True))
            strides = tuple(0 if old != new else s for old, new, s in zip(shape, sizes, stride, strict=True))
            return _copy(tensor, sizes, strides)
        case "clone" | "detach":
            return _copy(tensor, shape, stride)
        case "item" | "sum" | "max" | "min" if tensor.dtype.startswith(("i", "u")) and tensor.dtype != "i1":
            return Guess(_FROM_DATA)  # A size that depends on data, such as the longest of some sequences.
        case "tolist" | "item" | "all" | "any" | "equal" | "sum" | "mean" | "max" | "min":
            return UNKNOWN
        case "as_strided" if len(positional) > 1 and isinstance(positional[1], tuple | list):
            return _copy(tensor, flat, tuple(positional[1]))
        case "as_strided":
            return UNKNOWN
        case "new_empty" | "new_zeros" | "new_ones" | "new_full":
            result = _copy(tensor, flat, row_major(flat))
            result.dtype = _dtype(words.get("dtype"), tensor.dtype)
            return result
    return _copy(tensor, shape, stride) if name in _SAME else UNKNOWN


def _copy(tensor: TorchTensor, shape: tuple[int, ...], stride: tuple[int, ...]) -> TorchTensor:
    return TorchTensor(tensor.dtype, shape, stride, tensor.guessed, tensor.where, tensor.host)


def _permuted(tensor: TorchTensor, order: tuple[int, ...]) -> Any:
    layout = permuted(tensor, order)
    return UNKNOWN if layout is None else _copy(tensor, *layout)


def _order(name: str, flat: tuple[Any, ...], dims: Any, rank: int) -> tuple[int, ...]:
    if name == "permute":
        return tuple(dims) if isinstance(dims, tuple | list) else flat
    if name == "moveaxis" and len(flat) == 2:
        rest = [mode for mode in range(rank) if mode != flat[0] % rank]
        rest.insert(flat[1] % rank, flat[0] % rank)
        return tuple(rest)
    first, second = (flat[0] % rank, flat[1] % rank) if len(flat) == 2 else (rank - 2, rank - 1)
    order = list(range(rank))
    if rank > 1:
        order[first], order[second] = order[second], order[first]
    return tuple(order)


def _reshaped(tensor: TorchTensor, sizes: tuple[int, ...]) -> Any:
    assert tensor.shape is not None
    known = math.prod(size for size in sizes if size != -1)
    total = math.prod(tensor.shape)
    shape = tuple(total // known if size == -1 and known else size for size in sizes)
    return _copy(tensor, shape, row_major(shape))


def _recast(tensor: TorchTensor, dtype: str) -> TorchTensor:
    """The same bytes as elements of another type."""
    assert tensor.shape is not None and tensor.stride is not None
    old, new = max(8, width(tensor.dtype)), max(8, width(dtype))
    shape = tuple(
        size * old // new if stride == 1 else size for size, stride in zip(tensor.shape, tensor.stride, strict=True)
    )
    strides = tuple(stride if stride == 1 else stride * old // new for stride in tensor.stride)
    return TorchTensor(dtype, shape, strides, tensor.guessed, tensor.where, tensor.host)


def _moved(tensor: TorchTensor, name: str, positional: Sequence[Any], words: Mapping[str, Any]) -> TorchTensor:
    """A tensor in other memory or with another type."""
    host, dtype = tensor.host, _CASTS.get(name, tensor.dtype)
    if name in ("cuda", "cpu"):
        host = name == "cpu"
    for value in (*positional, *words.values()):
        match value:
            case TorchDtype(name=stated):
                dtype = stated
            case TorchTensor(dtype=stated, host=other):
                dtype, host = stated, other
            case str() | Namespace() if name == "to":
                host = on_host({"device": value}, host)
            case Foreign():
                host = False
    return TorchTensor(dtype, tensor.shape, tensor.stride, tensor.guessed, tensor.where, host)


def _property(tensor: TorchTensor, name: str, positional: Sequence[Any]) -> Any:
    shape, stride = tensor.shape, tensor.stride
    if shape is None or stride is None:
        return ForeignMethod(tensor, "shape") if name == "size" and not positional else UNKNOWN
    at = positional[0] if positional and isinstance(positional[0], int) else None
    match name:
        case "size":
            return shape if at is None else shape[at]
        case "stride":
            return stride if at is None else stride[at]
        case "dim" | "ndimension":
            return len(shape)
        case "dim_order":
            return tuple(sorted(range(len(shape)), key=lambda mode: (-stride[mode], mode)))
        case "numel":
            return math.prod(shape)
        case "element_size":
            return max(1, width(tensor.dtype) // 8)
        case "is_contiguous":
            return stride == row_major(shape)
    return UNKNOWN
