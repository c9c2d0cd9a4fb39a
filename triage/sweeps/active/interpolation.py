"""What cells use of a resource where no formula is exact: interpolated between compiled cells. Pure.

A Gaussian process (Rasmussen and Williams, 2006, chapters 2 and 5) over the logarithms of the axes' numbers, around a
product of powers of them. How far a compiled cell tells something of others is chosen among few lengths, as what
predicts each compiled cell best from all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log, log2, sqrt
from operator import mul

from triage.sweeps.active.order import OrderedPart
from triage.sweeps.active.pieces import Sized
from triage.sweeps.columns import Column
from triage.sweeps.grid import CellSet, Grid

_SCALES = (0.025, 0.05, 0.1, 0.2, 0.4)
"""Inverse squares of lengths: an extent four times as large tells between 20 and 90 % of what it could tell."""
_ELSEWHERE = 0.5
"""Correlation with cells of another part: the same kernel, compiled in another way."""
_NUGGET, _RIDGE = 1e-3, 0.1
_MOST_ROWS = 96
"""Rows that are used, those nearest to their limit: the time is that of a matrix inversion."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """``error``: the standard deviation of predictions of left-out rows."""

    scale: float
    weights: tuple[float, ...]
    error: float
    likelihood: float


class Interpolation:
    """``rows``: compiled cells, one at least. ``parts``: of the grid, by the order."""

    def __init__(
        self, grid: Grid, columns: Sequence[Column], parts: Sequence[OrderedPart], rows: Sequence[Sized]
    ) -> None:
        self._grid, self._parts = grid, parts
        nearest = sorted(rows, key=lambda row: abs(log(row.share)) if row.share else 99.0)
        self._rows = [row for row in nearest if row.number > 0][:_MOST_ROWS]
        self._features = [
            [tuple(log2(max(column.values[at], 1.0)) for column in columns if column.axis == index and column.size)
             for at in range(len(axis.values))]
            for index, axis in enumerate(grid.axes)
        ]  # fmt: skip
        divided = {
            axis for part in parts for axis, at in enumerate(part.positions) if len(at) < len(grid.axes[axis].values)
        }
        self._axes = [axis for axis, features in enumerate(self._features) if features[0] or axis in divided]
        points = [self._point(row.at) for row in self._rows]
        numbers = [log2(row.number) for row in self._rows]
        sums = [sum(map(mul, column, numbers)) for column in zip(*points, strict=True)]
        self._trend, _ = _factored(_normal(points), sums)
        rest = [number - sum(map(mul, self._trend, point)) for number, point in zip(numbers, points, strict=True)]
        self._factors = [[1.0 if part.has(row.at) else _ELSEWHERE for row in self._rows] for part in parts]
        self._fit = max((self._fitted(scale, rest) for scale in _SCALES), key=lambda fit: fit.likelihood)

    @property
    def error(self) -> float:
        """The standard deviation of the binary logarithms that it predicts."""
        return self._fit.error

    def numbers(self, cells: CellSet) -> Iterator[tuple[float, CellSet]]:
        """Binary logarithms of what these cells use, each with the cells of which it is predicted."""
        tables = self._tables(self._fit.scale)
        constant, *slopes = self._trend
        trends = []
        for features in self._features:
            used, slopes = slopes[: len(features[0])], slopes[len(features[0]) :]
            trends.append([sum(map(mul, used, here)) for here in features])

        def descend(
            depth: int, at: list[int], trend: float, weights: Sequence[float], box: CellSet
        ) -> Iterator[tuple[float, CellSet]]:
            if depth == len(self._axes):
                part = next(number for number, part in enumerate(self._parts) if self._is_in(part, at))
                yield trend + sum(map(mul, weights, self._factors[part])), box
                return
            axis = self._axes[depth]
            for position, (slope, table) in enumerate(zip(trends[axis], tables[axis], strict=True)):
                inside = box & self._grid.with_value(axis, position)
                if inside:
                    at[axis] = position
                    yield from descend(depth + 1, at, trend + slope, list(map(mul, weights, table)), inside)

        yield from descend(0, [0] * len(self._grid.axes), constant, self._fit.weights, cells)

    def _is_in(self, part: OrderedPart, at: Sequence[int]) -> bool:
        return all(at[axis] in part.positions[axis] for axis in self._axes)

    def _point(self, at: Sequence[int]) -> list[float]:
        return [
            1.0,
            *(value for features, position in zip(self._features, at, strict=True) for value in features[position]),
        ]

    def _tables(self, scale: float) -> list[list[list[float]]]:
        """By axis and position: how similar each row is on this axis."""
        return [
            [
                [
                    exp(-scale * sum((a - b) ** 2 for a, b in zip(here, features[row.at[axis]], strict=True)))
                    for row in self._rows
                ]
                for here in features
            ]
            for axis, features in enumerate(self._features)
        ]

    def _fitted(self, scale: float, rest: Sequence[float]) -> _Fit:
        tables = self._tables(scale)
        matrix = []
        for number, row in enumerate(self._rows):
            part = next(index for index, part in enumerate(self._parts) if part.has(row.at))
            similar = self._factors[part]
            for axis in self._axes:
                similar = list(map(mul, similar, tables[axis][row.at[axis]]))
            matrix.append([value + _NUGGET * (other == number) for other, value in enumerate(similar)])
        weights, precisions = _factored(matrix, rest)
        # Of each row, the error and the variance of its prediction from all others (chapter 5.4.2).
        variances = [1 / precision for precision in precisions]
        errors = [weight * variance for weight, variance in zip(weights, variances, strict=True)]
        spread = sum(error**2 / variance for error, variance in zip(errors, variances, strict=True)) / len(errors)
        spread = max(spread, 1e-9)
        likelihood = -sum(log(spread * variance) for variance in variances)
        return _Fit(scale, tuple(weights), (sum(error**2 for error in errors) / len(errors)) ** 0.5, likelihood)


def _normal(points: Sequence[Sequence[float]]) -> list[list[float]]:
    columns = list(zip(*points, strict=True))
    return [
        [sum(map(mul, a, b)) + _RIDGE * (i == j and i > 0) for j, b in enumerate(columns)]
        for i, a in enumerate(columns)
    ]


def _factored(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> tuple[list[float], list[float]]:
    """The solution of a symmetric, positive definite system, and the diagonal of the matrix's inverse: by Cholesky's
    factor and its inverse, which costs a sixth of an inversion by elimination."""
    factor: list[list[float]] = []
    scales: list[float] = []
    solved: list[float] = []
    for line, number in zip(matrix, right, strict=True):
        row: list[float] = []
        for value, earlier, scale in zip(line, factor, scales, strict=False):
            row.append((value - sum(map(mul, row, earlier))) * scale)
        diagonal = sqrt(line[len(row)] - sum(map(mul, row, row)))
        solved.append((number - sum(map(mul, row, solved))) / diagonal)
        factor.append([*row, diagonal])
        scales.append(1 / diagonal)
    columns = []
    for first, scale in enumerate(scales):
        column = [scale]
        for number in range(first + 1, len(scales)):
            column.append(-scales[number] * sum(map(mul, factor[number][first:number], column)))
        columns.append(column)
    weights = [sum(map(mul, column, solved[first:])) for first, column in enumerate(columns)]
    return weights, [sum(map(mul, column, column)) for column in columns]
