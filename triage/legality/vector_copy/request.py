"""The parameters of ``triage explain vector-copy`` and ``cp-async`` that describe a copy, and what is shown of one."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from triage.legality.algebra.integers import IntTuple, modes, product
from triage.legality.algebra.layout import StridedLayout
from triage.legality.algebra.operations import NotDivisible
from triage.legality.algebra.partition import thread_values
from triage.legality.algebra.swizzle import Swizzle
from triage.legality.dtypes import DType
from triage.legality.explanation import Drawing, Fact, grid
from triage.legality.rule import Arguments, RuleParameter, Syntax
from triage.legality.vector_copy.tiled import CopyTensor
from triage.model.errors import InputError

TENSORS = (
    RuleParameter("shape", Syntax.SHAPE, "shape of the tile, A,B", default="64x64"),
    RuleParameter("stride", Syntax.SHAPE, "strides of the source in elements [row-major]"),
    RuleParameter("source-strides", Syntax.SHAPE, "the same"),
    RuleParameter("destination-strides", Syntax.SHAPE, "strides of the destination [row-major]"),
    RuleParameter("source", Syntax.LAYOUT, "layout of the source; ?{8}: dynamic, a multiple of 8"),
    RuleParameter("destination", Syntax.LAYOUT, "layout of the destination"),
    RuleParameter("swizzle", Syntax.SHAPE, "B,M,S of the destination's composed layout"),
    RuleParameter("threads", Syntax.LAYOUT, "thread layout of a tiled copy of CuTe"),
    RuleParameter("values", Syntax.LAYOUT, "its value layout [a vector along the source's contiguous mode]"),
    RuleParameter("divisible", Syntax.INTEGER, "bytes that the source address is a multiple of", default="16"),
    RuleParameter("destination-divisible", Syntax.INTEGER, "the same of the destination", default="16"),
)
_MOST_ROWS, _WIDTH = 16, 92


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """A copy as asked about. ``threads`` is None for a plain tile."""

    dtype: DType
    bits: int
    source: CopyTensor
    destination: CopyTensor
    threads: StridedLayout | None
    values: StridedLayout

    @property
    def count(self) -> int:
        """Elements of one request."""
        return max(self.bits // self.dtype.bits, 1)

    @property
    def elements(self) -> int:
        """Elements of the source; those of dynamic modes count once."""
        return prod(extent for extent, _ in self.source.layout.flat if isinstance(extent, int))

    def positions(self) -> tuple[tuple[int, int], ...]:
        """Row and column of the elements of the first thread's first request; () where they cannot be computed."""
        shape = self.source.layout.shape
        if not isinstance(shape, tuple) or len(shape) != 2:
            return ()
        if self.threads is None:
            along = self.contiguous
            return tuple((0, step) if along else (step, 0) for step in range(self.count))
        try:
            copy = thread_values(self.threads, self.values)
        except NotDivisible:
            return ()
        offsets = [copy.layout[1].offset(value) for value in range(self.count)]
        return tuple((offset % copy.tile[0], offset // copy.tile[0]) for offset in offsets)

    @property
    def contiguous(self) -> int:
        """The mode along which the source is contiguous; the last where none is."""
        modes = [index for index, part in enumerate(self.source.layout) if any(stride == 1 for _, stride in part.flat)]
        return modes[0] if modes else self.source.layout.rank - 1


def read(args: Arguments, bits: int) -> CopyRequest:
    """The copy that parameters describe. Raises InputError."""
    source = _layout(args, "source", args.get("stride", args.get("source_strides")))
    destination = _layout(args, "destination", args.get("destination_strides"), source.shape)
    swizzle = args.get("swizzle")
    if swizzle is not None and len(swizzle) != 3:
        raise InputError("--swizzle: give B,M,S, three numbers")
    composed = Swizzle(*swizzle) if swizzle is not None else None
    dtype = args["dtype"]
    asked = CopyRequest(
        dtype,
        bits,
        CopyTensor(source, args["divisible"]),
        CopyTensor(destination, args["destination_divisible"], "smem", composed),
        args.get("threads"),
        args.get("values", StridedLayout(1, 0)),
    )
    if "values" in args:
        return asked
    values = vector_along(source.rank, asked.contiguous, asked.count)
    return CopyRequest(dtype, bits, asked.source, asked.destination, asked.threads, values)


def vector_along(rank: int, mode: int, count: int) -> StridedLayout:
    """The value layout of ``count`` elements along a mode."""
    shape = tuple(count if index == mode else 1 for index in range(rank))
    return StridedLayout(shape, tuple(1 if index == mode and count > 1 else 0 for index in range(rank)))


def _layout(
    args: Arguments, name: str, strides: tuple[int, ...] | None, shape: IntTuple | None = None
) -> StridedLayout:
    if name in args:
        layout = args[name]
        assert isinstance(layout, StridedLayout)
        return layout
    extents = args["shape"] if shape is None else tuple(_extent(part) for part in modes(shape))
    if strides is not None and len(strides) != len(extents):
        raise InputError(f"--{name}-strides: {len(strides)} strides for {len(extents)} dimensions")
    return StridedLayout(extents, packed(extents) if strides is None else strides)


def _extent(part: IntTuple) -> int:
    size = product(part)
    if not isinstance(size, int):
        raise InputError("--destination: give its layout where the source's extents are dynamic")
    return size


def packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides."""
    return tuple(prod(shape[dimension + 1 :]) for dimension in range(len(shape)))


def cost(asked: CopyRequest) -> tuple[Fact, ...]:
    """What the copy takes: bytes a request, and requests."""
    requests = -(-asked.elements // asked.count)
    size = f"{asked.bits // 8} bytes, {asked.count} elements"
    return (
        Fact("request_bytes", asked.bits // 8, "one request", size),
        Fact("requests", requests, "requests for the tile"),
    )


def staged(asked: CopyRequest, load: int, store: int) -> tuple[Fact, ...]:
    """The copy in two steps, global memory to registers and registers to shared memory, by the widest bits of each;
    none where one step does as well, or a step has no legal width."""
    if not store or load <= store:
        return ()
    requests = [-(-asked.elements * asked.dtype.bits // bits) for bits in (load, store)]
    text = (
        f"global memory to registers at {load} bits ({load // 8} bytes, {requests[0]} requests), registers to shared "
        f"memory at {store} bits ({store // 8} bytes, {requests[1]} requests)"
    )
    return (Fact("staged", {"load_bits": load, "store_bits": store, "requests": requests}, "in two steps", text),)


def drawings(asked: CopyRequest) -> tuple[Drawing, ...]:
    """Where the elements lie, as byte offsets, with those of one request in brackets; source and destination."""
    positions = asked.positions()
    if not positions:
        return ()
    shown = []
    for name, tensor in (("Source", asked.source), ("Destination", asked.destination)):
        if tensor.layout.static and tensor.layout.rank == 2:
            shown.append(_drawing(name, asked, tensor, positions))
    return tuple(shown)


def _drawing(name: str, asked: CopyRequest, tensor: CopyTensor, positions: Iterable[tuple[int, int]]) -> Drawing:
    request = set(positions)
    rows, columns = (int(str(part.size)) for part in tensor.layout)
    high = min(rows, _MOST_ROWS, max(4, 1 + max(row for row, _ in request)))
    wide = min(columns, max(4, 2 + max(column for _, column in request)))
    cells = {}
    for row in range(high):
        for column in range(wide):
            offset = tensor.layout[0].offset(row) + tensor.layout[1].offset(column)
            offset = tensor.swizzle.apply(offset) if tensor.swizzle else offset
            text = f"{offset * asked.dtype.bits // 8}"
            cells[row, column] = f"[{text}]" if (row, column) in request else text
    width = max(map(len, cells.values())) + 2
    cells = {cell: text for cell, text in cells.items() if cell[1] < _WIDTH // width}
    layout = f"{tensor.swizzle} o 0 o {tensor.layout}" if tensor.swizzle else str(tensor.layout)
    title = f"{name} {layout}: byte offset of each element; [one request of {asked.bits} bits]"
    return grid(title, cells, "row")
