"""What an axis's values are as numbers: tile sizes, widths of element types, warp sizes, and orders. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod
from typing import Any, TypeAlias

from triage.model import gpus
from triage.model.compilers import COMPILERS
from triage.model.errors import InputError
from triage.model.releases import sort_key
from triage.model.target import Target
from triage.source.dtypes import element_type
from triage.sweeps.grid import Grid, SweepAxis

_DTYPE = re.compile(r"(?:[bt]?float|fp|[bt]?f|u?int|[ius])(4|6|8|16|32|64)(?:e\d+\w*)?")


Positions: TypeAlias = tuple[int, ...]
"""Of a cell on some axes."""


@dataclass(frozen=True, slots=True)
class Column:
    """A number for each position of an axis. ``size``: it counts something (elements, bits, warps), so that products
    and ratios mean something; another is an order only."""

    name: str
    axis: int
    values: tuple[float, ...]
    size: bool


def positions_of(grid: Grid, axes: Sequence[int]) -> Iterator[Positions]:
    """All combinations of positions on some axes."""
    return product(*(range(len(grid.axes[axis].values)) for axis in axes))


def quotient(above: Sequence[Column], below: Sequence[Column] = ()) -> Callable[[Positions], float]:
    """A product of columns over a product, of the positions on their axes; infinite over zero."""
    count = len(above)

    def value(at: Positions) -> float:
        top = prod(column.values[position] for column, position in zip(above, at[:count], strict=True))
        bottom = prod(column.values[position] for column, position in zip(below, at[count:], strict=True))
        return top / bottom if bottom else inf

    return value


def columns(grid: Grid) -> tuple[Column, ...]:
    """The columns of all axes; none that is constant or repeats another of its axis."""
    result: list[Column] = []
    for index, axis in enumerate(grid.axes):
        seen: set[tuple[float, ...]] = set()
        for name, values, size in _of(axis):
            if len(set(values)) > 1 and values not in seen:
                seen.add(values)
                result.append(Column(name, index, values, size))
    return tuple(result)


def _of(axis: SweepAxis) -> Iterator[tuple[str, tuple[float, ...], bool]]:
    if axis.is_numeric:
        yield axis.name, tuple(map(float, axis.values)), True
        return
    if axis.name == "target":
        yield from _targets(axis)
        return
    if axis.name in COMPILERS:
        order = sorted(map(str, axis.values), key=sort_key)
        yield axis.name, tuple(float(order.index(str(value))) for value in axis.values), False
        return
    if (bits := _each(axis.values, _bits)) is not None:
        yield f"bits({axis.name})", bits, True
    if (lists := _numbers(axis.values)) is not None:
        for index, component in enumerate(zip(*lists, strict=True)):
            yield f"{axis.name}[{index}]", component, True


def _targets(axis: SweepAxis) -> Iterator[tuple[str, tuple[float, ...], bool]]:
    targets = [Target.parse(str(value)) for value in axis.values]
    yield "warp_size", tuple(float(target.warp_size) for target in targets), True
    keys = [(target.backend, gpus.number(target.backend, target.arch)) for target in targets]
    yield "target", tuple(float(sorted(keys).index(key)) for key in keys), False


def _each(values: Sequence[Any], number: Callable[[Any], float | None]) -> tuple[float, ...] | None:
    numbers = tuple(number(value) for value in values)
    return tuple(value for value in numbers if value is not None) if None not in numbers else None


def _bits(value: Any) -> float | None:
    """The width of what a text names: ``tl.float8e5``, ``*fp16``, ``cutlass.Float8E4M3FN``; None for another value."""
    match = _DTYPE.fullmatch(element_type(value).rpartition(".")[2].lower()) if isinstance(value, str) else None
    return float(match[1]) if match else None


def _numbers(values: Sequence[Any]) -> list[tuple[float, ...]] | None:
    """Values that all are lists of equally many numbers; None for any other."""
    if not all(isinstance(value, (list, tuple)) and value for value in values):
        return None
    if len({len(value) for value in values}) > 1:
        return None
    if any(type(number) not in (int, float) for value in values for number in value):
        return None
    return [tuple(map(float, value)) for value in values]


def target_of(grid: Grid, base: Target) -> tuple[int | None, tuple[Target, ...]]:
    """The axis of targets and its targets; None and the case's own target where no axis has them."""
    index = grid.positions.get("target")
    if index is None:
        return None, (base,)
    try:
        return index, tuple(Target.parse(str(value)) for value in grid.axes[index].values)
    except InputError:
        return None, (base,)
