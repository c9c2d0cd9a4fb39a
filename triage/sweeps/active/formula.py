"""Formulas of what compiled kernels use: few products of axes, by least squares on the relative error. Pure.

Shared memory, tensor memory and threads are sums of products: stages times extents times widths, warps times threads.
So a formula is searched among the sums of at most :data:`MOST_TERMS` products, which is exact or it is not: exact
formulas extrapolate, and the residual of the others is known. Where one formula does not hold for all cells it may
hold for each value of one axis (a target, a flag, one stage or several).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import combinations, repeat
from math import prod
from operator import mul, truediv

from triage.sweeps.columns import Column

MOST_TERMS = 4
"""Two operands, an accumulator or a scratch buffer, and a constant."""
_MOST_FACTORS = 4
"""Stages, two extents, a width."""
EXACT = 0.005
"""A relative residual below this counts as none: alignment and barriers add less to what is near a limit."""
_BEAM = 3
_FEW = 8.0
"""A column with no value above this counts copies (stages, CTAs), of which one may be needed less."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A column, or the column less one."""

    column: Column
    less: int = 0

    def at(self, positions: Sequence[int]) -> float:
        """Its value in a cell."""
        return self.column.values[positions[self.column.axis]] - self.less


Term = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A sum of products. ``residual``: the largest relative error on the rows that it was fitted to, ``rows`` many."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    residual: float
    rows: int

    def at(self, positions: Sequence[int]) -> float:
        """Its value in a cell."""
        return sum(
            weight * prod(factor.at(positions) for factor in term)
            for term, weight in zip(self.terms, self.weights, strict=True)
        )

    @property
    def axes(self) -> frozenset[int]:
        """The axes that it depends on."""
        return frozenset(factor.column.axis for term in self.terms for factor in term)

    def __str__(self) -> str:
        names = ["*".join(f"({f.column.name}-1)" if f.less else f.column.name for f in term) for term in self.terms]
        return " + ".join(f"{weight:.6g}*{name or 1}" for weight, name in zip(self.weights, names, strict=True))


Row = tuple[Sequence[int], float]
"""The positions of a cell on all axes, and what it uses."""


class Library:
    """The products that formulas are made of, with their values in each row: computed once for a fit."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.terms = list(_terms([column for column in columns if column.size]))
        self._known: dict[tuple[int, ...], list[float]] = {}
        self._fits: dict[tuple[tuple[tuple[int, ...], float], ...], Formula | None] = {}

    def _products(self, at: Sequence[int]) -> list[float]:
        """The values of all terms in a cell."""
        key = tuple(at)
        if key not in self._known:
            self._known[key] = [prod(factor.at(at) for factor in term) for term in self.terms]
        return self._known[key]

    def fit(self, rows: Sequence[Row]) -> Formula | None:
        """The formula with the fewest terms that is exact, else the best that was seen; None without rows."""
        key = tuple((tuple(at), number) for at, number in rows)
        if key not in self._fits:
            self._fits[key] = self._fitted(rows) if rows else None
        return self._fits[key]

    def _fitted(self, rows: Sequence[Row]) -> Formula | None:
        distinct: dict[tuple[float, ...], tuple[Term, tuple[float, ...]]] = {}
        products = [self._products(at) for at, _ in rows]
        scales = [1 / number for _, number in rows]
        for term, values in zip(self.terms, zip(*products, strict=True), strict=True):
            first = next(filter(None, values), 0.0)
            if first:
                # Terms that are proportional on these rows are one: the simplest is taken, as terms are ordered.
                distinct.setdefault(tuple(map(truediv, values, repeat(first))), (term, tuple(map(mul, values, scales))))
        system = _System([values for _, values in distinct.values()])
        terms = [term for term, _ in distinct.values()]
        best: Formula | None = None
        beam: list[tuple[tuple[int, ...], Sequence[float]]] = [((), [1.0] * len(rows))]
        for _ in range(min(MOST_TERMS, len(rows))):
            grown: dict[tuple[int, ...], _Solution] = {}
            for chosen, residual in beam:
                for index in system.promising(residual, chosen):
                    key = tuple(sorted((*chosen, index)))
                    if key not in grown and (solution := system.solve(key)) is not None:
                        grown[key] = solution
            if not grown:
                break
            beam = []
            for key, (_, weights) in sorted(grown.items(), key=lambda item: item[1][0])[:_BEAM]:
                rest = system.rest(key, weights)
                worst = max(map(abs, rest))
                beam.append((key, rest))
                if best is None or worst < best.residual:
                    best = Formula(tuple(terms[i] for i in key), tuple(weights), worst, len(rows))
            if best is not None and best.residual <= EXACT:
                return best
        return best


def _terms(sizes: Sequence[Column]) -> Iterator[Term]:
    factors = [[Factor(column)] + [Factor(column, 1)] * (max(column.values) <= _FEW) for column in sizes]
    for count in range(_MOST_FACTORS + 1):
        for group in combinations(factors, count):
            if len({options[0].column.axis for options in group}) < count:
                continue
            yield from _choices(group)


def _choices(group: Sequence[Sequence[Factor]]) -> Iterator[Term]:
    if not group:
        yield ()
        return
    for rest in _choices(group[1:]):
        for factor in group[0]:
            yield (factor, *rest)


_Solution = tuple[float, list[float]]
"""The sum of the squares of what remains, and the weights."""


class _System:
    """Columns, of which sums are to be one in every row: least squares by the normal equations, whose products are
    computed once."""

    def __init__(self, columns: Sequence[Sequence[float]]) -> None:
        self._columns = columns
        self._squares: list[float] = [sum(map(mul, column, column)) for column in columns]
        self._sums: list[float] = [sum(column) for column in columns]
        self._products: dict[tuple[int, int], float] = {}

    def promising(self, residual: Sequence[float], chosen: Sequence[int]) -> list[int]:
        """The columns that agree best with what is not explained yet."""
        agreements = [
            (sum(map(mul, column, residual)) ** 2 / square, -index)
            for index, (column, square) in enumerate(zip(self._columns, self._squares, strict=True))
        ]
        best = nlargest(2 * _BEAM + len(chosen), agreements)
        return [-index for _, index in best if -index not in chosen]

    def rest(self, chosen: Sequence[int], weights: Sequence[float]) -> list[float]:
        """What remains of each row."""
        parts = [map(mul, repeat(weight), self._columns[i]) for i, weight in zip(chosen, weights, strict=True)]
        return [1 - value for value in map(sum, zip(*parts, strict=True))]

    def solve(self, chosen: Sequence[int]) -> _Solution | None:
        """None where the columns depend on each other, or where a weight is negative: nothing uses less than no
        memory."""
        size = len(chosen)
        matrix = [[self._product(i, j) for j in chosen] + [self._sums[i]] for i in chosen]
        for i in range(size):
            pivot = max(range(i, size), key=lambda row: abs(matrix[row][i]))
            if abs(matrix[pivot][i]) <= 1e-9 * self._squares[chosen[i]]:
                return None
            matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
            for row in range(size):
                if row != i:
                    factor = matrix[row][i] / matrix[i][i]
                    matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[i], strict=True)]
        weights = [matrix[i][size] / matrix[i][i] for i in range(size)]
        if min(weights) < 0:
            return None
        explained = sum(weight * self._sums[i] for i, weight in zip(chosen, weights, strict=True))
        return float(len(self._columns[0]) - explained), weights

    def _product(self, i: int, j: int) -> float:
        if i == j:
            return self._squares[i]
        key = (i, j) if i < j else (j, i)
        if key not in self._products:
            self._products[key] = float(sum(map(mul, self._columns[i], self._columns[j])))
        return self._products[key]
