"""What an attempt shows of a cell."""

from __future__ import annotations

from collections.abc import Sequence

from triage import knowledge
from triage.harness.request import Attempt
from triage.knowledge import Entry
from triage.model.outcome import Status, Undecided
from triage.sweeps.observation import CellObservation, CellState, SweepFailure


def observation(attempt: Attempt) -> CellObservation:
    """The cell of an attempt."""
    result = attempt.result
    if isinstance(result, Undecided):
        return CellObservation(CellState.UNTOLD, reason=result.reason)
    diagnosis = attempt.diagnosis
    if diagnosis is None:
        return CellObservation(
            CellState.COMPILED,
            status=result.status.value,
            resources=result.resources,
            duration_s=round(result.duration_s, 3),
        )
    if result.killed_from_outside:
        return CellObservation(CellState.UNTOLD, reason=diagnosis.headline)
    return CellObservation(
        CellState.FAILED,
        # How far it gets within the limit depends on the machine, not on the bug.
        signature=diagnosis.kind.value if result.status is Status.TIMEOUT else diagnosis.signature,
        headline=diagnosis.headline,
        kind=diagnosis.kind.value,
        status=result.status.value,
        stage=result.stage.value if result.stage else None,
        resource=diagnosis.resource,
        required=diagnosis.required,
        limit=diagnosis.limit,
        resources=result.resources,
        duration_s=round(result.duration_s, 3),
    )


def failure(attempt: Attempt, seen: CellObservation, entries: Sequence[Entry]) -> SweepFailure:
    """The bug that a failed attempt shows, with what is known of it."""
    diagnosis = attempt.diagnosis
    assert diagnosis is not None and seen.signature is not None
    matches = knowledge.match(diagnosis, entries, attempt.request.case, attempt.request.toolchain.release)
    return SweepFailure(
        seen.signature, diagnosis.headline, diagnosis.kind.value, tuple(match.to_json() for match in matches)
    )
