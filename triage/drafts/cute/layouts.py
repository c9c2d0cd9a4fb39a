"""Shapes and strides of tensors, and what the DSL's marks make dynamic of them. Pure.

How the DSL marks them was read off its own types on 4.8.1: ``cutlass/cute/runtime.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triage.drafts.cute.values import CuteTensor, TorchTensor
from triage.harness.worker.cute.grammar import Dynamic, width


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a contiguous tensor."""
    strides: list[int] = []
    reach = 1
    for extent in reversed(shape):
        strides.append(reach)
        reach *= extent
    return tuple(reversed(strides))


def permuted(tensor: TorchTensor, order: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Shape and strides with the dimensions in another order; None for a tensor without that many."""
    if tensor.shape is None or tensor.stride is None or len(order) != len(tensor.shape):
        return None
    rank = len(order)
    return tuple(tensor.shape[at % rank] for at in order), tuple(tensor.stride[at % rank] for at in order)


def leading_dimension(tensor: CuteTensor) -> int | None:
    """The only dimension with stride 1, or of several the only one of more than one element."""
    unit = [mode for mode, stride in enumerate(tensor.stride) if stride == 1]
    if len(unit) > 1:
        unit = [mode for mode in unit if tensor.shape[mode] != 1]
    return unit[0] if len(unit) == 1 else None


def mark_layout_dynamic(tensor: CuteTensor, leading: int | None) -> None:
    """All extents and strides become dynamic, but for the stride of the leading dimension."""
    leading = leading_dimension(tensor) if leading is None else leading % len(tensor.shape)
    tensor.shape = tuple(extent if isinstance(extent, Dynamic) else Dynamic() for extent in tensor.shape)
    tensor.stride = tuple(1 if mode == leading else Dynamic() for mode in range(len(tensor.shape)))


def mark_compact_shape_dynamic(tensor: CuteTensor, mode: int, order: Sequence[int] | None, divisibility: int) -> None:
    """One extent becomes dynamic, and with it the strides of the dimensions outside of it, whose divisor is the product
    of the extents and divisors inside of them."""
    mode %= len(tensor.shape)
    shape = list(tensor.shape)
    shape[mode] = Dynamic(divisibility)
    tensor.stride = compact(shape, order if order is not None else stride_order(tensor))
    tensor.shape = tuple(shape)


def stride_order(tensor: CuteTensor) -> tuple[int, ...]:
    """The dimensions from the outermost to the innermost."""

    def outer_first(mode: int) -> tuple[bool, int, int]:
        stride = tensor.stride[mode]
        return isinstance(stride, int), -stride if isinstance(stride, int) else 0, mode

    return tuple(sorted(range(len(tensor.shape)), key=outer_first))


def compact(shape: Sequence[Any], order: Sequence[int]) -> tuple[Any, ...]:
    """Strides of a tensor without gaps. ``order``: its dimensions from the outermost to the innermost."""
    strides: list[Any] = [1] * len(shape)
    reach, dynamic = 1, False
    for mode in reversed(order):
        strides[mode] = Dynamic(reach) if dynamic else reach
        extent = shape[mode]
        dynamic = dynamic or isinstance(extent, Dynamic)
        reach *= extent.divisor if isinstance(extent, Dynamic) else extent
    return tuple(strides)


def of_dlpack(tensor: TorchTensor, align: int | None) -> CuteTensor | None:
    """What ``from_dlpack`` makes of a tensor; None for one of unknown dimensions."""
    if tensor.shape is None or tensor.stride is None:
        return None
    space = "generic" if tensor.host else "gmem"
    dtype = "u8" if tensor.dtype == "i1" else tensor.dtype
    return CuteTensor(
        dtype, tensor.shape, tensor.stride, space, align or max(1, width(dtype) // 8), tensor.guessed, tensor.where
    )
