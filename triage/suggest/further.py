"""Repairs that need two changes: one message hides another, which shows once the first is fixed.

A neighbour that fails differently, and not earlier, has fixed the first. What is proposed for its own failure is tried
on top of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage
from triage.model.report import SuggestionKind
from triage.suggest.cute.flow import SourceFlow
from triage.suggest.neighbour import Neighbour, difference

_ORDER = list(Stage)


@dataclass(frozen=True, slots=True)
class LaterFailure:
    """How a neighbour failed, other than the case does."""

    neighbour: Neighbour
    outcome: Outcome
    diagnosis: Diagnosis


def repaired(
    stage: Stage | None, before: Diagnosis, case: Case, failures: Iterable[LaterFailure]
) -> list[LaterFailure]:
    """The neighbours of a case that fail no earlier than it does, the latest first, then the smallest change. ``stage``
    and ``before``: how the case fails."""
    flow = SourceFlow.of(case.text(), case.name)
    later = [
        failure
        for failure in failures
        if failure.neighbour.kind is not SuggestionKind.TOOLCHAIN and "target" not in failure.neighbour.changes
        if _step(failure.outcome.stage) > _step(stage)
        or (
            failure.outcome.stage is stage and _reached(flow, failure.diagnosis) >= _reached(flow, before) >= (False, 1)
        )
    ]
    return sorted(later, key=lambda failure: (-_step(failure.outcome.stage), failure.neighbour.distance))


def _step(stage: Stage | None) -> int:
    return len(_ORDER) if stage is None else _ORDER.index(stage)


def _reached(flow: SourceFlow, diagnosis: Diagnosis) -> tuple[bool, int]:
    """How far tracing came: the host function is traced before its kernels, and each from the top."""
    line = diagnosis.source.line if diagnosis.source is not None else 0
    statement = flow.statement(line) if line else None
    return statement is not None and flow.function_of(statement) not in flow.entries, line


def together(case: Case, first: Neighbour, second: Neighbour) -> Neighbour:
    """The neighbour of a case with two changes, of which the second was made of the first."""
    texts = [neighbour.changes["source"] for neighbour in (first, second) if "source" in neighbour.changes]
    source = {"source": "; ".join(map(str, texts))} if texts else {}
    return replace(
        second,
        kind=SuggestionKind.SOURCE if texts else SuggestionKind.CONFIG,
        changes={**first.changes, **second.changes, **source},
        distance=round(first.distance + second.distance, 3),
        why=_both(first.why, second.why),
        results=_both(first.results, second.results),
        caller=_both(first.caller, second.caller),
        diff=difference(case, second.case.text()) if texts else None,
    )


def _both(first: str, second: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, (first, second))))
