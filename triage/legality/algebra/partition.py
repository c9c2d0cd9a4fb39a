"""The share of a thread in a tiled copy: CuTe's ``make_tiled_copy_tv`` and ``partition_S``/``partition_D``."""

from __future__ import annotations

from dataclasses import dataclass

from triage.legality.algebra.integers import product
from triage.legality.algebra.layout import StridedLayout, compact, join
from triage.legality.algebra.operations import (
    NotDivisible,
    coalesce,
    composition,
    raked_product,
    right_inverse,
    zipped_divide,
)


@dataclass(frozen=True, slots=True)
class ThreadValues:
    """Who copies what of a tile. ``tile`` are its extents; ``layout`` maps (thread, value) to the position in it, the
    first extent fastest."""

    tile: tuple[int, ...]
    layout: StridedLayout

    @property
    def threads(self) -> int:
        """Threads that take part."""
        return int(str(self.layout[0].size))


@dataclass(frozen=True, slots=True)
class Share:
    """A thread's part of a tensor. ``values`` is ((of an instruction, instructions), rest of each mode); ``threads``
    gives where each thread's part begins, in elements."""

    threads: StridedLayout
    values: StridedLayout


def thread_values(threads: StridedLayout, values: StridedLayout) -> ThreadValues:
    """Each thread copies ``values`` (coordinate → its order), and threads are arranged as ``threads`` (coordinate →
    thread). Raises NotDivisible, for dynamic layouts too."""
    for layout in (threads, values):
        if not layout.static:
            raise NotDivisible(f"{layout} is dynamic")
    tile = raked_product(threads, values)
    ranks = compact((threads.size, values.size))
    extents = tuple(product(part.shape) for part in tile)
    return ThreadValues(
        tuple(extent for extent in extents if isinstance(extent, int)), composition(right_inverse(tile), ranks)
    )


def share(tensor: StridedLayout, copy: ThreadValues, vector: int) -> Share:
    """A thread's part of a tensor in a copy whose instructions take ``vector`` elements. Raises NotDivisible."""
    unit = (StridedLayout(1, 0), whole(vector))
    within = zipped_divide(copy.layout, unit)
    threads, values = coalesce(within[1][0]), join(coalesce(within[0][1]), coalesce(within[1][1]))
    divided = zipped_divide(tensor, tuple(map(whole, copy.tile)))
    # One mode alone stays in its parentheses, as CuTe has it.
    rest = list(divided[1]) if tensor.rank > 1 else [divided[1]]
    return Share(composition(divided[0], threads), join(composition(divided[0], values), *rest))


def whole(extent: int) -> StridedLayout:
    """So many neighbouring coordinates."""
    return StridedLayout(extent, 1 if extent != 1 else 0)
