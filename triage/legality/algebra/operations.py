"""CuTe's operations on layouts: coalesce, composition, complement, divisions, products, inverses.

They follow the definitions of CUTLASS (``include/cute/layout.hpp``). Where those ask for divisibility, ``NotDivisible``
is raised, which CuTe reports in several ways, from an error of the compiler to the end of the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from triage.legality.algebra.integers import Integer, IntTuple, ceil_divide, modes, multiply, product
from triage.legality.algebra.layout import StridedLayout, compact, join


class NotDivisible(ValueError):
    """A shape or stride that does not divide, or is not divided by, that of another layout."""


_Modes = list[tuple[Integer, Integer]]


def _layout(flat: _Modes) -> StridedLayout:
    if len(flat) == 1:
        return StridedLayout(*flat[0])
    return (
        StridedLayout(tuple(extent for extent, _ in flat), tuple(stride for _, stride in flat))
        if flat
        else StridedLayout(1, 0)
    )


def _merged(flat: _Modes) -> _Modes:
    """Neighbouring modes merged where one continues the other, those of extent 1 left out."""
    result: _Modes = []
    for extent, stride in reversed(flat):
        if extent == 1:
            continue
        if result and isinstance(extent, int) and isinstance(stride, int) and extent * stride == result[0][1]:
            result[0] = (multiply(extent, result[0][0]), stride)
        else:
            result.insert(0, (extent, stride))
    return result


def coalesce(layout: StridedLayout) -> StridedLayout:
    """The same function in as few integer modes as there can be."""
    return _layout(_merged(list(layout.flat)))


def coalesce_modes(layout: StridedLayout) -> StridedLayout:
    """As ``coalesce``, each mode by itself."""
    return join(*map(coalesce, layout))


def composition(left: StridedLayout, right: StridedLayout) -> StridedLayout:
    """left(right(c)), in the shape of ``right``. Raises NotDivisible."""
    flat = list(left.flat)
    # The last mode reaches beyond its extent, so one of extent 1 keeps its stride.
    last = (2, flat[-1][1]) if flat[-1][0] == 1 else flat[-1]
    return _composed(_merged([*flat[:-1], last]), right.shape, right.stride)


def _composed(flat: _Modes, shape: IntTuple, stride: IntTuple) -> StridedLayout:
    if isinstance(shape, tuple):
        assert isinstance(stride, tuple)
        return join(*(_composed(flat, *part) for part in zip(shape, stride, strict=True)))
    assert not isinstance(stride, tuple)
    result: _Modes = []
    rest, step = shape, stride
    if isinstance(step, int) and step < 0:
        raise NotDivisible(f"stride {step} is negative")
    for extent, inner in flat[:-1]:
        available = ceil_divide(extent, step) if step != 0 else extent
        following = ceil_divide(step, extent)
        if step == 0:
            break
        if _crosses(step, extent):
            raise NotDivisible(f"stride {step} does not step over whole modes of extent {extent}")
        if available != 1 and rest != 1:
            taken = available if rest == available or not isinstance(rest, int) else _least(available, rest)
            if isinstance(taken, int) and isinstance(rest, int) and rest % taken:
                raise NotDivisible(f"extent {rest} is not divisible by {taken}")
            result.append((taken, multiply(step, inner)))
            rest = ceil_divide(rest, taken)
        step = following
    if not result or rest != 1:
        result.append((rest, multiply(step, flat[-1][1])))
    return _layout(result)


def _least(left: Integer, right: int) -> Integer:
    return min(left, right) if isinstance(left, int) else right


def complement(layout: StridedLayout, size: Integer) -> StridedLayout:
    """The layout of the offsets that ``layout`` leaves out, up to ``size``. Raises NotDivisible, for dynamic or
    overlapping layouts too."""
    gaps, reached = _gaps(layout)
    return _layout(_merged([*gaps, (ceil_divide(size, reached), reached)]))


def _gaps(layout: StridedLayout) -> tuple[_Modes, int]:
    """The offsets that a layout skips between its own, and the offset at which it can be repeated."""
    pairs = sorted((stride, extent) for extent, stride in _static(layout) if extent != 1 and stride != 0)
    result: _Modes = []
    reached = 1
    for stride, extent in pairs:
        if stride % reached or stride < reached:
            raise NotDivisible(f"{layout}: stride {stride} is not a multiple of {reached}")
        result.append((stride // reached, reached))
        reached = extent * stride
    return result, reached


def _static(layout: StridedLayout) -> list[tuple[int, int]]:
    pairs = [(extent, stride) for extent, stride in layout.flat if isinstance(extent, int) and isinstance(stride, int)]
    if len(pairs) != len(layout.flat):
        raise NotDivisible(f"{layout} is dynamic")
    return pairs


def logical_divide(layout: StridedLayout, tile: StridedLayout) -> StridedLayout:
    """The layout in two modes: within a tile, and the tiles. A tile need not divide the extents: the last of a mode
    then reaches beyond it. Raises NotDivisible."""
    gaps, reached = _gaps(tile)
    rest = [composition(layout, StridedLayout(*mode)) for mode in _merged(gaps)]
    tiles = _layout(_merged(_tiles(layout, reached)))
    if tiles.shape != 1 or not rest:
        rest.append(tiles)
    return join(composition(layout, tile), rest[0] if len(rest) == 1 else join(*rest))


def _tiles(layout: StridedLayout, step: Integer) -> _Modes:
    """How many tiles of ``step`` elements there are in each mode, and their distance."""
    result: _Modes = []
    whole = True
    for extent, stride in _merged(list(layout.flat)) or [(1, 0)]:
        count = ceil_divide(extent, step)
        if count != 1 and not whole:
            raise NotDivisible(f"{layout}: a tile ends inside a mode that another follows")
        result.append((count, multiply(stride, step)))
        whole = whole and not _crosses(step, extent)
        step = ceil_divide(step, extent)
    return result


def _crosses(step: Integer, extent: Integer) -> bool:
    return isinstance(step, int) and isinstance(extent, int) and step > extent and step % extent != 0


def zipped_divide(layout: StridedLayout, tiler: tuple[StridedLayout, ...]) -> StridedLayout:
    """((tile of each mode), (rest of each mode)). Modes beyond the tiler go to the rest. Raises NotDivisible, also
    where the tiler has more modes than the layout."""
    if len(tiler) > layout.rank:
        raise NotDivisible(f"a tiler of {len(tiler)} modes on a layout of {layout.rank}")
    divided = [logical_divide(part, tile) for part, tile in zip(layout, tiler, strict=False)]
    rest = [part[1] for part in divided] + list(layout)[len(tiler) :]
    return join(join(*(part[0] for part in divided)), join(*rest))


def logical_product(block: StridedLayout, tiler: StridedLayout) -> StridedLayout:
    """(block, its repetitions): as many as ``tiler`` says, in its order. Raises NotDivisible."""
    if tiler.size == 1 and not _repeatable(block):
        # Nothing is repeated, so that the block leaves no room does not matter.
        return join(block, join(*[StridedLayout(1, block.size)] * tiler.rank))
    room = complement(block, multiply(block.size, tiler.cosize()))
    return join(block, composition(room, tiler))


def _repeatable(block: StridedLayout) -> bool:
    try:
        _gaps(block)
    except NotDivisible:
        return False
    return True


def raked_product(block: StridedLayout, tiler: StridedLayout) -> StridedLayout:
    """Repetitions of ``block`` interleaved: mode by mode the tiler first. Raises NotDivisible."""
    return join(*(coalesced_pair(tile, part) for part, tile in _paired(block, tiler)))


def blocked_product(block: StridedLayout, tiler: StridedLayout) -> StridedLayout:
    """Repetitions of ``block`` side by side: mode by mode the block first. Raises NotDivisible."""
    return join(*(join(part, tile) for part, tile in _paired(block, tiler)))


def _paired(block: StridedLayout, tiler: StridedLayout) -> Iterator[tuple[StridedLayout, StridedLayout]]:
    """The modes of a block, each with its repetitions."""
    rank = max(block.rank, tiler.rank)
    part, repeated = logical_product(_padded(block, rank), _padded(tiler, rank))
    if rank == 1 and isinstance(repeated[0].shape, tuple):
        raise NotDivisible(f"unable to compute product with {block} and {tiler}: ranks differ")
    return zip(part, repeated, strict=True)


def coalesced_pair(first: StridedLayout, second: StridedLayout) -> StridedLayout:
    """Two layouts as the modes of one, merged where they can be."""
    return coalesce(join(first, second))


def _padded(layout: StridedLayout, rank: int) -> StridedLayout:
    return join(*layout, *[StridedLayout(1, 0)] * (rank - layout.rank))


def right_inverse(layout: StridedLayout) -> StridedLayout:
    """The layout R of the longest contiguous run with layout(R(i)) = i."""
    flat = _merged(list(layout.flat))
    before = [prod(int(extent) for extent, _ in flat[:index] if isinstance(extent, int)) for index in range(len(flat))]
    result: _Modes = []
    reached = 1
    order = sorted((stride, index) for index, (_, stride) in enumerate(flat) if isinstance(stride, int) and stride != 0)
    for stride, index in order:
        extent = flat[index][0]
        if stride != reached or not isinstance(extent, int):
            break
        result.append((extent, before[index]))
        reached = extent * stride
    return _layout(_merged(result))


def tile_to_shape(block: StridedLayout, shape: tuple[int, ...], order: tuple[int, ...]) -> StridedLayout:
    """``block`` repeated to a shape; ``order`` says which mode's repetitions come first. Raises NotDivisible where the
    block's shape does not divide the shape."""
    padded = _padded(block, len(shape))
    sizes = [product(part.shape) for part in padded]
    counts = []
    for extent, size in zip(shape, sizes, strict=True):
        if not isinstance(size, int) or extent % size:
            raise NotDivisible(f"extent {extent} is not divisible by the block's {size}")
        counts.append(extent // size)
    return blocked_product(padded, ordered(tuple(counts), order))


def ordered(shape: tuple[int, ...], order: tuple[int, ...]) -> StridedLayout:
    """The compact layout of a shape whose modes are contiguous in this order."""
    ranks = sorted(range(len(shape)), key=lambda index: order[index])
    packed = compact(tuple(shape[index] for index in ranks))
    strides = dict(zip(ranks, modes(packed.stride), strict=True))
    return StridedLayout(shape, tuple(strides[index] for index in range(len(shape))))
