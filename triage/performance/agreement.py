"""How well estimated times agree with measured ones: the table of a kernel, its rank correlation, and its regret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any, ClassVar

from triage.model.document import Amount, Count, Doc, Documented

_FIRST = 3
"""Choices of the model that a user would try."""
_FEWEST = 3
"""Configurations below which ranks say nothing."""


@dataclass(frozen=True, slots=True)
class ModelRow(Documented):
    """One configuration. ``measured_ms`` is the median of its launches; ``problem``: why it, or the estimate, is
    missing."""

    changes: Annotated[Mapping[str, Any], Doc("Of the case.")]
    measured_ms: Annotated[Amount | None, Doc(digits=6)] = None
    expected_ms: Annotated[Amount | None, Doc(digits=6)] = None
    bound_by: str | None = None
    problem: Annotated[str, Doc(blank=True)] = ""


@dataclass(frozen=True, slots=True)
class Agreement(Documented):
    """``correlation`` is Spearman's, of the ranks of expected and measured times, None where one of them has a single
    value. ``first`` is the time of the configuration that is expected to be fastest, as a multiple of the fastest
    measured one; ``first_three``: of the best of the first three."""

    configurations: Count
    correlation: Annotated[float | None, Doc(digits=3, schema={"minimum": -1, "maximum": 1})]
    first: Annotated[Amount, Doc(digits=3)]
    first_three: Annotated[Amount, Doc(digits=3)]


@dataclass(frozen=True, slots=True)
class ModelTable(Documented):
    """One kernel. ``case`` is as it was named, ``document`` its ``case.json``."""

    case: str
    document: Mapping[str, Any]
    rows: tuple[ModelRow, ...]

    @property
    def agreement(self) -> Annotated[Agreement | None, Doc("Null for fewer than three configurations with both.")]:
        """Over the rows that have both times."""
        return agreement([(row.expected_ms, row.measured_ms) for row in self.rows])


@dataclass(frozen=True, slots=True)
class ModelTables(Documented):
    """Tables that were measured on one ``device`` with one ``triton``."""

    schema_name: ClassVar[str] = "triton-triage/bench-model/1"

    device: str
    triton: str
    kernels: tuple[ModelTable, ...]

    @property
    def overall(self) -> Annotated[Agreement | None, Doc("Medians over the kernels; null where none has one.")]:
        """The median kernel."""
        agreements = [value for table in self.kernels if (value := table.agreement) is not None]
        if not agreements:
            return None
        correlations = [agreed.correlation for agreed in agreements if agreed.correlation is not None]
        return Agreement(
            sum(agreed.configurations for agreed in agreements),
            median(correlations) if correlations else None,
            median(agreed.first for agreed in agreements),
            median(agreed.first_three for agreed in agreements),
        )

    @property
    def worst(self) -> Annotated[Amount | None, Doc("Of the kernels, the greatest multiple of a first choice.")]:
        """The kernel for which the first choice is worst."""
        return max((value.first for table in self.kernels if (value := table.agreement)), default=None)


def agreement(times: Iterable[tuple[float | None, float | None]]) -> Agreement | None:
    """Of pairs of expected and measured times, those that have both; None for fewer than three."""
    pairs = [(expected, measured) for expected, measured in times if expected is not None and measured]
    if len(pairs) < _FEWEST:
        return None
    fastest = min(measured for _, measured in pairs)
    chosen = [measured / fastest for _, measured in sorted(pairs, key=lambda pair: pair[0])]
    correlation = spearman([expected for expected, _ in pairs], [measured for _, measured in pairs])
    return Agreement(len(pairs), correlation, chosen[0], min(chosen[:_FIRST]))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation, equal values sharing the mean of their ranks; None where all are equal."""
    ranks, others = _ranks(first), _ranks(second)
    mean = (len(ranks) + 1) / 2
    spread = sum((rank - mean) ** 2 for rank in ranks) * sum((rank - mean) ** 2 for rank in others)
    common = sum((rank - mean) * (other - mean) for rank, other in zip(ranks, others, strict=True))
    return common / spread**0.5 if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    ranks = {value: ordered.index(value) + (ordered.count(value) + 1) / 2 for value in set(values)}
    return [ranks[value] for value in values]
