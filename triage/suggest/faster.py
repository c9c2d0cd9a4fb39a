"""Faster configurations of a case that compiles with a drawback which another configuration may not have."""

from __future__ import annotations

from collections.abc import Iterable

from triage.frontends.frontend import frontend
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.gpus import TensorCore
from triage.model.outcome import Outcome
from triage.model.report import Suggestion
from triage.performance.cost import FastPath
from triage.performance.drawbacks import SERIOUS_SPILL, depends_on_configuration
from triage.performance.estimate.resources import stages_of
from triage.source import parameters
from triage.suggest.tuning.expectations import Expectations
from triage.suggest.tuning.tuning import Tuning


def tuning_of_compiled(case: Case, toolchain: Toolchain, outcome: Outcome, limits: Limits) -> Tuning | None:
    """The static model for a search that begins at a compile; None where that has no such drawback, or there is no TTIR
    to read."""
    readable = not case.is_ir and frontend(case.language).has_tiles
    if not readable or outcome.resources is None or not depends_on_configuration(outcome):
        return None
    source = case.text()
    facts = parameters.read(source, case.name)
    return Tuning(case, toolchain, source, facts, True, Expectations(limits), outcome.resources)


def fast_path_of_compiled(case: Case, outcome: Outcome) -> FastPath:
    """What a suggestion must keep: the class of instruction, unless the compile has none."""
    core = outcome.resources.tensor_core if outcome.resources is not None else TensorCore.NONE
    return FastPath(None if core is TensorCore.NONE else core, stages_of(case))


def surely_faster(suggestions: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
    """The suggestions whose whole range of expected times is below that of the configuration that was asked for,
    without serious spills: a compile needs no repair, so what may be as slow is not suggested."""
    return tuple(
        suggestion
        for suggestion in suggestions
        if suggestion.expected is not None and suggestion.expected.time_ratio[1] < 1
        if suggestion.resources is not None and (suggestion.resources.spill_bytes or 0) < SERIOUS_SPILL
    )
