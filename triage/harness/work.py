"""A request under way, and the runs that answer it."""

from dataclasses import dataclass
from typing import Any

from triage.harness import observe
from triage.harness.boundedlog import BoundedLog
from triage.harness.host_packages import host_tools, module_message
from triage.harness.judgement import Judging
from triage.harness.reads import ModuleReads
from triage.harness.remote import Remote
from triage.harness.repeats import can_repeat
from triage.harness.request import DescribeKernel, FullCompile, PartialCompile, Request
from triage.harness.run import Run
from triage.harness.second_look import FirstRun, Mode, RunMode
from triage.model.document import encode
from triage.model.outcome import Status


@dataclass(slots=True, eq=False)
class Work:
    """An admitted request and its current run.

    ``mode``: how the next run is made, or is being made.
    ``isolation``: the name of servers of its own, if it has lost its servers before (``losses`` times). ``awaited``: a
    server that has to be ready first. ``judging``: the judgement of an ended run, while another process makes it.
    ``reads``: what the module read as it was imported; None until that is known. ``in_doubt``: it has failed in a
    process that had compiled something else before.
    """

    request: Request
    number: int
    mode: RunMode = Mode.FORK
    isolation: str = ""
    losses: int = 0
    first: FirstRun | None = None
    run: Run | None = None
    awaited: Remote | None = None
    judging: Judging | None = None
    reads: ModuleReads | None = None
    in_doubt: bool = False

    @property
    def under_way(self) -> bool:
        return self.awaited is not None or self.is_active

    @property
    def is_active(self) -> bool:
        """Whether it is given to a process that has not ended it."""
        return self.run is not None and self.run.is_active

    @property
    def can_repeat(self) -> bool:
        """Whether its next run may share a process with others."""
        return self.mode is Mode.FORK and not self.in_doubt and can_repeat(self.request)

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

    def message(self, run: Run, location: str, extra_environment: dict[str, str]) -> dict[str, Any]:
        """The request as the worker reads it. ``location``: that of the case."""
        case = self.request.case
        return {
            "token": run.token,
            "folder": str(run.folder),
            "path": location,
            "kernel": case.name,
            "compiler": case.compiler.name,
            "tools": host_tools(),
            "target": case.target.to_message(),
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
