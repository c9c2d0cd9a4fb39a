"""Reads the work of a block from TTIR.

TTIR has no layouts, so it is the same for all numbers of warps and stages, and every target has it. Scalars are
evaluated with the sizes of the problem, which decides how many turns a loop takes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from triage.ir import mlir
from triage.performance.estimate.values import Values
from triage.performance.estimate.work import TYPICAL, BlockAccess, BlockWork, Body, Dot, WorkLoop, bits

_TENSOR = re.compile(r"tensor<((?:\d+x)*)(!tt\.ptr<[^>]*>|[\w.]+)")
_POINTEE = re.compile(r"!tt\.ptr<(?:tensor<(?:\d+x)*)?([\w.]+)")
_VALUES = re.compile(r"%[\w$.-]+(?:#\d+)?")
_BOUNDS = re.compile(r"scf\.for (%[\w$.-]+) = (%[\w$.#-]+) to (%[\w$.#-]+) step (%[\w$.#-]+)")
_STAGES = re.compile(r"tt\.num_stages = (\d+)")
_ARGUMENT = re.compile(r"(%[\w$.-]+): (?:i\d+|index)\b")
_CARRIED = re.compile(r"(%[\w$.-]+) = (%[\w$.#-]+)")
_AXIS = re.compile(r"axis = (\d+)")
_LOCATION = re.compile(r" loc\((?:#\w+|[^()\n]*(?:\([^()\n]*\))*[^()\n]*)\)")

_SPECIAL = {
    "math.exp": 1, "math.exp2": 1, "math.log": 1, "math.log2": 1, "math.sqrt": 1, "math.rsqrt": 1, "math.sin": 2,
    "math.cos": 2, "math.tanh": 3, "math.erf": 2, "arith.divf": 1, "tt.precise_sqrt": 3, "tt.precise_divf": 3,
}  # fmt: skip
"""Instructions of the special-function unit for one element (PTX ISA: ex2, lg2, rcp, rsqrt, sin, cos, tanh)."""
_DIVISION_LANES = 4
"""Other instructions of a division (PTX ISA, div.full: a reciprocal, its correction, scaling)."""
_FREE = frozenset(
    {
        "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.make_range", "arith.constant", "tt.addptr",
        "tt.unsplat", "tt.trans", "arith.bitcast", "tt.bitcast", "scf.yield", "tt.return",
    }
)  # fmt: skip
"""Renaming, or addresses that are computed once for many elements."""
_ADDRESSES = frozenset(
    {"arith.addi", "arith.muli", "arith.extsi", "arith.cmpi", "arith.andi", "arith.subi", "arith.remsi"}
)
"""On integers: mostly offsets and masks, computed once for the elements that one load takes."""
_INTEGER_LANES = 0.5
_LOADS = frozenset({"tt.load", "tt.descriptor_load", "tt.experimental_descriptor_load", "tt.descriptor_gather"})
_STORES = frozenset(
    {
        "tt.store", "tt.descriptor_store", "tt.experimental_descriptor_store", "tt.atomic_rmw", "tt.atomic_cas",
        "tt.descriptor_reduce", "tt.descriptor_scatter",
    }
)  # fmt: skip
_REDUCTIONS = frozenset({"tt.reduce", "tt.scan"})
_SCAN_STEPS = 5
"""A scan combines every element with those of other lanes, in log2 of a warp's steps; a reduction partial results."""
_WHILE_TRIPS = 8.0
"""Turns of a loop whose end only the data know."""
_LOOP_TRIPS = 64.0
"""Turns of a loop whose bounds are not known."""

Shape = tuple[tuple[int, ...], str]


def read(ttir: str, sizes: Mapping[str, float] | None = None, typical: int = TYPICAL) -> BlockWork | None:
    """The work of one block of the first public function; None where the text cannot be read. ``sizes``: values of
    integer arguments, and ``program_id.x`` … for the position in the grid; others are ``typical``."""
    try:
        module = mlir.read(_LOCATION.sub("", ttir))
    except mlir.UnreadableMlir:
        return None
    functions = [operation for operation in module.walk() if operation.name == "tt.func"]
    public = [operation for operation in functions if "public" in module.lines[operation.first]] or functions
    return BlockWork(_WorkReader(module, Values(sizes or {}, typical)).function(public[0])) if public else None


def _shapes(text: str) -> list[Shape]:
    return [
        (tuple(int(extent) for extent in extents.split("x") if extent), element)
        for extents, element in _TENSOR.findall(text)
    ]


def _width(element: str) -> int:
    """Bits of an element, of what it points to if it is a pointer."""
    pointee = _POINTEE.match(element)
    return bits(pointee[1] if pointee else element)


class _WorkReader:
    """Walks a function and counts."""

    def __init__(self, module: mlir.ParsedModule, values: Values) -> None:
        self._module, self._values = module, values
        self._loads: dict[str, tuple[Body, int]] = {}
        self._read: set[str] = set()
        self._carried: tuple[Shape, ...] = ()

    def function(self, operation: mlir.Op) -> Body:
        for name in _ARGUMENT.findall(self._header(operation)):
            self._values.argument(name)
        body = Body()
        for region in operation.regions:
            self._region(region, body)
        return body

    def _header(self, operation: mlir.Op) -> str:
        return " ".join(self._module.lines[line] for line in operation.headers)

    def _region(self, region: mlir.Region, body: Body) -> None:
        for operation in region.operations:
            self._operation(operation, body)

    def _operation(self, operation: mlir.Op, body: Body) -> None:
        name, text = operation.name, self._header(operation)
        used = _VALUES.findall(text.split(" = ", 1)[1] if operation.results else text)
        for result in operation.results:
            self._values.define(result.name, name, text, used)
        if name == "scf.for":
            self._loop(operation, text, body)
        elif name == "scf.while":
            inner = Body()
            for region in operation.regions:
                self._region(region, inner)
            body.loops.append(WorkLoop(_WHILE_TRIPS, inner))
        elif operation.regions and name not in _REDUCTIONS and name != "tt.map_elementwise":
            # Of a condition the first branch: the other is the exception.
            self._region(operation.regions[0], body)
        else:
            self._count(operation, text, used, body)

    def _loop(self, operation: mlir.Op, text: str, body: Body) -> None:
        values, inner, trips = self._values, Body(), _LOOP_TRIPS
        if match := _BOUNDS.search(text):
            low, high, step = (values.known.get(value) for value in match.groups()[1:])
            if step and high is not None:
                trips = max((high - (low or 0.0)) / step, 0.0)
                if not trips and values.by_data.issuperset(match.groups()[1:3]):
                    trips = values.typical / step
                if values.by_grid.isdisjoint(match.groups()[1:]):
                    trips = float(math.ceil(trips - 1e-6))
            values.known[match[1]] = ((low or 0.0) + (values.typical if high is None else high)) / 2
        head, _, types = text.partition("->")
        for inside, before in _CARRIED.findall(head.partition("iter_args")[2]):
            values.carry(inside, before)
        outside = self._carried
        self._carried = tuple(shape for shape in _shapes(types) if not shape[1].startswith("!tt.ptr"))
        carried = sum(math.prod(extents) * bits(element) / 8 for extents, element in self._carried)
        stages = _STAGES.search(self._module.lines[operation.last])
        for region in operation.regions[:1]:
            self._region(region, inner)
        self._carried = outside
        body.loops.append(WorkLoop(trips, inner, int(stages[1]) if stages else None, carried))

    def _count(self, operation: mlir.Op, text: str, used: list[str], body: Body) -> None:
        name = operation.name
        signature = text.rpartition(" : ")[2] if " : " in text else ""
        if name in _REDUCTIONS:
            signature = self._module.lines[operation.last].partition(":")[2]
        result = operation.results[0].name if operation.results else ""
        if name in _LOADS:
            self._load(name, signature, used, result, body)
        elif name in _STORES:
            self._store(name, signature, body)
        elif name in ("tt.dot", "tt.dot_scaled"):
            self._dot(name, text, used, body)
        elif name not in _FREE and (shapes := _shapes(signature)):
            combined = sum(len(region.operations) - 1 for region in operation.regions)
            self._elementwise(name, shapes[0], text, combined, body)

    def _elementwise(self, name: str, shape: Shape, text: str, combined: int, body: Body) -> None:
        extents, element = shape
        elements = math.prod(extents)
        if name in _REDUCTIONS:
            axis = int(match[1]) if (match := _AXIS.search(text)) else 0
            body.reduced.append((elements, extents[axis] if axis < len(extents) else 1))
            body.lanes += elements * combined * (_SCAN_STEPS if name == "tt.scan" else 1)
        elif name in _SPECIAL:
            body.special += elements * _SPECIAL[name]
            body.lanes += elements * (_DIVISION_LANES if name == "arith.divf" else 1)
        elif element.startswith(("f", "bf")) or name in ("arith.select", "arith.sitofp", "arith.uitofp"):
            body.lanes += elements * max(bits(element) / 32, 1.0)
        elif name not in _ADDRESSES:
            body.lanes += elements * _INTEGER_LANES
        if shape not in self._carried:  # An accumulator is updated in place.
            body.widest = max(body.widest, elements * max(bits(element), 8) / 8)

    def _store(self, name: str, signature: str, body: Body) -> None:
        if shapes := _shapes(signature):
            extents, element = max(shapes, key=lambda shape: math.prod(shape[0]))
            elements = math.prod(extents)
            body.stores.append(
                BlockAccess(elements * _width(element) / 8, elements, by_descriptor="descriptor" in name)
            )

    def _load(self, name: str, signature: str, used: list[str], result: str, body: Body) -> None:
        shapes = _shapes(signature.rpartition("->")[2] or signature)
        if not shapes or not used:
            return
        (extents, element), by_descriptor = shapes[0], "descriptor" in name
        elements, width = math.prod(extents), _width(element)
        array = self._values.array(used[0])
        row = extents[-1] if by_descriptor else self._side_by_side(used[0], extents)
        # A descriptor is the same for all blocks, and their positions are its indices.
        placed_by = used if by_descriptor else used[:1]
        access = BlockAccess(
            bytes=elements * width / 8,
            elements=elements,
            by_all=self._values.by_grid.isdisjoint(placed_by),
            again=array in self._read,
            by_descriptor=by_descriptor,
            row_bytes=row * width / 8,
            array=array,
        )
        self._read.add(array)
        body.loads.append(access)
        self._loads[result] = (body, len(body.loads) - 1)

    def _side_by_side(self, pointer: str, extents: tuple[int, ...]) -> int:
        axes = (axis for axis in range(len(extents)) if self._values.stride(pointer, axis) == 1)
        return max((extents[axis] for axis in axes), default=1)

    def _dot(self, name: str, text: str, used: list[str], body: Body) -> None:
        shapes = _shapes(text.rpartition(" : ")[2])
        if len(shapes) < 3 or len(used) < 2 or len(shapes[0][0]) < 2:
            return
        (left, a), (result_extents, result) = shapes[0], shapes[-1]
        scaled = name == "tt.dot_scaled"
        # A block-scaled product prints the scales between its operands, as 8-bit integers of other extents.
        b = next(
            (
                element
                for extents, element in shapes[1:-1]
                if len(extents) == len(left) and extents[-1] == result_extents[-1]
            ),
            shapes[1][1],
        )
        for operand in used[:2]:
            if (origin := self._values.origin(operand, self._loads)) is not None:
                owner, index = self._loads[origin]
                owner.loads[index] = replace(owner.loads[index], feeds_dot=True)
        *batch, m, n = result_extents
        if len(used) > 2 and self._values.is_constant(used[2]):
            # Not added to what a loop carries: a tensor of its own.
            body.widest = max(body.widest, math.prod(result_extents) * bits(result) / 8)
        body.dots.append(
            Dot(
                m, n, left[-1], a, b, result,
                tf32="tf32" in text.lower(),
                batch=math.prod(batch),
                a_from_memory=self._values.origin(used[0], self._loads) is not None,
                scaled=scaled,
            )
        )  # fmt: skip
