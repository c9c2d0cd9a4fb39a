"""Checks whether the driver encodes a tensor map.

CUDA Driver API, cuTensorMapEncodeTiled (im2col: cuTensorMapEncodeIm2col): the driver answers "invalid value" to what is
refused here, and does not say which value. ``tests/gpu/tma_encode.py`` compares the two on a machine with a driver.

Where the driver (13.0, on an H200) and its documents differ, this follows the driver: a box may not be larger than the
shared memory of an SM, which is not documented; a row of the box is a multiple of 16 bytes with an interleave as well;
interleave 32 goes with any swizzle; the step of the contiguous axis is checked though it is not used.

Axes are in the order in which Triton writes them, outermost first: the last is the contiguous one, which the driver
calls dimension 0. Strides are in elements, as in Triton; the driver takes bytes.
"""

from collections.abc import Sequence
from math import prod

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.limits import architecture, multiprocessor
from triage.legality.tma import copy
from triage.legality.tma.types import IM2COL, INTERLEAVES, MAP, MOVABLE, PACKED, SWIZZLES, Element, element
from triage.legality.violation import Violation, nearest, refuse, require, spoken
from triage.model.target import Target

MAX_RANK = 5
MAX_BOX = 256
MAX_PIXELS = 1024
"""Limit of an im2col column."""
MAX_DIM = 1 << 32
MAX_STRIDE_BYTES = 1 << 40
MAX_STEP = 8
_SM = multiprocessor(Target("cuda", "90"))
assert _SM is not None
MAX_BOX_BYTES = _SM.shared_bytes
"""Shared memory of an SM, the same on 10.0; it includes 1 KiB a block that is reserved by the system."""
UNIT = 16
"""Minimum bytes of a copy; addresses, strides and rows of a box are multiples of it."""
MODES = ("tile", "gather4", "scatter4", "im2col", "im2col_w", "im2col_w_128")


def violations(
    *,
    dtype: str | DType,
    box: Sequence[int],
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    swizzle: str = "none",
    interleave: str = "none",
    base_alignment: int = UNIT,
    steps: Sequence[int] | None = None,
    mode: str = "tile",
    padded: bool = False,
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of a tensor map and of the mode of the copies that use it; empty when it is legal.

    ``box``, ``shape``, ``strides`` and ``steps`` (traversal strides, the driver's elementStrides) are in elements, one
    an axis, outermost first; the last stride is 1, because the driver has no stride for the contiguous axis. In the
    im2col modes ``box`` is (pixels a column, channels a pixel) and ``shape`` gives the rank. ``swizzle`` and
    ``interleave`` in bytes, or ``none``; ``base_alignment`` of the tensor in bytes; ``padded`` spreads 4-bit elements
    over bytes. ``target`` as Triton or PTX spells it; without it the target is not checked. Nothing raises: an unknown
    name is a violation.
    """
    known = dtypes.find(str(dtype))
    row = element(known, padded) if known else None
    broken = [*_names(swizzle, interleave, mode), *copy.mode_violations(mode, target)]
    if row is None:
        reason = f"no tensor map has elements of {dtype}" if known else f"{dtype} is not an element type"
        broken.append(refuse("tma.dtype", str(dtype), MOVABLE, MAP, reason, ()))
    elif row in PACKED and target is not None and 0 < architecture(target)[0] < 100:
        reason = f"{target} has no packed {row.bits}-bit elements: they come with 10.0"
        broken.append(refuse("tma.dtype", str(dtype), (), MAP, reason))
    slices = interleave in ("16", "32")
    im2col = mode.startswith("im2col")
    rank = len(box) if not im2col else len(shape) if shape is not None else None
    broken += _rank(rank, mode, slices)
    broken += _box(tuple(box), mode, _rows(row, swizzle, interleave))
    if row is not None and interleave in INTERLEAVES and swizzle in SWIZZLES:
        broken += _inner(row, tuple(box), swizzle, interleave, im2col)
        if mode == "tile" and box:
            broken += _bytes(row, tuple(box), steps)
        broken += _tensor(row, shape, strides, interleave, base_alignment)
    if rank is not None:
        broken += _lengths(rank, shape=shape, strides=strides, steps=steps)
    for axis, step in enumerate(steps or ()):
        if not 1 <= step <= MAX_STEP:
            allowed = tuple(range(1, MAX_STEP + 1))
            reason = f"axis {axis} is traversed in steps of {step}: 1 to {MAX_STEP}"
            broken.append(refuse("tma.steps", tuple(steps or ()), allowed, MAP, reason, nearest(step, allowed)))
    return broken


def _names(swizzle: str, interleave: str, mode: str) -> list[Violation]:
    broken = []
    for parameter, value, allowed in (
        ("swizzle", swizzle, tuple(SWIZZLES)),
        ("interleave", interleave, tuple(INTERLEAVES)),
        ("mode", mode, MODES),
    ):
        reason = f"{parameter} {value!r} is not one of {spoken(allowed)}"
        broken += require(f"tma.{parameter}", value, allowed, MAP, reason, ())
    if interleave in ("16", "32") and mode in ("gather4", "scatter4", "im2col_w", "im2col_w_128"):
        reason = f"{mode} has no interleaved layout"
        broken.append(refuse("tma.interleave", interleave, ("none",), copy.TENSORS, reason))
    return broken


def _rank(rank: int | None, mode: str, slices: bool) -> list[Violation]:
    if rank is None:
        return []
    allowed: Sequence[int] = range(1, MAX_RANK + 1)
    why = "a tensor map has 1 to 5 axes"
    if mode in ("gather4", "scatter4"):
        allowed, why = (2,), f"{mode} moves rows of a matrix"
    elif mode.startswith("im2col"):
        allowed, why = (3, 4, 5), "an image batch has 3 to 5 axes"
    elif slices:
        allowed, why = (3, 4, 5), "an interleaved layout has 3 to 5 axes"
    return require("tma.rank", rank, allowed, MAP, f"{why}, not {rank}")


def _rows(row: Element | None, swizzle: str, interleave: str) -> Sequence[int]:
    """The numbers of elements that the contiguous axis of a box may have."""
    if row is None:
        return range(1, MAX_BOX + 1)
    if row.padded:
        return (row.only_box,)
    # Slices of an interleave are swizzled one by one, so a row may be wider than the span.
    span, unit = SWIZZLES.get(swizzle, 0) if interleave == "none" else 0, UNIT * 8 // row.bits
    return range(unit, min(span * 8 // row.bits if span else MAX_BOX, MAX_BOX) + 1, unit)


def _box(box: tuple[int, ...], mode: str, rows: Sequence[int]) -> list[Violation]:
    if mode.startswith("im2col"):
        if len(box) != 2:
            reason = f"an im2col box is pixels a column x channels a pixel: 2 numbers, not {len(box)}"
            return [refuse("tma.box", box, (), IM2COL, reason)]
        limits: tuple[int, ...] = (MAX_PIXELS, MAX_BOX)
    else:
        limits = (MAX_BOX,) * len(box)
    broken = []
    for axis, (size, most) in enumerate(zip(box, limits, strict=True)):
        if 1 <= size <= most:
            continue
        last = axis == len(box) - 1
        sizes = nearest(size, rows) if last else (min(max(size, 1), most),)
        shapes = tuple((*box[:axis], extent, *box[axis + 1 :]) for extent in sizes)
        reason = f"axis {axis} of the box is {size}: 1 to {most}"
        source = IM2COL if mode.startswith("im2col") else MAP
        broken.append(refuse("tma.box", box, shapes, source, reason, shapes))
    if mode in ("gather4", "scatter4") and len(box) == 2 and box[0] != 1:
        near = (1, box[1])
        reason = f"{mode} has a box of one row, which it moves four times: {box[0]} rows"
        broken.append(refuse("tma.box", box, (near,), copy.TENSORS, reason))
    return broken


def _inner(row: Element, box: tuple[int, ...], swizzle: str, interleave: str, im2col: bool) -> list[Violation]:
    """The contiguous axis of the box: whole 16-byte units, and within the span of the swizzle."""
    if not box:
        return []
    inner, span = box[-1], SWIZZLES[swizzle] if interleave == "none" else 0
    size = row.span(inner)
    outer = box[:-1]
    source = IM2COL if im2col else MAP
    if row.padded and swizzle not in ("none", "128"):
        reason = f"{row.driver} is swizzled by 128 bytes or not at all, not by {swizzle}"
        return [refuse("tma.swizzle", swizzle, ("none", "128"), source, reason, ("128",))]
    if row.bits == 6 and interleave != "none":
        reason = f"{row.driver} has no interleaved layout"
        return [refuse("tma.interleave", interleave, ("none",), source, reason)]
    rows = _rows(row, swizzle, interleave)
    shapes = tuple((*outer, count) for count in rows)
    closest = tuple((*outer, count) for count in nearest(inner, rows))
    if row.padded:
        reason = f"the contiguous axis of the box is {inner} elements of {row.driver}: it must be {row.only_box}"
        return require("tma.box-inner", box, shapes, source, reason, closest, parameter="box")
    broken = []
    if inner * row.bits % (UNIT * 8):
        reason = f"a row of the box is {inner} x {row.bits} bits = {size} bytes: it must be a multiple of {UNIT}"
        broken.append(refuse("tma.box-inner", box, shapes, source, reason, closest, parameter="box"))
    if span and size > span:
        reason = f"a row of the box is {inner} x {row.bits} bits = {size} bytes, over the {span} of the swizzle"
        broken.append(refuse("tma.swizzle-span", box, shapes, source, reason, closest, parameter="box"))
    return broken


def _bytes(row: Element, box: tuple[int, ...], steps: Sequence[int] | None) -> list[Violation]:
    """Violations by a box larger than the shared memory of an SM; along an axis with a step only every step-th row is
    copied."""
    outer = (*(steps or ()), *(1,) * len(box))[: len(box) - 1]

    def size(of: Sequence[int]) -> int:
        copied = (-(-extent // max(step, 1)) for extent, step in zip(of, (*outer, 1), strict=True))
        return prod(copied) * row.bits // 8

    if not all(1 <= extent <= MAX_BOX for extent in box) or size(box) <= MAX_BOX_BYTES:
        return []
    near = list(box)
    while size(near) > MAX_BOX_BYTES:
        # Any one or two axes fit, so there is an outer one to shrink.
        largest = max(range(len(near) - 1), key=near.__getitem__)
        near[largest] = max(near[largest] * MAX_BOX_BYTES // size(near), 1)
    reason = f"the box of {'x'.join(map(str, box))} is {size(box)} bytes, over the {MAX_BOX_BYTES} of an SM"
    return [refuse("tma.box-bytes", box, (tuple(near),), MAP, reason, (tuple(near),), parameter="box")]


def _tensor(
    row: Element, shape: Sequence[int] | None, strides: Sequence[int] | None, interleave: str, alignment: int
) -> list[Violation]:
    """Base address, sizes and strides of the tensor in global memory."""
    broken = []
    unit = 32 if row.padded or interleave == "32" else UNIT
    why = f" for {row.driver}" if row.padded else " with interleave 32" if interleave == "32" else ""
    if alignment <= 0 or alignment % unit:
        reason = f"the base address is aligned to {alignment} bytes: it must be to {unit}{why}"
        broken.append(refuse("tma.base-alignment", alignment, (unit,), MAP, reason))
    for axis, size in enumerate(shape or ()):
        if not 1 <= size <= MAX_DIM:
            reason = f"axis {axis} of the tensor has {size} elements: 1 to 2^32"
            broken.append(refuse("tma.shape", tuple(shape or ()), (), MAP, reason))
    multiple = 128 if row.padded else 2 if row.bits == 4 else 1
    if shape and shape[-1] % multiple:
        reason = f"the contiguous axis has {shape[-1]} elements of {row.driver}: it must be a multiple of {multiple}"
        broken.append(refuse("tma.shape", tuple(shape), (), MAP, reason))
    broken += contiguous(strides or (), MAP)
    for axis, stride in enumerate((strides or ())[:-1]):
        size, rest = divmod(stride * row.bits, 8)
        if rest or size % unit or not 0 <= size < MAX_STRIDE_BYTES:
            broken.append(_stride(row, tuple(strides or ()), axis, unit, why))
    return broken


def contiguous(strides: Sequence[int], source: str) -> list[Violation]:
    """The violation of a last stride that is not 1."""
    if not strides or strides[-1] == 1:
        return []
    near = (*strides[:-1], 1)
    reason = f"the last stride is {strides[-1]}: the last axis is contiguous, its stride is 1"
    return [refuse("tma.contiguous", tuple(strides), (near,), source, reason, parameter="strides")]


def _stride(row: Element, strides: tuple[int, ...], axis: int, unit: int, why: str) -> Violation:
    stride = strides[axis]
    size = f"{stride * row.bits / 8:.15g}"
    step = unit * 8 // row.bits if unit * 8 % row.bits == 0 else unit * 8
    ceiling = MAX_STRIDE_BYTES * 8 // row.bits
    counts = [count for count in (stride // step * step, -(-stride // step) * step) if 0 <= count < ceiling]
    near = tuple((*strides[:axis], count, *strides[axis + 1 :]) for count in dict.fromkeys(counts))
    reason = f"stride {axis} is {stride} x {row.bits} bits = {size} bytes: "
    reason += f"it must be a multiple of {unit}{why} and under 2^40"
    return refuse("tma.strides", strides, near, MAP, reason, near)


def _lengths(rank: int, **per_axis: Sequence[int] | None) -> list[Violation]:
    return [
        refuse(f"tma.{name}", tuple(values), (), MAP, f"{name} has {len(values)} numbers for {rank} axes")
        for name, values in per_axis.items()
        if values is not None and len(values) != rank
    ]
