"""Times cases on this machine's GPU, one after the other, each in a process of its own.

A launch may crash, hang, or leave a broken context behind, so nothing survives from one case to the next but the
outputs of the first that ran, in a file, with which the others are compared. The processes run below the nanny (see
``worker/nanny.py``): none of them outlives triage.
"""

import json
import os
import secrets
import selectors
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from triage.harness import processes
from triage.harness.boundedlog import BoundedLog
from triage.harness.deadline import Deadline
from triage.harness.judge import one_line
from triage.harness.limits import Limits
from triage.harness.messages import Exited
from triage.harness.pipes import Pipe, open_pipe
from triage.harness.remote import Remote, unregister
from triage.harness.request import Request
from triage.harness.servers import ServerTree
from triage.harness.toolchains import Toolchain
from triage.harness.worker import wire
from triage.model import launch_plan as plan
from triage.model.case import Case
from triage.model.errors import EnvironmentFault
from triage.model.launch_plan import BadInputs, LaunchPlan
from triage.model.measurement import Measurement, MemoryCheck, NotMeasured
from triage.model.words import signal_name
from triage.performance import sanitizer
from triage.performance.timing import measurement

K = TypeVar("K")
A = TypeVar("A", Measurement, MemoryCheck)

LAUNCHED = "launched"
"""File in a worker's folder once a launch without timing has ended: another program may close its descriptors."""

_WATCH_S = 0.1
_RELEASE_S = 30.0
"""A killed process leaves once the driver has torn its context down; a GPU that needs longer is not usable."""
_MOST_LINE = 200


def bench(
    cases: Sequence[tuple[K, Case, Toolchain]],
    limits: Limits,
    problem: Case | None = None,
    doing: Callable[[int, int], None] = lambda done, of: None,
    deadline: Deadline | None = None,
) -> Iterator[tuple[K, Measurement | NotMeasured]]:
    """Time each case with its toolchain; the answers come in the order of the cases, one at a time.

    ``limits`` bound each process: import of torch, compile and all launches together. ``problem`` is the case whose
    inputs all must be equal to (apart from configuration, element types and storage order), since only times of
    launches that do the same work can be compared; by default the first case that has inputs. ``doing`` is called
    before each case with the number of cases done and in all. After ``deadline`` nothing more is measured. Raises
    EnvironmentFault when no process can be started.
    """
    with closing(Bench(limits, problem)) as running:
        for done, (key, case, toolchain) in enumerate(cases):
            doing(done, len(cases))
            late = deadline is not None and deadline.over
            yield key, NotMeasured("the time budget is used up") if late else running.measure(case, toolchain)


def memory_checks(
    cases: Sequence[tuple[K, Case, Toolchain]],
    limits: Limits,
    problem: Case,
    deadline: Deadline | None = None,
) -> Iterator[tuple[K, MemoryCheck | NotMeasured]]:
    """One launch of each case under compute-sanitizer. Parameters are as for :func:`bench`."""
    with closing(Bench(limits, problem)) as running:
        for key, case, toolchain in cases:
            late = deadline is not None and deadline.over
            yield key, NotMeasured("the time budget is used up") if late else running.check_memory(case, toolchain)


@dataclass(slots=True, eq=False)
class _Process:
    """One worker process, and what it has reported."""

    identity: str
    deadline: float
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    pid: int = 0
    doing: str = "starting"
    answer: dict[str, Any] | None = None
    status: int | None = None
    fault: str = ""
    ended: bool = False
    timed_out: bool = False
    over_memory: bool = False
    has_launched: bool = False
    log: BoundedLog = field(default_factory=lambda: BoundedLog(1 << 16, 1 << 16))
    results: BoundedLog = field(default_factory=lambda: BoundedLog(1 << 16, 1 << 16))


class Bench:
    """Shared state of the measurements: the nanny, and the reference outputs."""

    def __init__(self, limits: Limits, problem: Case | None = None) -> None:
        self._limits = limits
        self._selector = selectors.DefaultSelector()
        self._tree = ServerTree(self._selector, self, list)
        self._problem: dict[str, str] | None = None
        self._no_use: dict[tuple[str, str], str] = {}
        self._stuck = ""
        self._reference: Path | None = None
        self._tolerance = 0.0
        self._process: _Process | None = None
        if problem is not None and problem.inputs:
            with suppress(BadInputs):
                self._problem = _plan(problem).problem()

    def close(self) -> None:
        """End the processes."""
        self._tree.close()
        self._selector.close()

    def measure(self, case: Case, toolchain: Toolchain) -> Measurement | NotMeasured:
        """Time one case."""
        return self._answer(case, toolchain, self._timed)

    def check_memory(self, case: Case, toolchain: Toolchain) -> MemoryCheck | NotMeasured:
        """Launch one case under compute-sanitizer."""
        return self._answer(case, toolchain, self._sanitized)

    def _answer(
        self, case: Case, toolchain: Toolchain, run: Callable[[Request, LaunchPlan], A | NotMeasured]
    ) -> A | NotMeasured:
        if not case.inputs:
            return NotMeasured(f"{case.folder}: the case states no inputs, so it cannot be launched")
        try:
            resolved = _plan(case)
        except BadInputs as error:
            return NotMeasured(str(error))
        if other := self._another_problem(resolved):
            return NotMeasured(other)
        setting = (str(toolchain.python), str(case.target))
        if reason := self._stuck or self._no_use.get(setting):
            return NotMeasured(reason, everywhere=True)
        answer: A | NotMeasured
        try:
            answer = run(Request(case, toolchain, self._limits), resolved)
        except EnvironmentFault as error:
            answer = NotMeasured(str(error))
        if isinstance(answer, NotMeasured) and answer.everywhere:
            self._no_use[setting] = answer.reason
        return answer

    def _timed(self, request: Request, resolved: LaunchPlan) -> Measurement | NotMeasured:
        return self._judged(self._run(request, resolved), resolved)

    def _sanitized(self, request: Request, resolved: LaunchPlan) -> MemoryCheck | NotMeasured:
        program = sanitizer.located(request.toolchain.package.parent)
        if program is None:
            return NotMeasured(sanitizer.MISSING, everywhere=True)
        log = self._tree.new_folder() / "sanitizer.txt"
        process = self._run(request, resolved, sanitizer.command(program, log), sanitizer.ENVIRONMENT)
        try:
            text = sanitizer.written(log)
        except OSError as error:
            return NotMeasured(f"{program.name} wrote nothing: {error.strerror}")
        check = sanitizer.parsed(text)
        if check is not None and (check.errors or process.has_launched):
            return check
        if isinstance(answer := process.answer, dict) and answer["ev"] == "not_measured":
            return NotMeasured(one_line(answer.get("reason")), bool(answer.get("everywhere")))
        return NotMeasured(sanitizer.fault(text) or self._why(process))

    def _another_problem(self, resolved: LaunchPlan) -> str:
        """Empty if the inputs equal those of the other cases, else the first difference in words."""
        mine = resolved.problem()
        if self._problem is None:
            self._problem = mine
        for name in (*self._problem, *mine):
            theirs, ours = self._problem.get(name, "absent"), mine.get(name, "absent")
            if theirs != ours:
                return f"its inputs are another problem: {name} is {ours}, not {theirs}"
        return ""

    # ---- one process

    def _run(
        self,
        request: Request,
        resolved: LaunchPlan,
        below: Sequence[str] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> _Process:
        """Run the worker ``below`` another program, which launches once; otherwise to time it."""
        nanny, folder = self._tree.nanny(), self._tree.new_folder()
        reference = self._reference or folder.with_name(f"{folder.name}-outputs")
        process = _Process(self._tree.new_identity(), time.monotonic() + self._limits.timeout_s)
        path = folder / "request.json"
        message = _message(request, resolved, process.token, folder, reference, not self._reference)
        path.write_text(json.dumps({**message, "once": bool(below)}))
        self._process = process
        pipes = [open_pipe(sink.write) for sink in (process.log, process.results)]
        for pipe, _ in pipes:
            self._selector.register(pipe.fd, selectors.EVENT_READ, partial(self._read, pipe))
        start = {
            "op": "start",
            "id": process.identity,
            "command": [*below, *self._tree.command(request, "bench", str(path))],
            "environment": {**self._tree.environment(request), **environment},
            # The driver maps a terabyte of addresses for itself: resident memory is watched instead.
            "memory_bytes": 0,
        }
        try:
            if not nanny.ask(start, [writing for _, writing in pipes]):
                process.ended, process.fault = True, "the process above it is gone"
        except wire.Unsendable as error:
            process.ended, process.fault = True, str(error)
        for _, writing in pipes:
            os.close(writing)
        try:
            self._wait(process, nanny)
        finally:
            for pipe, _ in pipes:
                pipe.read()
                unregister(self._selector, pipe.fd)
                os.close(pipe.fd)
        self._hear(process)
        process.has_launched = (folder / LAUNCHED).exists()
        ran = process.answer is not None and process.answer["ev"] == "measured" and not below
        if ran and resolved.outputs and self._reference is None:
            self._reference, self._tolerance = reference, resolved.tolerance
        return process

    def _read(self, pipe: Pipe) -> None:
        if not pipe.read():
            unregister(self._selector, pipe.fd)

    def _wait(self, process: _Process, nanny: Remote) -> None:
        killed_at, most_bytes = float("inf"), self._limits.memory_bytes
        while not process.ended:
            for key, _ in self._selector.select(_WATCH_S):
                key.data()
            now = time.monotonic()
            if now > killed_at + _RELEASE_S:
                self._stuck = f"the GPU still holds process {process.pid}, {_RELEASE_S:g} s after it was killed"
                return
            if killed_at < float("inf"):
                continue
            process.timed_out = now > process.deadline
            process.over_memory = processes.tree(process.pid, most_bytes).memory_bytes > most_bytes
            if process.timed_out or process.over_memory:
                killed_at = now
                nanny.ask({"op": "kill", "id": process.identity})

    def _hear(self, process: _Process) -> None:
        for line in process.results.text().splitlines():
            event = wire.parse_event(line.encode(), process.token)
            if event is None:
                continue
            if event["ev"] == "phase":
                process.doing = one_line(event.get("doing"))
            elif event["ev"] in ("measured", "not_measured"):
                process.answer = event

    # ---- what the nanny reports (servers.Listener)

    def started(self, identity: str, process: processes.Process) -> None:
        """The process exists."""
        if self._process is not None and self._process.identity == identity:
            self._process.pid = process.pid
        process.close()

    def exited(self, identity: str, end: Exited) -> None:
        """The process ended."""
        if self._process is not None and self._process.identity == identity:
            self._process.status = end.status
            self._process.fault = end.fork_failed
            self._process.ended = True

    def lost(self, remote: Remote) -> None:
        """The nanny was killed, and the process with it."""
        if self._process is not None:
            self._process.ended, self._process.fault = True, "the process above it was killed"

    # ---- judging

    def _judged(self, process: _Process, resolved: LaunchPlan) -> Measurement | NotMeasured:
        answer = process.answer
        if answer is None:
            return NotMeasured(self._why(process))
        if answer["ev"] == "not_measured":
            everywhere = bool(answer.get("everywhere"))
            where = "" if everywhere else f", while {process.doing}"
            return NotMeasured(f"{one_line(answer.get('reason'))}{where}", everywhere)
        try:
            return measurement(answer, resolved, max(resolved.tolerance, self._tolerance))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            return NotMeasured("the worker's answer cannot be read")

    def _why(self, process: _Process) -> str:
        while_ = f", while {process.doing}"
        if process.timed_out:
            return f"no end within {self._limits.timeout_s:g} s{while_}"
        if process.over_memory:
            return f"more than {self._limits.memory_bytes} B of host memory{while_}"
        if process.fault or process.status is None:
            return process.fault or f"it ended without a word{while_}"
        if number := process.status & 0x7F:
            return f"the process died of {signal_name(number)}{while_}{_last_line(process.log)}"
        return f"the process called exit({process.status >> 8}){while_}{_last_line(process.log)}"


def _plan(case: Case) -> LaunchPlan:
    return plan.resolve(case.inputs, case.signature, case.constexprs, case.divisibility())


def _message(
    request: Request, resolved: LaunchPlan, token: str, folder: Path, reference: Path, first: bool
) -> dict[str, Any]:
    """The request as ``worker/bench.py`` reads it."""
    case = request.case
    return {
        "token": token,
        "folder": str(folder),
        "path": str(case.location),
        "kernel": case.name,
        "target": case.target.to_message(),
        "plan": resolved.to_message(),
        "reference": str(reference),
        "first": first,
        "case": case.to_message(),
    }


def _last_line(log: BoundedLog) -> str:
    """The last printed line, as the end of a sentence."""
    lines = [line.strip() for line in log.text().splitlines() if line.strip()]
    return f": {lines[-1][:_MOST_LINE]}" if lines else ""
