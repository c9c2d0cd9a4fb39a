"""What cells use of a resource, predicted as a number and compared with each target's limit.

Every compile that ends says what it uses, and a failure that is over a limit says what it required. From these numbers
follow bounds of those of other cells (``order.py``); where they do not tell on which side of its limit a cell is, a
formula does (``pieces.py``). Both are of numbers, so a compile for one target answers for the limits of all targets
that were not seen to differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from math import log2
from statistics import NormalDist

from triage.model.target import Target
from triage.sweeps.active.draw import draw
from triage.sweeps.active.formula import Library
from triage.sweeps.active.interpolation import Interpolation
from triage.sweeps.active.measures import Measure, MeasureBoxes, by_value
from triage.sweeps.active.order import Order, OrderedPart
from triage.sweeps.active.pieces import Fitter, Piece, Sized
from triage.sweeps.columns import columns, target_of
from triage.sweeps.grid import Cell, CellSet, Grid
from triage.sweeps.observation import CellObservation

SHARED, TENSOR, THREADS = "shared memory", "tensor memory", "threads"
_NEAR = 1 / 4
"""Part of a limit above which a resource may exceed it in other cells: two more factors may double it each."""
_GROWTH = 1.4
"""Without an exact formula, another search is worth its time when there are this many times more rows."""


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


_DRAWN = 32
"""Doubtful cells of which the one that settles most is compiled."""


class ResourceQuantity:
    """One resource: what is known of it, bounds, and a formula in pieces."""

    def __init__(self, grid: Grid, base: Target, resource: str) -> None:
        self.resource = resource
        self._grid = grid
        self._columns = columns(grid)
        self._fitter, self._order = Fitter(grid, Library(self._columns)), Order(grid, self._columns)
        self._target_axis, targets = target_of(grid, base)
        self._limits = [limit_of(target, resource) for target in targets]
        self._rows: dict[Cell, Sized] = {}
        self.formula: Piece | None = None
        self.over: CellSet = 0
        """The cells that are predicted to be over their limit."""
        self._settled: CellSet = 0
        """Cells of which the bounds tell on which side of the limit they are."""
        self._parts: list[OrderedPart] = []
        self._doubts: dict[float, CellSet] = {}
        """The other cells by how likely their prediction is wrong."""
        self._is_new, self._is_refuted = False, False
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
        self._is_new = True
        self._is_refuted |= self.formula is None or not self.formula.agrees(row)

    def refit(self) -> bool:
        """Take new rows into account, where some cell may be over its limit; whether there were any."""
        if not self._is_new or self._highest < _NEAR:
            return False
        self._is_new = False
        rows = list(self._rows.values())
        if self._is_refuted and len(rows) >= self._next_fit:
            self._is_refuted = False
            # As long as it seems not to matter, a search of pieces is not worth its time.
            self.formula = self._fitter.fit(rows, pieces=self._highest >= 2 * _NEAR)
            exact = self.formula is None or self.formula.is_exact
            self._next_fit = 0.0 if exact else _GROWTH * len(rows)
        over, within = self._bounds(rows)
        self._doubts = {}
        self.over, self._settled = over, over | within
        if self.formula is not None:
            self._predict(self.formula, rows)
        return True

    @property
    def name(self) -> str:
        """What its measure is called."""
        return f"{self.resource} over its limit"

    def measure(self, boxes: MeasureBoxes) -> Measure:
        """Whether a cell is predicted to be over its limit: always by the last fit."""
        axes = tuple(range(len(self._grid.axes)))
        measure = Measure(self.name, axes, self._is_over, False, 0.0, (False, True), self.resource)
        boxes.put(measure, {True: self.over, False: self._grid.whole & ~self.over})
        return measure

    def _is_over(self, at: Sequence[int]) -> bool:
        return bool(self.over >> self._grid.number(at) & 1)

    def doubtful(
        self, unseen: CellSet, rng: random.Random, novelty: Callable[[Cell], int]
    ) -> Iterator[tuple[Cell, float]]:
        """Cells of which the bounds do not tell on which side of the limit they are, first those by which most wrong
        predictions are expected to be settled, of equal ones the newest; with how likely the most doubtful prediction
        is wrong."""
        left = unseen & ~self._settled if self._parts else 0
        while left:
            settled = {cell: self._settled_by(cell, left) for cell in draw(left, _DRAWN, rng)}
            best = max(settled, key=lambda cell: (round(settled[cell][0], 2), novelty(cell)))
            yield best, max((doubt for doubt, cells in self._doubts.items() if cells & left), default=0.0)
            left &= ~(settled[best][1] | 1 << best)

    def _settled_by(self, cell: Cell, left: CellSet) -> tuple[float, CellSet]:
        """The wrong predictions that a compile is expected to settle, and the cells that it settles as expected."""
        at, is_over = self._grid.at(cell), bool(self.over >> cell & 1)
        part = next(part for part in self._parts if part.has(at))
        sides = self._order.above(part, at) & left, self._order.below(part, at) & left
        doubt = self._doubt_of(cell)
        expected = [sum(doubt * (side & cells).bit_count() for doubt, cells in self._doubts.items()) for side in sides]
        likely, unlikely = (0, 1) if is_over else (1, 0)
        return (1 - doubt) * expected[likely] + doubt * expected[unlikely], sides[likely]

    def _bounds(self, rows: Sequence[Sized]) -> tuple[CellSet, CellSet]:
        """The cells that are over their limit, and those that are not, as far as the order tells."""
        limits = [limit for limit in self._limits if limit is not None]
        self._parts = self._order.parts(rows, _NEAR * min(limits)) if limits else []
        over = within = 0
        for part in self._parts:
            for number, row in enumerate(rows):
                if not part.rows >> number & 1:
                    continue
                above, below = self._order.above(part, row.at), self._order.below(part, row.at)
                for limit in set(limits):
                    if row.number > limit:
                        over |= above & self._with_limit(limit)
                    else:
                        within |= below & self._with_limit(limit)
        both = over & within
        return over & ~both, within & ~both

    def _with_limit(self, limit: int) -> CellSet:
        if self._target_axis is None:
            return self._grid.whole
        positions = [position for position, other in enumerate(self._limits) if other == limit]
        return self._grid.selected({self._target_axis: positions})

    def _predict(self, formula: Piece, rows: Sequence[Sized]) -> None:
        """What the bounds do not settle: by a formula where it is exact, else by interpolation. Where an exact formula
        contradicts the bounds, one of both is wrong."""
        for answer, box in self._by_formula(formula).items():
            if answer is not None:
                predicted, confirmed = answer
                disputed = box & self._settled & (~self.over if predicted else self.over)
                left = box & self._grid.allowed & ~self._settled
                self._settled &= ~disputed
                self.over = self.over & ~left | (left if predicted else 0)
                self._doubt(0.5, disputed)
                self._doubt(1 / (confirmed + 2), left)  # Laplace's rule of succession.
        known = self._settled
        for cells in self._doubts.values():
            known |= cells
        left = self._grid.allowed & ~known
        if not left or not self._parts or self._highest < 2 * _NEAR:
            return
        interpolation = Interpolation(self._grid, self._columns, self._parts, rows)
        spread = NormalDist(0.0, max(interpolation.error, 1e-3))
        limits = {limit: self._with_limit(limit) for limit in self._limits if limit is not None}
        for number, box in interpolation.numbers(left):
            for limit, members in limits.items():
                likely = spread.cdf(number - log2(limit))
                self.over |= box & members if likely > 0.5 else 0
                self._doubt(min(likely, 1 - likely), box & members)

    def _doubt_of(self, cell: Cell) -> float:
        return max((doubt for doubt, cells in self._doubts.items() if cells >> cell & 1), default=0.0)

    def _doubt(self, likely: float, cells: CellSet) -> None:
        level = round(likely, 1) or round(likely, 2) or 0.001
        self._doubts[level] = self._doubts.get(level, 0) | cells

    def _by_formula(self, formula: Piece) -> dict[tuple[bool, int] | None, CellSet]:
        """Whether cells are over their limit as exact formulas say, and how many rows confirm that; None: no formula is
        exact."""
        if not any(leaf.exact for leaf in formula.leaves):
            return {}
        axes = tuple(sorted({*formula.axes, *([self._target_axis] if self._target_axis is not None else [])}))

        def is_over(at: tuple[int, ...]) -> tuple[bool, int] | None:
            positions = [0] * len(self._grid.axes)
            for axis, position in zip(axes, at, strict=True):
                positions[axis] = position
            leaf, limit = formula.leaf(positions), self._limit(positions)
            if leaf.formula is None or not leaf.exact:
                return None
            return limit is not None and leaf.formula.at(positions) > limit * (1 + 1e-9), leaf.formula.rows

        return by_value(self._grid, axes, is_over)

    def _limit(self, at: Sequence[int]) -> int | None:
        return self._limits[0 if self._target_axis is None else at[self._target_axis]]
