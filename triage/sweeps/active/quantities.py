"""What cells use of a resource, predicted as a number and compared with each target's limit.

Every compile that ends says what it uses, and a failure that is over a limit says what it required: both train the
same formula. So a few compiles settle a resource for the whole grid, and for every target on which the number is the
same; that it is the same is checked, as a formula that holds for all targets fits all their rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from math import log

from triage.model.target import Target
from triage.sweeps.active.columns import columns, target_of
from triage.sweeps.active.formula import Library
from triage.sweeps.active.measures import Measure, MeasureBoxes
from triage.sweeps.active.pieces import Fitter, Piece, Sized
from triage.sweeps.grid import Cell, CellSet, Grid
from triage.sweeps.observation import CellObservation

SHARED, TENSOR, THREADS = "shared memory", "tensor memory", "threads"
_NEAR = 1 / 4
"""Part of a limit above which a resource may exceed it in other cells: two more factors may double it each."""
_GROWTH = 1.4
"""Where no exact formula was found, another search is worth its time when there are this many times more rows."""


def used(observation: CellObservation) -> Iterator[tuple[str, int]]:
    """What a compile says of resources: name, as in :class:`OverLimit`, and number."""
    if observation.resource is not None and observation.required is not None:
        yield observation.resource, observation.required
    resources = observation.resources
    if resources is None:
        return
    numbers = {SHARED: resources.shared_bytes, TENSOR: resources.tensor_memory_columns, THREADS: resources.threads}
    for name, number in numbers.items():
        if number and name != observation.resource:
            yield name, number


def limit_of(target: Target, resource: str) -> int | None:
    """A target's limit of a resource; None where the table does not have it, or the target has none of it."""
    block = target.gpu.block if target.gpu is not None else None
    if block is None:
        return None
    numbers = {SHARED: block.shared_bytes, TENSOR: block.tensor_memory_columns, THREADS: block.threads}
    return numbers.get(resource) or None


class ResourceQuantity:
    """One resource: what is known of it, and a formula in pieces."""

    def __init__(self, grid: Grid, base: Target, resource: str) -> None:
        self.resource = resource
        self._grid = grid
        self._fitter = Fitter(grid, Library(columns(grid)))
        self._target_axis, targets = target_of(grid, base)
        self._limits = [limit_of(target, resource) for target in targets]
        self._rows: dict[Cell, Sized] = {}
        self.formula: Piece | None = None
        self._stale = False
        self._next_fit = 0.0
        self._highest = 0.0
        """The largest part of a limit that was seen."""

    def learn(self, cell: Cell, number: int, limit: int | None) -> None:
        """A cell uses so much. ``limit``: the one that a failure stated."""
        at = self._grid.at(cell)
        if limit is not None:
            self._limits[0 if self._target_axis is None else at[self._target_axis]] = limit
        row = self._rows[cell] = Sized(at, float(number), self._limit(at))
        self._highest = max(self._highest, row.share)
        if self.formula is None or not self.formula.agrees(row):
            self._stale = True

    def refit(self) -> bool:
        """Fit again where something new contradicts the formula; whether that was done."""
        if not self._stale or self._highest < _NEAR or len(self._rows) < self._next_fit:
            return False
        self._stale = False
        # As long as it seems not to matter, a search of pieces is not worth its time.
        self.formula = self._fitter.fit(list(self._rows.values()), pieces=self._highest >= 2 * _NEAR)
        self._next_fit = 0.0 if self.formula is None or self.formula.is_exact else _GROWTH * len(self._rows)
        return self.formula is not None

    @property
    def names(self) -> tuple[str, str]:
        """What its measures are called."""
        return f"{self.resource} over its limit", self.resource

    def measures(self) -> list[Measure]:
        """Whether a cell is over its limit, by the formula; and by how much, where that is not exact."""
        formula = self.formula
        if formula is None:
            return []
        axes = tuple(sorted({*formula.axes, *([self._target_axis] if self._target_axis is not None else [])}))

        def share(at: tuple[int, ...]) -> float:
            positions = [0] * len(self._grid.axes)
            for axis, position in zip(axes, at, strict=True):
                positions[axis] = position
            limit = self._limit(positions)
            return 0.0 if limit is None else formula.at(positions) / limit

        def over(at: tuple[int, ...]) -> Hashable:
            return share(at) > 1 + 1e-9

        over_limit, size = self.names
        measures = [Measure(over_limit, axes, over, False, 0.0)]
        if not formula.is_exact:
            measures.append(Measure(size, axes, lambda at: float(f"{share(at):.2g}"), True, 0.0))
        return measures

    def doubtful(self, boxes: MeasureBoxes, unseen: CellSet) -> Iterator[CellSet]:
        """Sets of cells that may be on either side of the limit for all that is known, nearest first; and those with
        the largest numbers, where a formula has been refuted least."""
        if self.formula is None or self.formula.is_exact:
            return
        measure = self.measures()[-1]
        shares = [(float(str(value)), cells & unseen) for value, cells in boxes.by_value(measure).items()]
        shares = [(value, cells) for value, cells in shares if cells and value > 0]
        margin = log(1 + 2 * self.formula.residual)
        if shares and (largest := max(shares))[0] > 1 / (1 + 2 * self.formula.residual):
            yield largest[1]
        for value, cells in sorted(shares, key=lambda item: abs(log(item[0]))):
            if abs(log(value)) <= margin:
                yield cells

    def _limit(self, at: Sequence[int]) -> int | None:
        return self._limits[0 if self._target_axis is None else at[self._target_axis]]
