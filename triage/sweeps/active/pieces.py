"""A formula in pieces: one where one holds for all cells, else one for each part of an axis. Pure.

A compiler takes another path for a flag, a target, too few warps or a single stage, and there other buffers count. So
cells are divided by one axis as long as no part has an exact formula, the part of more cells first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb, prod

from triage.sweeps.active.formula import EXACT, Formula, Library
from triage.sweeps.grid import Grid

_FLOORS = (0.0, 1 / 4, 1 / 2)
"""Parts of the limit below which cells are left out of a fit: far below it another buffer is the largest."""
_LEAST_ROWS = 4
_MOST_ROWS = 24
"""Rows that a formula is fitted to, those with the largest numbers; on the others it is checked."""
_DEPTH = 3
"""Divisions one below the other."""
_FEW = 32
"""An axis with larger numbers is the extent of a tile, in which formulas are smooth."""
_CHANCE = 1 / 20
"""How many formulas would fit by chance before one that fits counts as exact."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A compiled cell: its positions on all axes, what it uses, and the limit of its target."""

    at: tuple[int, ...]
    number: float
    limit: float | None

    @property
    def share(self) -> float:
        """The part of the limit."""
        return self.number / self.limit if self.limit else 0.0


@dataclass(frozen=True, slots=True)
class Piece:
    """Either a ``formula`` for cells that use at least ``floor`` of the limit, or a division: ``inside`` holds where
    the position on ``axis`` is among ``positions``, ``outside`` elsewhere."""

    formula: Formula | None = None
    floor: float = 0.0
    exact: bool = False
    axis: int = -1
    positions: frozenset[int] = frozenset()
    inside: Piece | None = None
    outside: Piece | None = None

    def leaf(self, at: Sequence[int]) -> Piece:
        """The undivided piece of a cell."""
        piece = self
        while piece.inside is not None and piece.outside is not None:
            piece = piece.inside if at[piece.axis] in piece.positions else piece.outside
        return piece

    def at(self, at: Sequence[int]) -> float:
        """What a cell uses; 0 where nothing is known."""
        formula = self.leaf(at).formula
        return 0.0 if formula is None else formula.at(at)

    def agrees(self, row: Sized) -> bool:
        """Whether an exact piece says what a cell was seen to use, or both are far below the limit."""
        leaf, predicted = self.leaf(row.at), self.at(row.at)
        if not leaf.exact:
            return False
        if row.limit and max(row.number, predicted) < leaf.floor * row.limit:
            return True
        return abs(predicted - row.number) <= EXACT * row.number

    @property
    def leaves(self) -> Iterator[Piece]:
        """The undivided pieces."""
        if self.inside is None or self.outside is None:
            yield self
        else:
            yield from self.inside.leaves
            yield from self.outside.leaves

    @property
    def is_exact(self) -> bool:
        """Every piece is."""
        return all(leaf.exact for leaf in self.leaves)

    @property
    def residual(self) -> float:
        """The largest relative error of a piece."""
        return max(leaf.formula.residual if leaf.formula is not None else 1.0 for leaf in self.leaves)

    @property
    def axes(self) -> set[int]:
        """The axes that it depends on."""
        if self.inside is not None and self.outside is not None:
            return {self.axis} | self.inside.axes | self.outside.axes
        return set(self.formula.axes) if self.formula is not None else set()

    def __str__(self) -> str:
        if self.inside is not None and self.outside is not None:
            return f"[{self.axis} in {sorted(self.positions)}: {self.inside}; else {self.outside}]"
        rows, residual = (self.formula.rows, self.formula.residual) if self.formula is not None else (0, 1.0)
        return f"{self.formula} ({'exact' if self.exact else f'{residual:.2g}'}, {rows} rows, from {self.floor:.2g})"


class Fitter:
    """Finds pieces."""

    def __init__(self, grid: Grid, library: Library) -> None:
        self._grid, self._library = grid, library

    def fit(self, rows: Sequence[Sized], *, pieces: bool = True) -> Piece | None:
        """The formula of these cells; with ``pieces`` in pieces, where it is not exact else. None without any."""
        return self._fit(rows, self._whole(rows), _DEPTH if pieces else 0)

    def _fit(self, rows: Sequence[Sized], whole: Piece | None, depth: int) -> Piece | None:
        if whole is None or whole.exact or depth == 0 or len(rows) < 2 * _LEAST_ROWS:
            return whole
        best: tuple[tuple[int, float], Piece, list[list[Sized]]] | None = None
        for axis, positions in self._divisions(rows):
            parts: list[list[Sized]] = [[], []]
            for row in rows:
                parts[row.at[axis] not in positions].append(row)
            inside, outside = map(self._whole, parts)
            if inside is None or outside is None:
                continue
            explained = sum(len(part) for part, piece in zip(parts, (inside, outside), strict=True) if piece.exact)
            piece = Piece(axis=axis, positions=positions, inside=inside, outside=outside)
            rank = (
                explained,
                -sum(len(part) * leaf.residual for part, leaf in zip(parts, (inside, outside), strict=True)),
            )
            if best is None or rank > best[0]:
                best = rank, piece, parts
            if explained == len(rows):
                break
        if best is None:
            return whole
        _, piece, parts = best
        deeper = [
            self._fit(part, leaf, depth - 1) for part, leaf in zip(parts, (piece.inside, piece.outside), strict=True)
        ]
        return replace(piece, inside=deeper[0], outside=deeper[1])

    def _divisions(self, rows: Sequence[Sized]) -> Iterator[tuple[int, frozenset[int]]]:
        """Parts of axes: single values, and of numbers those up to a value."""
        for index, axis in enumerate(self._grid.axes):
            seen = sorted({row.at[index] for row in rows})
            if len(seen) < 2 or (axis.is_numeric and max(axis.values) > _FEW):
                continue
            if axis.is_numeric:
                yield from ((index, frozenset(seen[:count])) for count in range(1, len(seen)))
            else:
                yield from ((index, frozenset({position})) for position in (seen if len(seen) > 2 else seen[:1]))

    def _whole(self, rows: Sequence[Sized]) -> Piece | None:
        """One formula, for all cells or for those near the limit."""
        best: Piece | None = None
        for floor in _FLOORS:
            near = sorted((row for row in rows if row.share >= floor), key=lambda row: -row.share)
            if floor and len(near) < _LEAST_ROWS:
                break
            if best is not None and floor and len(near) == len(rows):
                continue
            formula = self._library.fit([(row.at, row.number) for row in near[:_MOST_ROWS]])
            if formula is None:
                break
            errors = [abs(formula.at(row.at) / row.number - 1) for row in near]
            formula = replace(formula, residual=max(errors), rows=len(near))
            # What is far below the limit must not be predicted to be over it.
            if any(row.limit and formula.at(row.at) > row.limit for row in rows if row.share < floor):
                continue
            exact = formula.residual <= EXACT and self._is_no_chance(formula, near)
            if exact or best is None or best.formula is None or formula.residual < best.formula.residual:
                best = Piece(formula, floor, exact or (formula.residual <= EXACT and self._constant(near, formula)))
            if best.exact:
                return best
        return best

    def _is_no_chance(self, formula: Formula, rows: Sequence[Sized]) -> bool:
        """Of all formulas of as many terms, hardly any would fit these rows by chance: beyond one row for each weight,
        each that differs in the formula's axes has to lie within the tolerance."""
        terms = len(formula.terms)
        surplus = len({tuple(row.at[axis] for axis in formula.axes) for row in rows}) - terms
        return comb(len(self._library.terms), terms) * (2 * EXACT) ** max(0, surplus) <= _CHANCE

    def _constant(self, rows: Sequence[Sized], formula: Formula) -> bool:
        """All combinations of the formula's axes were seen, several times, so nothing is extrapolated."""
        count = prod(len(self._grid.axes[axis].values) for axis in formula.axes)
        seen = {tuple(row.at[axis] for axis in formula.axes) for row in rows}
        return len(seen) == count and len(rows) >= 2 * count + _LEAST_ROWS
