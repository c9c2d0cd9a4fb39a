"""Swizzles, and layouts that one is applied to.

``S<B,M,S>`` exchanges the B bits of an offset from bit M on by themselves XORed with the B bits that lie S higher
(CUTLASS, ``include/cute/swizzle.hpp``). A layout composed with one has no strides of its own; fixing some coordinates
leaves a plain layout where no two exchanged bits remain free, with strides that depend on those coordinates
(``include/cute/swizzle_layout.hpp``).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from triage.legality.algebra.integers import DynamicInteger, Integer
from triage.legality.algebra.layout import StridedLayout
from triage.legality.algebra.operations import NotDivisible, composition
from triage.model.errors import InputError

_MOST_BITS = 64


@dataclass(frozen=True, slots=True)
class Swizzle:
    """``bits`` exchanged bits, from bit ``base`` on, by those ``shift`` above. Raises InputError for negative numbers,
    and where the two groups overlap."""

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if min(self.bits, self.base) < 0 or self.shift < self.bits or self.base + self.shift + self.bits > _MOST_BITS:
            raise InputError(f"{self}: S is at least B, none is negative, and they end within {_MOST_BITS} bits")

    def __str__(self) -> str:
        return f"S<{self.bits},{self.base},{self.shift}>"

    @property
    def low(self) -> int:
        """The mask of the bits that are exchanged."""
        return ((1 << self.bits) - 1) << self.base

    @property
    def high(self) -> int:
        """The mask of the bits that they are exchanged by."""
        return self.low << self.shift

    def apply(self, offset: int) -> int:
        """Where the swizzle puts an offset."""
        return offset ^ ((offset & self.high) >> self.shift)

    @property
    def _extents(self) -> tuple[int, ...]:
        return (1 << self.base, 1 << self.bits, 1 << (self.shift - self.bits), 1 << self.bits, 1)

    def exchanged(self) -> StridedLayout:
        """The layout that keeps both groups of bits of an offset alone."""
        return StridedLayout(self._extents, (0, 1 << self.base, 0, 1 << (self.base + self.shift), 0))

    def untouched(self) -> StridedLayout:
        """The layout that keeps all other bits."""
        end = self.base + self.shift + self.bits
        return StridedLayout(self._extents, (1 if self.base else 0, 0, 1 << (self.base + self.bits), 0, 1 << end))


def sliced(swizzle: Swizzle, fixed: StridedLayout, free: StridedLayout) -> tuple[int, StridedLayout | None]:
    """A swizzled layout whose modes ``fixed`` are at a coordinate that is known when the kernel runs: the known divisor
    of the offset of that coordinate, and the layout of the modes that stay, None where it is swizzled still.

    Raises NotDivisible where a mode mixes exchanged bits with others.
    """
    if swizzle.bits == 0:
        return fixed.step, free
    if not fixed.static or not free.static:
        raise NotDivisible(f"{swizzle} of a layout with dynamic strides")
    untouched = composition(swizzle.untouched(), fixed)
    exchanged = composition(swizzle.exchanged(), fixed)
    remaining = composition(swizzle.exchanged(), free)
    active = remaining.offset(int(str(remaining.size)) - 1)
    if active & ~swizzle.apply(active):
        # The exchanged part of the offset stays inside, where it moves no pointer.
        return untouched.step, None
    reached = _bits(exchanged)
    moved = reached | (reached & swizzle.high) >> swizzle.shift
    return gcd(untouched.step, moved & -moved), composition(_strided(swizzle, reached), free)


def _strided(swizzle: Swizzle, dynamic: int) -> StridedLayout:
    """The swizzle as a layout of single bits, where ``dynamic`` are the bits of the offset that are not known."""
    lows: list[Integer] = []
    highs: list[Integer] = []
    for bit in range(swizzle.base, swizzle.base + swizzle.bits):
        low, high = 1 << bit, 1 << (bit + swizzle.shift)
        lows.append(DynamicInteger(low) if dynamic & high else low)
        highs.append(DynamicInteger(low) if dynamic & low else low + high)
    end = swizzle.base + swizzle.shift + swizzle.bits
    between = 1 << (swizzle.shift - swizzle.bits)
    pairs = (2,) * swizzle.bits
    shape = (1 << swizzle.base, pairs, between, pairs, 1)
    return StridedLayout(shape, (1, tuple(lows), 1 << (swizzle.base + swizzle.bits), tuple(highs), 1 << end))


def _bits(layout: StridedLayout) -> int:
    """The bits of the offsets of a layout of which extents and strides are powers of two. Raises NotDivisible."""
    mask = 0
    for extent, stride in layout.flat:
        if extent == 1 or stride == 0:
            continue
        if not (isinstance(extent, int) and isinstance(stride, int)) or extent & (extent - 1) or stride & (stride - 1):
            raise NotDivisible(f"{layout} in a swizzle: extents and strides are powers of two")
        mask |= extent * stride - stride
    return mask
