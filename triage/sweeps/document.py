"""The map as a document, ``triton-triage/sweep/1``, written cell by cell, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from triage.model.case import Case
from triage.model.document import Amount, Count, Doc, Documented, decode
from triage.model.errors import InputError
from triage.model.outcome import Resources
from triage.sweeps.axes import TARGET
from triage.sweeps.constraints import allowed as constrained
from triage.sweeps.grid import Cell, CellSet, Grid, SweepAxis, cells_of, set_of
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import (
    CellObservation,
    CellState,
    Predicted,
    PredictedCells,
    SweepFailure,
)
from triage.sweeps.replacement import Replacement
from triage.sweeps.rule import SweepRule

SCHEMA = "triton-triage/sweep/1"
_COMPILED_STATES = (CellState.COMPILED, CellState.FAILED, CellState.UNTOLD)


@dataclass(frozen=True, slots=True)
class SweepCell(Documented):
    """A cell that was compiled or is predicted. ``at``: positions of its values on ``axes``; ``target`` and
    ``release``: positions in these lists. ``failure``: the letter of what it shows, or is predicted to show."""

    at: tuple[Count, ...]
    target: Count
    release: Count
    state: CellState
    failure: str | None = None
    probability: Annotated[float | None, Doc("Of what is predicted.", schema={"minimum": 0, "maximum": 1})] = None
    resources: Resources | None = None
    status: Annotated[str | None, Doc(optional=True)] = None
    stage: Annotated[str | None, Doc(optional=True)] = None
    resource: Annotated[str | None, Doc("What a cell that is out of resources lacks.", optional=True)] = None
    required: Annotated[Count | None, Doc(optional=True)] = None
    limit: Annotated[Count | None, Doc(optional=True)] = None
    reason: Annotated[str | None, Doc("Why it could not be told.", optional=True)] = None
    duration_s: Annotated[Amount | None, Doc(optional=True)] = None


@dataclass(frozen=True, slots=True)
class SweepDocument(Documented):
    """A map of the legal configurations of a case. ``counts``: cells by state; ``unknown``: cells that were neither
    compiled nor predicted, as [first, how many] of their numbers in the order of releases, targets and axes, the last
    of which runs fastest. ``inert``: axes that change nothing, with the pairs of cells that show it. ``tied``: by axis,
    names that change with it, with their values at the same positions."""

    schema_name: ClassVar[str] = SCHEMA

    case: Case
    axes: Mapping[str, tuple[Any, ...]]
    targets: tuple[str, ...]
    releases: tuple[str, ...]
    cells: tuple[SweepCell, ...]
    failures: Mapping[str, SweepFailure]
    rules: tuple[SweepRule, ...]
    counts: Mapping[str, Count]
    error_bound: Annotated[float | None, Doc("Of the predicted cells, at 95 % confidence.")] = None
    probes: Annotated[Count, Doc("Predicted cells that were compiled to test that.", optional=True)] = 0
    inert: Annotated[Mapping[str, Count], Doc(optional=True)] = field(default_factory=dict)
    unknown: Annotated[tuple[tuple[Count, Count], ...], Doc(optional=True)] = ()
    interrupted: Annotated[bool, Doc(optional=True)] = False
    tied: Annotated[Mapping[str, Mapping[str, tuple[Any, ...]]], Doc(optional=True)] = field(default_factory=dict)
    replacements: Annotated[
        tuple[Replacement, ...], Doc("Of a list: what replaces the entries that fail.", optional=True)
    ] = ()


def counts(sweep: SweepMap) -> dict[str, int]:
    """Cells by state; ``cells``: all of the space."""
    by_state = {state.value: sweep.cells_in(state).bit_count() for state in CellState}
    return {"cells": len(sweep.grid), **by_state}


def to_json(sweep: SweepMap) -> dict[str, Any]:
    """The whole document."""
    head = _head(sweep)
    return {**{name: value for name, value in head.items() if name != "cells"}, "cells": list(cells(sweep))}


def json_text(sweep: SweepMap) -> Iterator[str]:
    """The text of the document, in pieces: a map may have more cells than a text of it should take memory."""
    head = _head(sweep)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items() if name != "cells"]
    yield "{\n  " + ",\n  ".join(lines) + ',\n  "cells": ['
    position, letters = _Positions.of(sweep.grid, sweep.case.compiler.name), sweep.letters
    # Most cells of a large map are predicted, and have little that differs.
    texts = {id(group): json.dumps(_predicted(group, letters))[1:] for group in sweep.predicted.groups}
    separator = "\n    "
    for cell, known in _known(sweep):
        at, target, release = position.of_cell(cell)
        facts = json.dumps(_observed(known, letters))[1:] if isinstance(known, CellObservation) else texts[id(known)]
        yield f'{separator}{{"at": {at}, "target": {target}, "release": {release}, {facts}'
        separator = ",\n    "
    yield "\n  ]\n}\n"


def cells(sweep: SweepMap) -> Iterator[dict[str, Any]]:
    """The documents of the cells, in the order of their numbers."""
    position, letters = _Positions.of(sweep.grid, sweep.case.compiler.name), sweep.letters
    for cell, known in _known(sweep):
        at, target, release = position.of_cell(cell)
        facts = _observed(known, letters) if isinstance(known, CellObservation) else _predicted(known, letters)
        yield {"at": at, "target": target, "release": release, **facts}


def _known(sweep: SweepMap) -> Iterator[tuple[Cell, CellObservation | PredictedCells]]:
    """What was seen of each cell, or is predicted, in the order of their numbers."""
    known: dict[Cell, CellObservation | PredictedCells] = {}
    for group in sweep.predicted.groups:
        known |= dict.fromkeys(cells_of(group.cells & sweep.unseen), group)
    known |= sweep.observations
    for cell in sorted(known):
        yield cell, known[cell]


def from_json(document: Any, where: str = "document") -> SweepMap:
    """The map of a parsed document; ``where`` names it in errors. Raises InputError."""
    whole = SweepDocument.from_json(document, where)
    case, compiler = whole.case, whole.case.compiler.name
    special = {compiler: whole.releases, TARGET: whole.targets}
    axes = [SweepAxis(name, values) for name, values in special.items() if len(values) > 1]
    axes += [SweepAxis(name, values, whole.tied.get(name, {})) for name, values in whole.axes.items()]
    outline = Grid(axes)
    position = _Positions.of(outline, compiler)
    failures = whole.failures
    observations: dict[Cell, CellObservation] = {}
    groups: dict[tuple[bool, float, str | None], list[Cell]] = {}
    for each in whole.cells:
        cell = outline.number(position.in_grid(each))
        signature = failures[each.failure].signature if each.failure and each.failure in failures else None
        if each.state in _COMPILED_STATES:
            observations[cell] = _observation(each, failures.get(each.failure or ""))
        else:
            legal = each.state is CellState.PREDICTED_LEGAL
            groups.setdefault((legal, each.probability or 0.0, signature), []).append(cell)
    predicted = Predicted(
        tuple(PredictedCells(set_of(members), *key) for key, members in groups.items()),
        whole.error_bound,
        whole.probes,
        whole.inert,
    )
    allowed = set_of(observations) | set_of(cell for members in groups.values() for cell in members)
    for first, number in whole.unknown:
        allowed |= ((1 << number) - 1) << first
    grid = Grid(axes, allowed)
    rules = tuple(replace(rule, cells=_covered(rule, outline) & allowed) for rule in whole.rules)
    return SweepMap(
        case,
        grid,
        observations,
        tuple(failures.values()),
        predicted,
        rules,
        whole.interrupted,
        whole.replacements,
    )


def _covered(rule: SweepRule, grid: Grid) -> CellSet:
    """The cells that a rule's expression covers; none where it is not one that a constraint may be."""
    with suppress(InputError):
        return constrained([rule.python], grid)
    return 0


@dataclass(frozen=True, slots=True)
class _Positions:
    """Where a cell of the grid is in the document, which has targets and releases apart from the other axes."""

    grid: Grid
    compiler: str
    own: tuple[int, ...]
    """The axes that are neither targets nor releases."""

    @classmethod
    def of(cls, grid: Grid, compiler: str) -> _Positions:
        special = (TARGET, compiler)
        own = (index for index, axis in enumerate(grid.axes) if axis.name not in special)
        return cls(grid, compiler, tuple(own))

    def of_cell(self, cell: Cell) -> tuple[list[int], int, int]:
        """Its positions on the own axes, of its target and of its release."""
        at, positions = self.grid.at(cell), self.grid.positions
        target, release = positions.get(TARGET), positions.get(self.compiler)
        return (
            [at[axis] for axis in self.own],
            0 if target is None else at[target],
            0 if release is None else at[release],
        )

    def in_grid(self, cell: SweepCell) -> list[int]:
        """The positions of a cell of the document on all axes."""
        others = iter(cell.at)
        special = {TARGET: cell.target, self.compiler: cell.release}
        return [special[axis.name] if axis.name in special else next(others) for axis in self.grid.axes]


def _head(sweep: SweepMap) -> dict[str, Any]:
    case, named = sweep.case, {axis.name: axis.values for axis in sweep.grid.axes}
    targets = named.pop(TARGET, (str(case.target),))
    releases = named.pop(case.compiler.name, (case.release,) if case.release else ())
    failures = {sweep.letters[failure.signature]: failure for failure in sweep.failures}
    predicted = sweep.predicted
    return SweepDocument(
        case,
        named,
        targets,
        releases,
        (),
        failures,
        sweep.rules,
        counts(sweep),
        predicted.error_bound,
        predicted.probes,
        predicted.inert,
        tuple(_runs(sweep)),
        sweep.interrupted,
        {axis.name: axis.tied for axis in sweep.grid.axes if axis.tied},
        sweep.replacements,
    ).to_json()


def _predicted(group: PredictedCells, letters: Mapping[str, str]) -> dict[str, Any]:
    state = CellState.PREDICTED_LEGAL if group.legal else CellState.PREDICTED_ILLEGAL
    return {
        "state": state.value,
        "failure": letters.get(group.signature or ""),
        "probability": round(group.probability, 4),
        "resources": None,
    }


def _observed(seen: CellObservation, letters: Mapping[str, str]) -> dict[str, Any]:
    document = seen.to_json()
    for name in ("signature", "headline", "kind"):  # those of the failure
        del document[name]
    required = {"failure": letters.get(seen.signature or ""), "probability": None, "resources": document["resources"]}
    return {**required, **{name: value for name, value in document.items() if value is not None}}


def _observation(cell: SweepCell, failure: SweepFailure | None) -> CellObservation:
    document = {name: value for name, value in cell.to_json().items() if name not in ("at", "target", "release")}
    seen = decode(CellObservation, {name: value for name, value in document.items() if value is not None}, "cell")
    if failure is None:
        return seen
    return replace(seen, signature=failure.signature, headline=failure.headline, kind=failure.kind)


def _runs(sweep: SweepMap) -> Iterator[tuple[int, int]]:
    """The cells of which nothing is known, as runs."""
    known = set_of(sweep.observations)
    for group in sweep.predicted.groups:
        known |= group.cells
    first, after = 0, 0
    for cell in cells_of(sweep.grid.allowed & ~known):
        if cell > after > first:
            yield first, after - first
        if cell > after or after == first:
            first = cell
        after = cell + 1
    if after > first:
        yield first, after - first
