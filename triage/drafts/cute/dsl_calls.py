"""What functions of the DSL's host side return: tensors, pointers, types, properties of the GPU."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triage.drafts.cute import layouts
from triage.drafts.cute.layouts import compact, of_dlpack, row_major
from triage.drafts.cute.torch_calls import multiprocessors
from triage.drafts.cute.values import (
    DTYPE_NAMES,
    UNKNOWN,
    CuteTensor,
    ElementType,
    ForeignMethod,
    Guess,
    Namespace,
    PointerValue,
    StreamValue,
    TorchDtype,
    TorchTensor,
    TypedNumber,
)
from triage.drafts.host.values import Foreign
from triage.frontends.cute_host import STREAMS
from triage.harness.worker.cute.grammar import Dynamic
from triage.model import gpus
from triage.model.target import Target

_STREAMS = STREAMS | {"current_stream", "default_stream", "make_fake_stream"}
SPACES = ("gmem", "generic", "smem", "tmem", "rmem")
_ALIGNED = 16
"""Bytes to which the helpers of ``cutlass.torch`` align; torch's allocator aligns to more."""


def attribute(name: str) -> Any:
    """The type of elements that a dotted name of ``cutlass`` is; None for another."""
    last = name.rpartition(".")[2]
    if last == "WARP_SIZE":
        return 32
    return ElementType(DTYPE_NAMES[last]) if last in DTYPE_NAMES else None


def function(name: str, positional: Sequence[Any], words: Mapping[str, Any], target: Target, where: str) -> Any:
    """The result of a function of the DSL, by the last part of its name: it is exported at several places."""
    last = name.rpartition(".")[2]
    if last in _PROPERTIES:
        return _property(last, positional, words, target)
    call = _FUNCTIONS.get(last)
    if call is None:
        return StreamValue() if last in _STREAMS else UNKNOWN
    try:
        return call(list(positional), dict(words), where)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        return UNKNOWN


def _argument(positional: Sequence[Any], words: Mapping[str, Any], at: int, name: str, default: Any = None) -> Any:
    return positional[at] if at < len(positional) else words.get(name, default)


def _from_dlpack(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    tensor, align = _argument(positional, words, 0, "tensor_dlpack"), _argument(positional, words, 1, "assumed_align")
    if isinstance(tensor, CuteTensor):
        return tensor
    if not isinstance(tensor, TorchTensor):
        return UNKNOWN
    converted = of_dlpack(tensor, _align(align))
    return UNKNOWN if converted is None else converted


def _space(value: Any, default: str) -> str:
    last = value.last if isinstance(value, Foreign) else ""
    return last if last in SPACES else default


def _align(value: Any) -> int | None:
    return int(value) if isinstance(value, int) else None


def _make_ptr(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    dtype, align = positional[0], _argument(positional, words, 3, "assumed_align")
    space = _argument(positional, words, 2, "mem_space")
    return PointerValue(dtype.name, _space(space, "generic"), _align(align))


def _nullptr(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    return _make_ptr([positional[0], 0, *positional[1:]], words, where)


def _fake_tensor(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    dtype, shape = positional[0], _argument(positional, words, 1, "shape")
    stride, align = _argument(positional, words, 2, "stride"), _align(words.get("assumed_align"))
    return CuteTensor(
        dtype.name, _flat(shape), _flat(stride), _space(words.get("memspace"), "gmem"), align, dtype.guessed, where
    )


def _fake_compact_tensor(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    dtype, shape = positional[0], _flat(_argument(positional, words, 1, "shape"))
    ranks = words.get("stride_order") or tuple(range(len(shape)))
    order = tuple(sorted(range(len(shape)), key=lambda mode: -ranks[mode]))
    align = _align(words.get("assumed_align"))
    space = _space(words.get("memspace"), "gmem")
    return CuteTensor(dtype.name, shape, compact(shape, order), space, align, dtype.guessed, where)


def _flat(extents: Any) -> tuple[Any, ...]:
    if isinstance(extents, list | tuple) and all(isinstance(each, int | Dynamic | list | tuple) for each in extents):
        return tuple(_flat(each) if isinstance(each, list | tuple) else each for each in extents)
    raise ValueError(extents)


def _symbol(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    divisor = words.get("divisibility", positional[0] if positional and positional[0] not in (32, 64) else 1)
    return Dynamic(divisor) if isinstance(divisor, int) else Dynamic()


def _torch_dtype(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cutlass.torch.dtype`` of a type of the DSL; ``cutlass.dtype`` of its name."""
    match positional[0]:
        case ElementType(name=name, guessed=guessed):
            return TorchDtype(name, guessed)
        case str() as text:
            return ElementType(DTYPE_NAMES[text])
    return UNKNOWN


def _permuted_tensor(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cutlass.torch.create_and_permute_torch_tensor(shape, dtype, permute_order)``."""
    shape, dtype = positional[0], _argument(positional, words, 1, "dtype")
    order = _argument(positional, words, 2, "permute_order")
    host = words.get("device") is None
    tensor = TorchTensor(dtype.name, tuple(shape), row_major(shape), any(map(_is_guess, shape)), where, host)
    layout = layouts.permuted(tensor, order) if order is not None else (tensor.shape, tensor.stride)
    if layout is None:
        raise ValueError(order)
    tensor.shape, tensor.stride = layout
    return tensor


def _make_layout(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cute.make_layout(shape, stride)``: without strides the first dimension is the innermost."""
    shape = positional[0] if isinstance(positional[0], tuple | list) else (positional[0],)
    stride = _argument(positional, words, 1, "stride")
    if isinstance(stride, int | Dynamic):
        stride = (stride,)
    strides = _flat(stride) if stride is not None else compact(_flat(shape), range(len(shape) - 1, -1, -1))
    return Namespace({"shape": _flat(shape), "stride": strides})


def _select(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cute.select(layout, mode)``."""
    modes = _argument(positional, words, 1, "mode")
    layout = positional[0]
    if isinstance(layout, tuple):
        return tuple(layout[mode] for mode in modes)
    return Namespace({name: tuple(layout.attributes[name][mode] for mode in modes) for name in ("shape", "stride")})


def _make_tensor(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cute.make_tensor(iterator, layout)``."""
    pointer, layout = positional[0], _argument(positional, words, 1, "layout")
    shape, stride = layout.attributes["shape"], layout.attributes["stride"]
    return CuteTensor(pointer.dtype, shape, stride, pointer.space, pointer.align, False, where)


def _matrix(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cutlass.torch.matrix(l, mode0, mode1, is_mode0_major, cutlass_dtype)``."""
    names = ("l", "mode0", "mode1", "is_mode0_major", "cutlass_dtype")
    batch, first, second, major, dtype = (_argument(positional, words, at, name) for at, name in enumerate(names))
    shape = (batch, second, first) if major else (batch, first, second)
    order = (2, 1, 0) if major else (1, 2, 0)
    name = "i8" if dtype.name.startswith("f") and dtype.bits <= 8 else dtype.name
    return _permuted_tensor([shape, TorchDtype(name), order], {"device": words.get("device")}, where)


def _cute_tensor_like(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cutlass.torch.cute_tensor_like(data_ref, cutlass_dtype, is_dynamic_layout, assumed_align)``."""
    names = ("data_ref", "cutlass_dtype", "is_dynamic_layout", "assumed_align")
    data, dtype, dynamic, align = (_argument(positional, words, at, name) for at, name in enumerate(names))
    copied = TorchTensor(dtype.name, data.shape, data.stride, data.guessed, data.where)
    tensor = of_dlpack(TorchTensor(_stored(dtype), data.shape, data.stride, data.guessed, data.where), _align(align))
    if tensor is None:
        raise ValueError(data)
    tensor.dtype = dtype.name
    if dynamic:
        layouts.mark_layout_dynamic(tensor, None)
    return tensor, copied


def _tensor_for_fp8(positional: list[Any], words: dict[str, Any], where: str) -> Any:
    """``cutlass.utils.create_cute_tensor_for_fp8(storage_tensor, dtype, leading_dim)``."""
    dtype, leading = _argument(positional, words, 1, "dtype"), _argument(positional, words, 2, "leading_dim")
    tensor = of_dlpack(positional[0], _align(_argument(positional, words, 4, "assumed_align", _ALIGNED)))
    if tensor is None:
        raise ValueError(positional)
    tensor.dtype = dtype.name
    if _argument(positional, words, 5, "is_dynamic_layout", True):
        layouts.mark_layout_dynamic(tensor, leading)
    return tensor


def _stored(dtype: ElementType) -> str:
    """The type of torch that holds elements of a type of the DSL."""
    return "u8" if dtype.bits <= 8 else dtype.name


def _is_guess(value: Any) -> bool:
    return isinstance(value, Guess)


def _property(last: str, positional: Sequence[Any], words: Mapping[str, Any], target: Target) -> Any:
    """A property of the GPU."""
    if last == "get_smem_capacity_in_bytes":
        stated = _argument(positional, words, 0, "compute_capability")
        named = re.sub(r"\D", "", stated) if isinstance(stated, str) else target.arch
        row = gpus.architecture("cuda", named)
        return row.block.shared_bytes if row is not None and row.block is not None else UNKNOWN
    size = _argument(positional, words, 0, "cluster_size", 1) if last == "get_max_active_clusters" else 1
    return Guess(multiprocessors(target) // max(1, size if isinstance(size, int) else 1))


_PROPERTIES = frozenset(
    {"get_smem_capacity_in_bytes", "get_max_active_clusters", "get_device_multiprocessor_count", "get_num_sms"}
)


_FUNCTIONS: dict[str, Callable[[list[Any], dict[str, Any], str], Any]] = {
    "from_dlpack": _from_dlpack,
    "make_ptr": _make_ptr,
    "nullptr": _nullptr,
    "make_fake_tensor": _fake_tensor,
    "make_fake_compact_tensor": _fake_compact_tensor,
    "sym_int": _symbol,
    "sym_int32": _symbol,
    "sym_int64": _symbol,
    "SymInt": _symbol,
    "dtype": _torch_dtype,
    "create_and_permute_torch_tensor": _permuted_tensor,
    "matrix": _matrix,
    "is_fp8_dtype": lambda positional, words, where: positional[0].name in ("f8e5m2", "f8e4m3"),
    "create_cute_tensor_for_fp8": _tensor_for_fp8,
    "make_layout": _make_layout,
    "select": _select,
    "make_tensor": _make_tensor,
    "cute_tensor_like": _cute_tensor_like,
    "convert_cute_tensor": lambda positional, words, where: positional[1],
    "get_leading_dim": lambda positional, words, where: positional[0].stride.index(1),
    "HardwareInfo": lambda positional, words, where: Foreign("cutlass.utils.HardwareInfo"),
    "ceil_div": lambda positional, words, where: -(-positional[0] // positional[1]),
    "round_up": lambda positional, words, where: -(-positional[0] // positional[1]) * positional[1],
    "CUstream": lambda positional, words, where: StreamValue(),
    "size_in_bytes": lambda positional, words, where: math.prod(positional[1]) * positional[0].bits // 8,
}


def dtype_attribute(dtype: ElementType, name: str) -> Any:
    """An attribute of a type of elements."""
    match name:
        case "width":
            return dtype.bits
        case "is_float":
            return "f" in dtype.name
        case "is_integer":
            return "f" not in dtype.name
        case "signed":
            return not dtype.name.startswith("u")
        case "__name__":
            return next(name for name, short in DTYPE_NAMES.items() if short == dtype.name)
    return ForeignMethod(dtype, name)


def dtype_method(dtype: ElementType, name: str, positional: Sequence[Any]) -> Any:
    """The result of a method of a type of elements."""
    if name == "is_same_kind" and positional and isinstance(positional[0], ElementType):
        return ("f" in dtype.name) == ("f" in positional[0].name)
    return UNKNOWN


def typed(dtype: ElementType, positional: Sequence[Any]) -> TypedNumber:
    """``cutlass.Int32(4)``."""
    value = positional[0] if positional else 0
    return TypedNumber(dtype.name, value.value if isinstance(value, TypedNumber) else value)


def tensor_attribute(tensor: CuteTensor, name: str) -> Any:
    """An attribute of a tensor of the DSL."""
    match name:
        case "element_type" | "dtype":
            return ElementType(tensor.dtype, tensor.guessed)
        case "shape":
            return tensor.shape
        case "stride":
            return tensor.stride
        case "memspace":
            return Foreign(f"cute.AddressSpace.{tensor.space}")
        case "iterator":
            return PointerValue(tensor.dtype, tensor.space, tensor.align)
        case "layout":
            return Namespace({"shape": tensor.shape, "stride": tensor.stride})
    return ForeignMethod(tensor, name)


def method(tensor: CuteTensor, name: str, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
    """The result of a method of a tensor of the DSL: marks change it, and return it."""
    if name == "mark_layout_dynamic":
        leading = _argument(positional, words, 0, "leading_dim")
        layouts.mark_layout_dynamic(tensor, leading if isinstance(leading, int) else None)
        return tensor
    if name == "mark_compact_shape_dynamic":
        mode = _argument(positional, words, 0, "mode", 0)
        order = _argument(positional, words, 1, "stride_order")
        divisor = _argument(positional, words, 2, "divisibility", 1)
        if isinstance(mode, int) and isinstance(divisor, int):
            known = order if isinstance(order, tuple | list) and all(isinstance(each, int) for each in order) else None
            layouts.mark_compact_shape_dynamic(tensor, mode, known, divisor)
        return tensor
    return UNKNOWN
