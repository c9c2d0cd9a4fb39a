"""Which axes of a map become rows, columns and small multiples, and which values of the others are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_parts import CellLook
from triage.sweeps.grid import CellSet

_MOST_PANELS = 16
"""Small multiples that a screen shows at once, and an eye compares."""
MIXED = "~"
"""The sign of cells that should be alike, and are not."""


@dataclass(frozen=True, slots=True)
class SweepLayout:
    """Axes by number: ``rows`` and ``columns`` of a grid (None where too few axes matter), ``panels`` of the small
    multiples: across, then down. ``others``: those that matter and are none of these, the most influential first."""

    rows: int | None
    columns: int | None
    panels: tuple[int, ...]
    others: tuple[int, ...]


def layout(view: SweepView) -> SweepLayout:
    """Rows and columns are the two axes along which the result changes most often, the small multiples are target and
    release, else the next two axes."""
    matter = sorted(
        (index for index, axis in enumerate(view.axes) if axis.matters),
        key=lambda index: -view.axes[index].influence.share,
    )
    machines = ("target", view.map.case.compiler.name)
    panels = [index for name in machines for index in matter if view.grid.axes[index].name == name]
    rest = [index for index in matter if index not in panels]
    while len(rest) < 2 and panels:
        rest.append(panels.pop())
    chosen, rest = rest[:2], rest[2:]
    while rest and len(panels) < 2:
        if prod(len(view.axes[axis].values) for axis in (*panels, rest[0])) > _MOST_PANELS:
            break
        panels.append(rest.pop(0))
    # A phone and a terminal have more room below than beside.
    chosen.sort(key=lambda index: -len(view.axes[index].values))
    rows, columns = (*chosen, None, None)[:2]
    return SweepLayout(rows, columns, tuple(panels), tuple(rest))


def telling_slice(view: SweepView, axes: tuple[int, ...]) -> Mapping[int, int]:
    """A position on each of these axes: where most kinds of failures are, and legal and illegal cells are most even."""
    chosen: dict[int, int] = {}
    cells = view.grid.allowed
    for axis in axes:
        position = max(range(len(view.axes[axis].values)), key=lambda each: _variety(view, cells, axis, each))
        chosen[axis] = position
        cells &= view.grid.with_value(axis, position)
    return chosen


def _variety(view: SweepView, cells: int, axis: int, position: int) -> tuple[int, int]:
    inside = cells & view.grid.with_value(axis, position)
    kinds: set[str | None] = set()
    legal = illegal = 0
    for look, of_look in view.looks.items():
        number = (of_look & inside).bit_count()
        if look.legal:
            legal += number
        elif number and look.legal is False:
            illegal += number
            kinds.add(look.letter)
    return len(kinds), min(legal, illegal)


class SliceView:
    """The slice of a map that is shown where no other can be selected: ``shape`` says where its axes are, and ``fixed``
    which values of the others are shown."""

    def __init__(self, view: SweepView) -> None:
        self._view = view
        self.shape = layout(view)
        self.fixed = telling_slice(view, self.shape.others)
        self.rows, self.columns = self._name(self.shape.rows), self._name(self.shape.columns)

    @property
    def repeats(self) -> int:
        """How many small multiples there are for each value of the first of their axes."""
        return prod(len(self._view.axes[axis].values) for axis in self.shape.panels[1:])

    @property
    def words(self) -> str:
        """The values that are shown of axes which are neither rows, columns nor small multiples."""
        return self._words(self.fixed, " = ")

    def labels(self, axis: int | None) -> tuple[str, ...]:
        """The values of the rows' or columns' axis; a single one without a name where the axis is None."""
        return ("",) if axis is None else self._view.axes[axis].values

    def panels(self) -> Iterator[tuple[str, CellSet]]:
        """The small multiples, each with its title and the cells that it has."""
        grid = self._view.grid
        for at in product(*(range(len(self._view.axes[axis].values)) for axis in self.shape.panels)):
            chosen = dict(zip(self.shape.panels, at, strict=True))
            boxed = {axis: (position,) for axis, position in {**self.fixed, **chosen}.items()}
            yield self._words(chosen, " ").removeprefix("target "), grid.selected(boxed) & grid.allowed

    def cell(self, panel: CellSet, row: int, column: int) -> CellLook | str:
        """What a cell shows: ``MIXED`` where it depends on an axis that is not shown, empty outside of the space."""
        cells = panel
        for axis, position in ((self.shape.rows, row), (self.shape.columns, column)):
            if axis is not None:
                cells &= self._view.grid.with_value(axis, position)
        return (self._view.look(cells) or MIXED) if cells else ""

    def _name(self, axis: int | None) -> str:
        return "" if axis is None else self._view.axes[axis].name

    def _words(self, chosen: Mapping[int, int], between: str) -> str:
        axes = self._view.axes
        return ", ".join(f"{axes[axis].name}{between}{axes[axis].values[at]}" for axis, at in chosen.items())
