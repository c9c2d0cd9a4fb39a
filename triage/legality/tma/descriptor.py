"""Triton's constraints on tensor descriptors, and the boxes that it makes of a block.

In the kernel ``tl.make_tensor_descriptor`` refuses what it can see while it compiles (triton/language/semantic.py).
On the host ``TensorDescriptor`` checks the tensor (triton/tools/tensor_descriptor.py), and the block's contiguous axis
is seen by the driver alone: ``tensordesc<fp16[64,4]>`` compiles, and fails when its map is encoded. Up to 8.x there is
no TMA, and a descriptor made in the kernel becomes plain loads.

A block may be wider than a box. Triton cuts the contiguous axis to the swizzle's span and every other to 256, and has
each warp move boxes in turn (lib/Dialect/TritonNvidiaGPU/Transforms/TMAUtilities.cpp); tests read boxes and swizzles
back from what kernels write into their maps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.tma.tensor_map import MAX_BOX, MAX_RANK, UNIT, contiguous
from triage.legality.violation import Violation, nearest, powers, refuse

DEVICE = "triton/language/semantic.py: make_tensor_descriptor"
HOST = "triton/tools/tensor_descriptor.py: TensorDescriptor"
_MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Boxes:
    """The copies of a block: boxes of this shape (outermost axis first), swizzled (bytes or ``none``), so many."""

    box: tuple[int, ...]
    swizzle: str
    count: int

    def instructions(self, num_warps: int) -> int:
        """Copies that each warp issues."""
        return -(-self.count // num_warps)


def violations(
    *, dtype: str | DType, block: Sequence[int], strides: Sequence[int] | None = None, host: bool = False
) -> list[Violation]:
    """Violations of a descriptor of ``block`` with ``strides`` (elements, outermost first), made in the kernel
    or on the ``host``. Strides that are not constants of the kernel are seen by the driver alone; from 3.9 on constants
    are checked. Raises InputError for an unknown type."""
    known = dtypes.parse(str(dtype))
    source = HOST if host else DEVICE
    broken = []
    ranks = tuple(range(1, MAX_RANK + 1))
    if len(block) not in ranks:
        reason = f"a descriptor has 1 to {MAX_RANK} axes, not {len(block)}"
        return [refuse("tma.rank", len(block), ranks, source, reason, parameter="block")]
    for axis, size in enumerate(block):
        if size <= 0 or size & (size - 1):
            near = tuple((*block[:axis], power, *block[axis + 1 :]) for power in nearest(size, powers(1024)))
            reason = f"axis {axis} of the block is {size}: not a power of two"
            broken.append(refuse("tma.block", tuple(block), near, source, reason, near))
    if math.prod(block) > _MOST_ELEMENTS:
        reason = f"the block has {math.prod(block)} elements: at most {_MOST_ELEMENTS}"
        broken.append(refuse("tma.block", tuple(block), (), source, reason))
    row = block[-1] * known.bits // 8
    if row < UNIT and not host:
        near = ((*block[:-1], UNIT * 8 // known.bits),)
        reason = f"a row of the block is {block[-1]} x {known.bits} bits = {row} bytes: at least {UNIT}"
        broken.append(refuse("tma.block-row", tuple(block), near, source, reason, near, parameter="block"))
    if strides is not None:
        broken += _strides(tuple(strides), len(block), known, source)
    return broken


def _strides(strides: tuple[int, ...], rank: int, dtype: DType, source: str) -> list[Violation]:
    if len(strides) != rank:
        reason = f"{len(strides)} strides for {rank} axes"
        return [refuse("tma.strides", strides, (), source, reason)]
    broken = contiguous(strides, source)
    for stride in strides[:-1]:
        size = stride * dtype.bits // 8
        if size % UNIT:
            reason = f"a stride of {stride} x {dtype.bits} bits = {size} bytes: it must be a multiple of {UNIT}"
            broken.append(refuse("tma.strides", strides, (), source, reason))
    return broken


def boxes(dtype: str | DType, block: Sequence[int]) -> Boxes:
    """The boxes that Triton makes of a legal block where nothing but copies uses it: an operand of a matrix instruction
    may ask for another swizzle. Raises InputError for an unknown type."""
    known = dtypes.parse(str(dtype))
    row = block[-1] * known.bits // 8
    # A swizzle repeats after eight lines: fewer rows get none.
    span = next((span for span in (128, 64, 32) if row >= span), 0) if math.prod(block[:-1]) >= 8 else 0
    widest = span * 8 // known.bits if span else MAX_BOX
    box = (*(min(size, MAX_BOX) for size in block[:-1]), min(block[-1], widest, MAX_BOX))
    count = math.prod(-(-size // part) for size, part in zip(block, box, strict=True))
    return Boxes(box, str(span) if span else "none", count)
