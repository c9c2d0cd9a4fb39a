"""A request under way, the runs that answer it, and when a failed run is followed by another: to confirm the failure in
a fresh process, or to observe which pass fails."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from triage import logs
from triage.harness import observe
from triage.harness.boundedlog import BoundedLog
from triage.harness.driver import driver_properties, product_properties
from triage.harness.host_packages import host_tools, module_message
from triage.harness.judgement import Judging
from triage.harness.reads import ModuleReads
from triage.harness.remote import Remote
from triage.harness.request import DescribeKernel, FullCompile, PartialCompile, Request
from triage.harness.run import Run
from triage.model.diagnosis import Trait
from triage.model.document import encode
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
    printed: logs.Printed | None = None


@dataclass(slots=True, eq=False)
class Work:
    """An admitted request and its current run.

    ``mode``: how the next run is made, or is being made; a way to observe means a fresh process, observed in that way.
    ``isolation``: the name of servers of its own, if it has lost its servers before (``losses`` times). ``awaited``: a
    server that has to be ready first. ``judging``: the judgement of an ended run, while another process makes it.
    ``reads``: what the module read as it was imported; None until that is known.
    """

    request: Request
    number: int
    mode: Mode | observe.How = Mode.FORK
    isolation: str = ""
    losses: int = 0
    first: FirstRun | None = None
    run: Run | None = None
    awaited: Remote | None = None
    judging: Judging | None = None
    reads: ModuleReads | None = None

    @property
    def under_way(self) -> bool:
        return self.awaited is not None or self.active_run is not None

    @property
    def active_run(self) -> Run | None:
        return self.run if self.run is not None and self.run.server is not None else None

    @property
    def observing(self) -> bool:
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
        return BoundedLog(tail=observe.LOG_TAIL) if self.observing else BoundedLog()

    def message(self, run: Run, extra_environment: dict[str, str]) -> dict[str, Any]:
        """The request as the worker reads it."""
        case = self.request.case
        return {
            "token": run.token,
            "id": run.identity,
            "folder": str(run.folder),
            "path": str(case.location),
            "kernel": case.name,
            "compiler": case.compiler.name,
            "tools": host_tools(),
            "target": case.target.to_message(),
            "limits": driver_properties(case.target),
            "device": product_properties(case.target),
            **module_message(case),
            "memory_bytes": self.request.limits.memory_bytes,
            "environment": extra_environment,
            **_action_message(self.request),
            "case": case.to_message(),
        }


def _action_message(request: Request) -> dict[str, Any]:
    """What to do with the case, as the worker reads it."""
    message: dict[str, Any] = {"until": None, "ir": None, "functions": None, "describe": None}
    match request.action:
        case FullCompile(entry=entry):
            message["functions"] = request.case.origin.get("functions") if entry else None
        case PartialCompile(until=stage):
            message["until"] = stage.value
        case DescribeKernel() as description:
            message["describe"] = encode(description, exact=True)
        case task:
            message["ir"] = {"kind": task.kind, **encode(task, exact=True)}
    return message


class SecondLook:
    """Decides when a failed run is followed by another, and remembers which failures were confirmed."""

    def __init__(self) -> None:
        self._confirmed: set[tuple[str, str, str]] = set()

    def mode(self, request: Request, outcome: Outcome, printed: logs.Printed | None) -> Mode | observe.How | None:
        """How to run the case again after a forked run; None when the outcome stands as it is."""
        if outcome.status is Status.TIMEOUT and outcome.pipeline and _observes(request):
            # A dump shows which pass it is in; MLIR writes no reproducer before a pass has failed.
            return observe.How.DUMP
        if outcome.status not in (Status.CRASH, Status.ERROR, Status.SUSPECT) or outcome.killed_from_outside:
            return None
        if outcome.pipeline and _observes(request):
            return observe.first_way(request.toolchain.release)
        if outcome.status is Status.ERROR or _fingerprint(request, outcome, printed) in self._confirmed:
            return None
        return Mode.FRESH

    def confirm(self, request: Request, first: FirstRun) -> None:
        """The failure showed in a fresh process as well; another like it needs no second look."""
        self._confirmed.add(_fingerprint(request, first.outcome, first.printed))


def _fingerprint(request: Request, outcome: Outcome, printed: logs.Printed | None) -> tuple[str, str, str]:
    """Equal for failures of which one confirmation suffices. A bare signal does not identify a bug, so there the kernel
    has to be the same as well."""
    diagnosis = logs.diagnose_outcome(outcome, request.case.path, printed)
    bare = diagnosis is None or diagnosis.kind.has(Trait.WORDLESS)
    kernel = str(request.case.path) if bare else ""
    return (request.toolchain.identity, kernel, diagnosis.signature if diagnosis else "")


def _observes(request: Request) -> bool:
    return isinstance(request.action, FullCompile | PartialCompile) and request.action.observe
