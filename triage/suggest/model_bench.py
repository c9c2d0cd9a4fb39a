"""Compares the static model with measurements: configurations of a case are compiled, estimated, and timed on a GPU,
or their times come from a table."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triage.harness.dialogues import Dialogue, converse
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError
from triage.model.measurement import Measurement, NotMeasured, settled
from triage.performance.agreement import ModelRow, ModelTable
from triage.performance.bench import bench
from triage.performance.estimate.compiled import CompiledCase, Estimated, compiled, estimated
from triage.suggest.tuning.space import Space
from triage.suggest.tuning.tuning import multiplies

Axes = Mapping[str, Sequence[Any]]
"""Values of constexprs and options by name."""


@dataclass(frozen=True, slots=True)
class ModelBench:
    """What all cases share. ``compiling`` and ``timing`` are called with the numbers of those done and of all."""

    engine: Engine
    limits: Limits
    use_cache: bool = True
    compiling: Callable[[int, int], None] = lambda done, of: None
    timing: Callable[[int, int], None] = lambda done, of: None

    def measure(self, name: str, case: Case, toolchain: Toolchain, axes: Axes, most: int) -> tuple[ModelTable, str]:
        """The table of a case that ``name`` names, and the GPU; at most ``most`` configurations. Raises InputError for
        a case that cannot be launched or estimated, EnvironmentFault where there is no GPU for it."""
        if not case.inputs:
            raise InputError(f"{name}: the case states no inputs, so it cannot be launched; see triage help bench")
        [base] = self._compiled([case], toolchain)
        base_estimate = estimated(base)
        if base_estimate.work is None:
            raise InputError(f"{name}: no estimate: {base_estimate.reason}")
        changes = [*configurations(case, axes, multiplies(base_estimate.work), most)]
        done = self._estimates(case, toolchain, changes)
        fitting = [
            (index, estimate.compiled.case, toolchain) for index, estimate in enumerate(done) if not _problem(estimate)
        ]
        answers = settled(dict(bench(fitting, self.limits, case, self.timing)))
        everywhere = [answer for answer in answers.values() if isinstance(answer, NotMeasured) and answer.everywhere]
        times = [answer for answer in answers.values() if isinstance(answer, Measurement)]
        if not times:
            reasons = [answer.reason for answer in answers.values() if isinstance(answer, NotMeasured)]
            reason = (everywhere[0].reason if everywhere else reasons[0]) if reasons else "no configuration compiles"
            raise EnvironmentFault(f"{name}: nothing was measured: {reason}")
        rows = (
            _row(change, estimate, answers.get(index))
            for index, (change, estimate) in enumerate(zip(changes, done, strict=True))
        )
        return ModelTable(name, case.to_json(), tuple(rows)), times[0].device

    def evaluate(self, table: ModelTable, case: Case, toolchain: Toolchain) -> ModelTable:
        """The table with new estimates of the rows that have a time. Raises InputError."""
        rows = [row for row in table.rows if row.measured_ms is not None]
        try:
            done = self._estimates(case, toolchain, [row.changes for row in rows])
        except KeyError as error:
            raise InputError(f"{table.case}: changes: {error.args[0]} is neither a constexpr nor an option") from None
        return replace(
            table,
            rows=tuple(
                replace(_row(row.changes, estimate, None), measured_ms=row.measured_ms)
                for row, estimate in zip(rows, done, strict=True)
            ),
        )

    def _estimates(self, case: Case, toolchain: Toolchain, changes: Iterable[Mapping[str, Any]]) -> list[Estimated]:
        return [
            estimated(done) for done in self._compiled([case.with_changes(change) for change in changes], toolchain)
        ]

    def _compiled(self, cases: Sequence[Case], toolchain: Toolchain) -> list[CompiledCase]:
        def numbered(index: int, case: Case) -> Dialogue[tuple[int, CompiledCase]]:
            return index, (yield from compiled(case, toolchain, self.limits, self.use_cache))

        by_index: dict[int, CompiledCase] = {}
        for index, result in converse(self.engine, itertools.starmap(numbered, enumerate(cases))):
            by_index[index] = result
            self.compiling(len(by_index), len(cases))
        return [by_index[index] for index in range(len(cases))]


def configurations(case: Case, axes: Axes, multiplies: bool, most: int) -> Iterator[Mapping[str, Any]]:
    """Changes of the case: none, and a sample of all combinations of ``axes``; without those of the tiles beside its
    own, warps and stages. The same on each call. Raises InputError."""
    points = [*_combinations(case, axes)] if axes else [*_around(case, multiplies)]
    random.Random(case.name).shuffle(points)
    distinct = {tuple(sorted(point.items(), key=str)): point for point in ({}, *points)}
    yield from itertools.islice(distinct.values(), most)


def _combinations(case: Case, axes: Axes) -> Iterator[dict[str, Any]]:
    now = {**case.options, **case.constexprs}
    for values in itertools.product(*axes.values()):
        changes = {name: value for name, value in zip(axes, values, strict=True) if now.get(name) != value}
        try:
            case.with_changes(changes)
        except KeyError as error:
            raise InputError(f"--set {error.args[0]}: {case.name} has no such constexpr or option") from None
        yield changes


def _around(case: Case, multiplies: bool) -> Iterator[dict[str, Any]]:
    space = Space(case, case.text(), multiplies)
    for tiles in (space.tiles, *space.beside(space.tiles)):
        for options in space.options():
            yield space.changes(tiles, options, case)


def _problem(estimate: Estimated) -> str:
    done = estimate.compiled
    return done.unclear or done.failure or ("" if estimate.time else estimate.reason)


def _row(changes: Mapping[str, Any], estimate: Estimated, answer: Measurement | NotMeasured | None) -> ModelRow:
    row = ModelRow(changes, problem=_problem(estimate))
    if estimate.time is not None and not estimate.compiled.failure:
        row = replace(row, expected_ms=estimate.time.seconds * 1e3, bound_by=estimate.time.bound.value)
    match answer:
        case Measurement() if answer.agrees is False:
            return replace(row, problem="its results differ from the others'")
        case Measurement():
            return replace(row, measured_ms=answer.median_ms)
        case NotMeasured():
            return replace(row, problem=answer.reason)
    return row
