"""A request under way, and the runs that answer it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from triage.harness import observe
from triage.harness.boundedlog import BoundedLog
from triage.harness.request import FullCompile, PartialCompile, Request
from triage.harness.run import Run
from triage.model.outcome import Outcome, Status


class Mode(Enum):
    """How a run is isolated: in a fork of a warm server, or in a fresh process."""

    FORK = "fork"
    FRESH = "fresh"


@dataclass(frozen=True, slots=True)
class FirstRun:
    """A failure that is looked at once more."""

    outcome: Outcome
    folder: Path


@dataclass(slots=True, eq=False)
class Work:
    """An admitted request and its current run.

    ``mode``: how the next run is made, or is being made; a way to observe means a fresh process, observed in that way.
    ``isolation``: the name of servers of its own, if it has lost its servers before (``losses`` times).
    """

    request: Request
    number: int
    mode: Mode | observe.How = Mode.FORK
    isolation: str = ""
    losses: int = 0
    first: FirstRun | None = None
    run: Run | None = None

    @property
    def current_run(self) -> Run:
        """The run that is under way or has just ended."""
        assert self.run is not None
        return self.run

    @property
    def active_run(self) -> Run | None:
        """The run that is under way."""
        return self.run if self.run is not None and self.run.under_way else None

    @property
    def observing(self) -> bool:
        """True when the run is an observed one."""
        return isinstance(self.mode, observe.How)

    @property
    def timeout_s(self) -> float:
        """Seconds that the run may take; an observed one prints the input of every pass."""
        limit = self.request.limits.timeout_s
        if not self.observing:
            return limit
        if self.first is not None and self.first.outcome.status is Status.TIMEOUT:
            return min(limit, observe.HANGING_S)
        return limit * observe.SLOWDOWN

    def new_log(self) -> BoundedLog:
        """An empty log that is large enough for the run."""
        return BoundedLog(tail=observe.LOG_TAIL) if self.observing else BoundedLog()

    def message(self, run: Run, limits: dict[str, int], extra_environment: dict[str, str]) -> dict[str, Any]:
        """The request as the worker reads it. ``limits``: the target's properties."""
        case = self.request.case
        return {
            "token": run.token,
            "id": run.identity,
            "folder": str(run.folder),
            "path": str(case.path.resolve()),
            "kernel": case.name,
            "target": case.target.to_message(),
            "limits": limits,
            "memory_bytes": self.request.limits.memory_bytes,
            "environment": extra_environment,
            **_action_message(self.request),
            "case": case.to_message(),
        }


def _action_message(request: Request) -> dict[str, Any]:
    """What to do with the case, as the worker reads it."""
    message: dict[str, Any] = {"until": None, "ir": None, "functions": None}
    match request.action:
        case FullCompile(entry=entry):
            message["functions"] = request.case.origin.get("functions") if entry else None
        case PartialCompile(until=stage):
            message["until"] = stage.value
        case task:
            message["ir"] = task.to_message()
    return message
