"""A tile as a multiple of instructions: what of M x N x K keeps it from being made of whole wgmmas."""

from __future__ import annotations

from collections.abc import Sequence

from triage.legality.violation import Violation, nearest, refuse
from triage.legality.wgmma.layouts import SOURCE, SWIZZLES
from triage.legality.wgmma.types import SHAPES, M

WARPGROUP = 4
"""Warps that issue a wgmma together."""
_ISSUE = "PTX ISA, wgmma: a warpgroup is four contiguous warps, the first with a rank divisible by 4"
WIDEST = 256


def instruction_n(n: int) -> int:
    """The N to judge for a tile: Triton's tiles wider than one instruction (512, 1024) are several of 256."""
    return WIDEST if n > WIDEST and n & (n - 1) == 0 else n


def violations(m: int, k: int, instruction_k: int, num_warps: int) -> list[Violation]:
    """Violations of the sides of a tile and the warps that compute it; N is judged with the instruction.

    ``instruction_k`` is the K of the type's instruction, doubled where A is sparse.
    """
    broken = []
    if m % M or m <= 0:
        near = nearest(m, _multiples(M, m))
        reason = f"M={m} is not a multiple of {M}, the rows of every wgmma; Triton then takes mma.sync"
        broken.append(refuse("wgmma.m", m, near, SHAPES, reason, near))
    if k % instruction_k or k <= 0:
        near = nearest(k, _multiples(instruction_k, k))
        reason = f"K={k} is not a multiple of {instruction_k}, the K of this type's wgmma"
        broken.append(refuse("wgmma.k", k, near, SHAPES, reason, near))
    if num_warps % WARPGROUP or num_warps <= 0:
        allowed = (4, 8, 16, 32)
        reason = f"num_warps={num_warps} makes no warpgroup of {WARPGROUP}; Triton then takes mma.sync"
        near = nearest(num_warps, allowed)[:1]
        broken.append(refuse("wgmma.num-warps", num_warps, allowed, _ISSUE, reason, near))
    return broken


def _multiples(step: int, value: int) -> Sequence[int]:
    """The multiples on both sides of a value."""
    below = max(value // step, 1) * step
    return (below, below + step) if value > step else (step,)


def swizzle_violation(swizzle: int, contiguous_bytes: int, who: str) -> list[Violation]:
    """A swizzle wider than the tile's contiguous dimension, or one that it is not a multiple of."""
    if contiguous_bytes % max(swizzle, 16) == 0:
        return []
    allowed = tuple(width for width in SWIZZLES if contiguous_bytes % max(width, 16) == 0)
    reason = f"a {swizzle}-byte swizzle needs a multiple of {swizzle} contiguous bytes: {who} has {contiguous_bytes}"
    return [refuse("wgmma.swizzle", swizzle, allowed, SOURCE, reason, allowed[:1])]
