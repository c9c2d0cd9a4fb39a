"""Values of a TTIR function: integers evaluated for the sizes of the problem, which of them depend on the position in
the grid, and the stride of an address along an axis."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

_CONSTANT = re.compile(r"arith\.constant (?:dense<)?(-?\d+)(?![\d.])")
_INTEGER = re.compile(r": !tt\.ptr<i(?:32|64)>$")
_AXIS = re.compile(r"axis = (\d+)")
_GRID = re.compile(r"tt\.get_(program_id|num_programs) ([xyz])")

_TWO: dict[str, Callable[[float, float], float]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: float(a // b) if b else 0.0,
    "arith.divui": lambda a, b: float(a // b) if b else 0.0,
    "arith.floordivsi": lambda a, b: float(a // b) if b else 0.0,
    "arith.ceildivsi": lambda a, b: float(math.ceil(a / b)) if b else 0.0,
    "arith.remsi": lambda a, b: a % b if b else 0.0,
    "arith.remui": lambda a, b: a % b if b else 0.0,
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
}
_SAME = frozenset({"arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "tt.splat", "tt.broadcast"})
_KEEPS_STRIDE = frozenset(
    {
        "tt.broadcast",
        "arith.extsi",
        "arith.extui",
        "arith.trunci",
        "carried",
        "arith.remsi",
        "arith.minsi",
        "tt.bitcast",
    }
)
_NEXT = 2
"""The largest offset of a block's own position in the grid: ``pid``, ``pid + 1``, and the one behind that."""
_DEEPEST = 60
"""Operations that a search for an origin follows."""
_ENDS = frozenset({"carried", "tt.dot", "tt.dot_scaled", "scf.for", "arith.constant", "tt.make_range"})


class Values:
    """Facts by the names of values. ``sizes``: integers by argument, ``program_id.x`` and ``num_programs.x``.
    ``by_data``: integers that a kernel loads, which are taken for sizes of the problem."""

    def __init__(self, sizes: Mapping[str, float], typical: int) -> None:
        self.sizes = sizes
        self.typical = typical
        self.known: dict[str, float] = {}
        self.by_grid: set[str] = set()
        self.by_data: set[str] = set()
        self._made_by: dict[str, str] = {}
        self._operands: dict[str, list[str]] = {}
        self._axis: dict[str, int] = {}

    def argument(self, name: str) -> None:
        """An integer argument of the function."""
        self.known[name] = self.sizes.get(name.lstrip("%"), self.typical)

    def define(self, result: str, name: str, text: str, used: list[str]) -> None:
        """A result of the operation ``name``, printed as ``text``, with the operands ``used``."""
        self._made_by[result], self._operands[result] = name, used
        if name == "tt.get_program_id" or not self.by_grid.isdisjoint(used):
            self.by_grid.add(result)
        if name == "tt.expand_dims" and (match := _AXIS.search(text)):
            self._axis[result] = int(match[1])
        if (name == "tt.load" and _INTEGER.search(text)) or not self.by_data.isdisjoint(used):
            self.by_data.add(result)
        value = self._value(name, text, used)
        if value is not None:
            self.known[result] = value

    def carry(self, inside: str, outside: str) -> None:
        """A loop's own name for a value that comes from before it."""
        self._made_by[inside], self._operands[inside] = "carried", [outside]
        if outside in self.by_grid:
            self.by_grid.add(inside)
        if outside in self.known:
            self.known[inside] = self.known[outside]

    def _value(self, name: str, text: str, used: list[str]) -> float | None:
        if name == "arith.constant":
            constant = _CONSTANT.search(text)
            return float(constant[1]) if constant else None
        if grid := _GRID.search(text):
            default = 0.0 if grid[1] == "program_id" else self.typical / 64
            return self.sizes.get(f"{grid[1]}.{grid[2]}", default)
        if name == "tt.load" and _INTEGER.search(text):
            return float(self.typical)
        if name in _SAME and used:
            return self.known.get(used[0])
        if name not in _TWO or len(used) < 2:
            return None
        first, second = self.known.get(used[0]), self.known.get(used[1])
        if first is None or second is None:
            return None
        value = float(_TWO[name](first, second))
        if name == "arith.subi" and value <= 0 and self.by_data.issuperset(used[:2]):
            return float(self.typical)  # From one loaded offset to the next.
        if name == "arith.muli" and "program_id.x" not in self.sizes:
            for index, tile, position in ((first, second, used[0]), (second, first, used[1])):
                if position in self.by_grid and index <= _NEXT:
                    # A position in a grid of unknown extent, or the position after it, times a tile: the middle of
                    # the problem.
                    return (self.typical - tile) / 2 + index * tile
        return value

    def stride(self, value: str, axis: int, depth: int = 0) -> float | None:
        """By how many elements an address or index grows along an axis; None where that is not known."""
        name, used = self._made_by.get(value, ""), self._operands.get(value, [])
        if depth > _DEEPEST:
            return None
        if name == "tt.make_range":
            return 1.0
        if name in ("tt.addptr", "arith.addi", "arith.subi"):
            strides = [self.stride(each, axis, depth + 1) for each in used[:2]]
            return None if any(stride is None for stride in strides) else sum(stride or 0.0 for stride in strides)
        if name == "tt.expand_dims":
            inserted = self._axis.get(value, 0)
            return 0.0 if inserted == axis else self.stride(used[0], axis - (axis > inserted), depth + 1)
        if name in _KEEPS_STRIDE and used:
            return self.stride(used[0], axis, depth + 1)
        if name == "arith.select" and len(used) > 1:
            return self.stride(used[1], axis, depth + 1)
        if name == "arith.muli":
            for here, other in ((used[0], used[1]), (used[1], used[0])):
                if stride := self.stride(here, axis, depth + 1):
                    factor = self.known.get(other)
                    return None if factor is None else stride * factor
        return 0.0

    def is_constant(self, value: str) -> bool:
        """Whether a value is written in the kernel."""
        return self._made_by.get(value) in ("arith.constant", "tt.splat")

    def array(self, pointer: str) -> str:
        """The argument that a pointer points into."""
        for _ in range(_DEEPEST):
            if not (used := self._operands.get(pointer)):
                break
            pointer = used[0]
        return pointer

    def origin(self, value: str, wanted: Mapping[str, object], depth: int = 0) -> str | None:
        """Which of ``wanted`` a value comes from, through views and conversions."""
        if value in wanted:
            return value
        if depth > 12 or self._made_by.get(value, "carried") in _ENDS:
            return None
        origins = (self.origin(operand, wanted, depth + 1) for operand in self._operands.get(value, ()))
        return next((each for each in origins if each is not None), None)
