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

    def _products(self, at: Sequence[int]) -> list[float]:
        """The values of all terms in a cell."""
        key = tuple(at)
        if key not in self._known:
            self._known[key] = [prod(factor.at(at) for factor in term) for term in self.terms]
        return self._known[key]

    def fit(self, rows: Sequence[Row]) -> Formula | None:
        """The formula with the fewest terms that is exact, else the best that was seen; None without rows."""
        if not rows:
            return None
        distinct: dict[tuple[float, ...], tuple[Term, tuple[float, ...]]] = {}
        products = [self._products(at) for at, _ in rows]
        scales = [1 / number for _, number in rows]
        for term, values in zip(self.terms, zip(*products, strict=True), strict=True):
            first = next(filter(None, values), 0.0)
            if first:
                # Terms that are proportional on these rows are one: the simplest is taken, as terms are ordered.
                distinct.setdefault(tuple(map(truediv, values, repeat(first))), (term, tuple(map(mul, values, scales))))
        features = [(values, term, sum(map(mul, values, values))) for term, values in distinct.values()]
        best: Formula | None = None
        beam: list[tuple[tuple[int, ...], list[float]]] = [((), [1.0] * len(rows))]
        for _ in range(min(MOST_TERMS, len(rows))):
            grown: dict[tuple[int, ...], tuple[float, list[float], list[float]]] = {}
            for chosen, residual in beam:
                for index in _promising(features, residual, chosen):
                    key = tuple(sorted((*chosen, index)))
                    if key not in grown and (solved := _solve([features[i][0] for i in key])) is not None:
                        weights, rest = solved
                        grown[key] = max(map(abs, rest)), weights, rest
            if not grown:
                break
            ranked = sorted(grown.items(), key=lambda item: sum(value * value for value in item[1][2]))
            for key, (worst, weights, _) in ranked[:_BEAM]:
                if best is None or worst < best.residual:
                    best = Formula(tuple(features[i][1] for i in key), tuple(weights), worst, len(rows))
            if best is not None and best.residual <= EXACT:
                return best
            beam = [(key, rest) for key, (_, _, rest) in ranked[:_BEAM]]
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


Feature = tuple[tuple[float, ...], Term, float]


def _promising(features: Sequence[Feature], residual: Sequence[float], chosen: Sequence[int]) -> list[int]:
    """The features that agree best with what is not explained yet."""

    agreements = [
        (sum(map(mul, values, residual)) ** 2 / square, -index) for index, (values, _, square) in enumerate(features)
    ]
    best = nlargest(2 * _BEAM + len(chosen), agreements)
    return [-index for _, index in best if -index not in chosen]


def _solve(columns: Sequence[Sequence[float]]) -> tuple[list[float], list[float]] | None:
    """Weights of the columns whose sum is nearest to one in every row, and what remains; None where the columns depend
    on each other, or where a weight is negative: nothing uses less than no memory."""
    size = len(columns)
    matrix = [[sum(map(mul, columns[i], columns[j])) for j in range(size)] + [sum(columns[i])] for i in range(size)]
    squares = [matrix[i][i] for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(matrix[row][i]))
        if abs(matrix[pivot][i]) <= 1e-9 * squares[i]:
            return None
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for row in range(size):
            if row != i:
                factor = matrix[row][i] / matrix[i][i]
                matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[i], strict=True)]
    weights = [matrix[i][size] / matrix[i][i] for i in range(size)]
    if min(weights) < 0:
        return None
    rest = [1 - sum(w * c for w, c in zip(weights, row, strict=True)) for row in zip(*columns, strict=True)]
    return weights, rest
