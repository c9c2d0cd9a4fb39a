"""A layout: a function from coordinates to offsets, given by a shape and a stride of the same nesting.

The algebra is CuTe's (CUTLASS documentation, "CuTe Layout Algebra"). Offsets are in elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triage.legality.algebra.integers import (
    Integer,
    IntTuple,
    common_divisor,
    congruent,
    is_static,
    leaves,
    modes,
    multiply,
    parse,
    product,
    written,
)
from triage.model.errors import InputError

SOURCE = "CUTLASS documentation, CuTe: layouts and layout algebra"


@dataclass(frozen=True, slots=True)
class StridedLayout:
    """``shape:stride``. Raises InputError where they are not nested alike, and for an extent under 1."""

    shape: IntTuple
    stride: IntTuple

    def __post_init__(self) -> None:
        if not congruent(self.shape, self.stride):
            raise InputError(f"shape {written(self.shape)} and stride {written(self.stride)} are not nested alike")
        if not self.flat or any(isinstance(extent, int) and extent < 1 for extent, _ in self.flat):
            raise InputError(f"shape {written(self.shape)}: extents are 1 or more")

    def __str__(self) -> str:
        return f"{written(self.shape)}:{written(self.stride)}"

    def __getitem__(self, index: int) -> StridedLayout:
        """A mode."""
        return StridedLayout(modes(self.shape)[index], modes(self.stride)[index])

    def __iter__(self) -> Iterator[StridedLayout]:
        """The modes."""
        return iter([self[index] for index in range(self.rank)])

    @property
    def rank(self) -> int:
        """The number of modes: 1 for an integer shape."""
        return len(modes(self.shape))

    @property
    def size(self) -> Integer:
        """The number of coordinates."""
        return product(self.shape)

    @property
    def static(self) -> bool:
        """Whether shape and stride are known while compiling."""
        return is_static(self.shape) and is_static(self.stride)

    @property
    def flat(self) -> tuple[tuple[Integer, Integer], ...]:
        """Extent and stride of every integer mode."""
        return tuple(zip(leaves(self.shape), leaves(self.stride), strict=True))

    @property
    def step(self) -> int:
        """The greatest known divisor of all offsets; 0 where the only offset is 0."""
        return common_divisor(stride for extent, stride in self.flat if extent != 1)

    def offset(self, coordinate: int) -> int:
        """The offset of a coordinate, counted with the first mode fastest. Raises ValueError for a dynamic layout, but
        where only the last extent is dynamic."""
        offset = 0
        flat = self.flat
        for position, (extent, stride) in enumerate(flat):
            last = position == len(flat) - 1
            if not isinstance(stride, int) or not (isinstance(extent, int) or last):
                raise ValueError(f"{self} is dynamic")
            offset += (coordinate if last or not isinstance(extent, int) else coordinate % extent) * stride
            coordinate = coordinate if not isinstance(extent, int) else coordinate // extent
        return offset

    def cosize(self) -> int:
        """One more than the largest offset. Raises ValueError for a dynamic layout."""
        reached = 0
        for extent, stride in self.flat:
            if not (isinstance(extent, int) and isinstance(stride, int)):
                raise ValueError(f"{self} is dynamic")
            reached += (extent - 1) * abs(stride)
        return 1 + reached


def read(text: str) -> StridedLayout:
    """A layout as written: ``(64,128):(128,1)``; a shape alone is compact, first mode fastest. Raises InputError."""
    shape, colon, stride = text.partition(":")
    if colon:
        return StridedLayout(parse(shape), parse(stride))
    return compact(parse(shape))


def compact(shape: IntTuple) -> StridedLayout:
    """The layout without gaps whose first mode is contiguous."""
    stride, _ = _compact(shape, 1)
    return StridedLayout(shape, stride)


def _compact(shape: IntTuple, start: Integer) -> tuple[IntTuple, Integer]:
    if not isinstance(shape, tuple):
        return start if shape != 1 else 0, multiply(start, shape)
    strides = []
    for part in shape:
        stride, start = _compact(part, start)
        strides.append(stride)
    return tuple(strides), start


def join(*layouts: StridedLayout) -> StridedLayout:
    """The layout whose modes are these."""
    return StridedLayout(tuple(layout.shape for layout in layouts), tuple(layout.stride for layout in layouts))
