"""From the facts of one ended run to an Outcome. Pure: no process, no file, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from triage.harness import ulimits, unspoken
from triage.harness.limits import Limits
from triage.harness.messages import Exited
from triage.harness.worker.loop import FAULT
from triage.harness.worker.recorder import MARK
from triage.legality.limits import over_limit
from triage.logs.outcomes import printed_error
from triage.model.case import Case
from triage.model.compilers import COMPILERS
from triage.model.document import decode
from triage.model.errors import InputError
from triage.model.outcome import (
    BeyondShared,
    Outcome,
    PythonError,
    Resources,
    Stage,
    StageTime,
    Status,
    Suspicion,
    Undecided,
)
from triage.model.words import signal_name

T = TypeVar("T")


@dataclass(slots=True)
class RunFacts:
    """What is known when a compile has ended. ``stages``: those of one that ended well, with the process ready for
    another; the events that report them are left out. ``status``: its wait status, None when its server was lost.
    ``crowded``: it was killed for too many processes. ``oom_kills``: processes that Linux killed meanwhile for want of
    memory. ``ulimits``: see :mod:`triage.harness.ulimits`."""

    events: list[dict[str, Any]] = field(default_factory=list)
    stages: tuple[StageTime, ...] | None = None
    log: str = ""
    dropped: int = 0
    status: int | None = None
    max_rss_bytes: int = 0
    duration_s: float = 0.0
    cpu_s: float = 0.0
    timed_out: bool = False
    over_memory: bool = False
    crowded: bool = False
    lost_server: bool = False
    oom_kills: int = 0
    ulimits: Mapping[str, int] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def signal(self) -> int:
        """The number of the signal that ended it, 0 for none."""
        return (self.status or 0) & 0x7F

    @property
    def returned(self) -> bool:
        """Whether the last that it reported is that the compile returned, and nothing ended it before it ended."""
        returned = bool(self.events) and self.events[-1].get("ev") == "done"
        return returned and not self.stopped and not self.signal

    @property
    def stopped(self) -> bool:
        """Whether triage had a reason to stop it, or lost it."""
        return self.timed_out or self.over_memory or self.crowded or self.lost_server

    def ended(self, end: Exited) -> None:
        """Take what a server reports of the end."""
        self.status, self.max_rss_bytes, self.cpu_s = end.status, end.max_rss_bytes, end.cpu_s


def judge(case: Case, facts: RunFacts, limits: Limits, token: str) -> Outcome | Undecided:
    """Classify how the run ended. Signals and limits take precedence over anything printed."""
    log, marks = split_marks(facts.log, token)
    events = [event for event in map(read_event, facts.events) if event is not None]
    ends = (event for event in events if event["ev"] == "end")
    done = facts.stages or tuple(StageTime(Stage(event["stage"]), float(event["seconds"])) for event in ends)
    begun = [Stage(event["stage"]) for event in events if event["ev"] == "begin"]
    imports = [event["ev"] for event in events if event["ev"] in ("importing", "imported")]
    pipelines = [bool(event["running"]) for event in events if event["ev"] == "pipeline"]
    stated = [event for event in events if event["ev"] in unspoken.EVENTS]
    outcome = Outcome(
        status=Status.CRASH,
        stage=begun[-1] if begun else Stage.SOURCE,
        stages=tuple(time for time in done if time.stage is not Stage.SOURCE),
        duration_s=facts.duration_s,
        max_rss_bytes=facts.max_rss_bytes,
        log=log,
        log_stages=marks,
        log_dropped_bytes=facts.dropped,
        pipeline=bool(pipelines and pipelines[-1]),
        limit_s=limits.timeout_s,
        limit_bytes=limits.memory_bytes,
        environment=dict(facts.environment),
        imported=not imports or imports[-1] == "imported",
        notes=(
            *_stand_ins(events),
            *(one_line(event["text"]) for event in events if event["ev"] == "note"),
        )[:_MOST_NOTES],
    )
    last = next((event for event in reversed(events) if event["ev"] in _VERDICTS), None)
    # A signal or a limit takes precedence over anything reported.
    if last is None or facts.stopped or facts.signal:
        result = ended(replace(outcome, suspicion=unspoken.mismatched_outputs(stated)), facts)
        reading = case.is_ir and outcome.stage is Stage.SOURCE
        if reading and isinstance(result, Outcome) and result.signal and not result.killed_from_outside:
            why = f"died of {result.signal} reading this text; IR belongs to the release that wrote it"
            return Undecided(why, input_error=True)
        return result
    if last["ev"] == "undecided":
        back_end = "".join(text for _, text in _back_end_texts(outcome))
        if last["reason"] == NO_LLD and printed_error(back_end) is not None:
            # Up to 3.4 the AMD assembler's errors are printed only; the link that would fail next has no linker.
            return replace(outcome, status=Status.ERROR, exit_code=1)
    return raised(case.file, outcome, facts, last) if last["ev"] != "done" else _compiled(case, outcome, stated, last)


def _stand_ins(events: list[dict[str, Any]]) -> list[str]:
    names = [one_line(event["package"]) for event in events if event["ev"] == "missing"]
    return [f"the kernel's module was imported with stand-ins for {', '.join(names)}"] if names else []


NO_LLD = "no-lld"
"""The worker's reason when there is no linker."""

_UNREPORTED = re.compile(r"^[\w.]+\.Unreported: ")
"""The class of an exception whose text is for people (``worker/recorder.py``)."""
_MOST = 1 << 40
"""Above every count of bytes, threads and seconds that a compile can report."""
_MOST_NOTES = 12
_MOST_LINE = 2000
"""Characters; the longest real line lists the options of a back-end."""
_VERDICTS = frozenset({"done", "error", "undecided"})


def ended(outcome: Outcome, facts: RunFacts) -> Outcome | Undecided:
    """The result of a process that ended without reporting one."""
    if facts.timed_out:
        return replace(outcome, status=Status.TIMEOUT)
    if facts.over_memory:
        return replace(outcome, status=Status.OUT_OF_MEMORY)
    if facts.crowded:
        return Undecided("the compile started more processes than triage watches")
    if facts.lost_server:
        note = "the compile killed the process that had started it, twice, the second time with nothing else running"
        return replace(outcome, killed_from_outside=True, notes=(note,))
    if facts.status is not None and facts.status >> 8 == FAULT:
        text = _UNREPORTED.sub("", last_line(outcome.log)) or f"exit code {FAULT}"
        return Undecided(f"triage's own worker failed: {text}")
    crash = died(outcome, facts.status or 0)
    if ulimits.refused_memory(outcome.log):
        return _out_of_memory(outcome, facts)
    why = ulimits.ended(crash, facts.cpu_s, facts.ulimits, facts.oom_kills)
    return crash if why is None else Undecided(why)


def raised(file: str, outcome: Outcome, facts: RunFacts, event: Mapping[str, Any]) -> Outcome | Undecided:
    """The result that the worker's last event states: ``undecided`` or ``error``."""
    if event["ev"] == "undecided":
        return Undecided(one_line(event["reason"]), input_error=bool(event.get("input_error")))
    errors = python_errors(event["errors"])
    if (undecided := missing_import(file, errors)) is not None:
        return undecided
    failure = replace(outcome, status=Status.ERROR, exit_code=1, errors=errors)
    if event.get("no_memory") or any(ulimits.refused_memory(error.message) for error in errors):
        return _out_of_memory(replace(outcome, errors=errors), facts)
    why = ulimits.ended_tool(failure, facts.ulimits)
    return failure if why is None else Undecided(why)


def _out_of_memory(outcome: Outcome, facts: RunFacts) -> Outcome | Undecided:
    """An allocation was refused: the address space ended before triage saw the memory in use (``process.limit``)."""
    why = ulimits.memory_limit(facts.ulimits)
    return replace(outcome, status=Status.OUT_OF_MEMORY) if why is None else Undecided(why)


def one_line(text: Any) -> str:
    """What the process of a kernel says to people, as one line of a bounded length."""
    return " ".join("".join(char if char.isprintable() else " " for char in str(text)[:_MOST_LINE]).split())


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def read_event(event: dict[str, Any]) -> dict[str, Any] | None:
    """The event, with its documents as values; None for a malformed one. The process of a kernel has the token, so it
    can write events of its own; it can only falsify its own outcome by that, but must not break triage."""
    try:
        match event["ev"]:
            case "begin":
                return event if event["stage"] in _STAGE_NAMES else None
            case "end":
                return event if event["stage"] in _STAGE_NAMES and 0 <= event["seconds"] < _MOST else None
            case "pipeline" | "missing" | "undecided" | "note":
                needed = {"pipeline": "running", "missing": "package", "undecided": "reason", "note": "text"}
                return event if needed[event["ev"]] in event else None
            case "error":
                return event if python_errors(event["errors"]) else None
            case "importing" | "imported":
                return event
            case name if name in unspoken.EVENTS:
                unspoken.parse(event)
            case "done":
                return _read_done(event)
            case _:
                return None
    except (KeyError, TypeError, ValueError, InputError):
        return None
    return event


def _read_done(event: dict[str, Any]) -> dict[str, Any] | None:
    """The same for the event of a compile that returned. Raises KeyError, InputError."""
    # Imported where a compile succeeded: commands that compile nothing do without the rules of legality.
    from triage.performance.drawbacks import Lowering

    values = {
        "resources": _decoded(Resources, event, "resources") if event["resources"] else None,
        "lowering": _decoded(Lowering, event, "lowering") or Lowering(),
        "beyond_shared": _decoded(BeyondShared, event, "beyond_shared"),
    }
    entry, counts = event.get("cache_entry"), [event.get("num_ctas"), event.get("launches")]
    for name in ("resources", "beyond_shared"):
        counts += (event.get(name) or {}).values()
    are_counts = all(0 <= count < _MOST for count in counts if isinstance(count, int))
    if not are_counts or not isinstance(counts[0], int | None) or not (entry is None or _is_name(entry)):
        return None
    return {**event, **values}


def _decoded(type_: type[T], event: Mapping[str, Any], name: str) -> T | None:
    return None if (value := event.get(name)) is None else decode(type_, value, name, exact=True)


def _is_name(entry: Any) -> bool:
    """Whether it names something in a folder, and nothing outside."""
    return isinstance(entry, str) and re.fullmatch(r"[\w-]{1,255}", entry) is not None


def _compiled(case: Case, outcome: Outcome, stated: list[dict[str, Any]], event: dict[str, Any]) -> Outcome:
    """The outcome of a compile that returned normally. Three things may still be wrong: an error that was only printed
    (Triton 3.8 and 3.9 go on after an LLVM error diagnostic), a size that only a launch would refuse, and a binary that
    accesses memory that it does not have. What is legal may be slow."""
    resources = event["resources"]
    outcome = replace(
        outcome,
        status=Status.OK,
        stage=None,
        exit_code=0,
        resources=resources,
        cache_key=event.get("cache_entry"),
        imported=True,
    )
    for stage, text in _back_end_texts(outcome):
        if text and printed_error(text) is not None:
            return replace(outcome, status=Status.SUSPECT, stage=stage, resources=None)
    if event.get("launches") == 0:
        return replace(outcome, status=Status.SUSPECT, stage=Stage.TRACE, resources=None, suspicion=_UNLAUNCHED)
    if resources is None:
        return outcome
    excess = over_limit(
        case.target,
        shared_bytes=resources.shared_bytes,
        threads=resources.threads or 0,
        tensor_memory_columns=resources.tensor_memory_columns or 0,
        num_ctas=event.get("num_ctas") or 1,
    )
    if excess is not None:
        text = f"{excess.resource}: {excess.required} > {excess.limit}"
        return replace(outcome, status=Status.ERROR, stage=Stage.LOAD, exit_code=1, over_limit=text)
    if (mismatched := unspoken.mismatched_outputs(stated)) is not None:
        # Most often it dies of them; what it makes of outputs that nobody takes is not defined.
        return replace(outcome, status=Status.SUSPECT, stage=Stage.PASSES, resources=None, suspicion=mismatched)
    if (refused := unspoken.refused_map(stated, case.target)) is not None:
        return replace(outcome, status=Status.ERROR, stage=Stage.LAUNCH, exit_code=1, resources=None, suspicion=refused)
    if (accepted := unspoken.dynamic_registers(stated) or unspoken.partial_products(stated)) is not None:
        return replace(outcome, status=Status.SUSPECT, stage=Stage.VERIFY, resources=None, suspicion=accepted)
    if (beyond := event["beyond_shared"]) is not None:
        return replace(outcome, status=Status.SUSPECT, stage=beyond.stage, resources=None, beyond_shared=beyond)
    from triage.performance.drawbacks import drawbacks

    slow = tuple(drawbacks(resources, event["lowering"], case.target))
    notes = (*unspoken.overhangs(stated), *(drawback.note for drawback in slow))
    if not notes:
        return outcome
    clauses = tuple(drawback.clause for drawback in slow)
    return replace(outcome, drawbacks=clauses, notes=(*outcome.notes, *notes))


def unless_skipped(case: Case, outcome: Outcome) -> Outcome | Undecided:
    """The outcome of a whole compile, unless it is said to have returned and no binary was made: the module under test
    has replaced the compiler."""
    ended = {done.stage for done in outcome.stages}
    unlaunched = outcome.suspicion == _UNLAUNCHED
    if case.is_ir or unlaunched or outcome.status not in (Status.OK, Status.SUSPECT) or ended & _BINARIES:
        return outcome
    return Undecided(f"{case.file} replaces the compiler: its compile returned, and made no binary")


_UNLAUNCHED = Suspicion("The host function launches no kernel: nothing was compiled")
_BINARIES = frozenset({Stage.CUBIN, Stage.HSACO})
_BACK_END = frozenset({Stage.LLIR, Stage.PTX, Stage.CUBIN, Stage.AMDGCN, Stage.HSACO})


def _back_end_texts(outcome: Outcome) -> list[tuple[Stage, str]]:
    """The text that each back-end stage printed. What the front-end prints is the user's own (tl.static_print)."""
    ends = [at for _, at in outcome.log_stages[1:]] + [len(outcome.log)]
    # A kernel that closed standard error before the first mark leaves none: one end and no beginning.
    parts = zip(outcome.log_stages, ends, strict=False)
    return [(stage, outcome.log[at:end]) for (stage, at), end in parts if stage in _BACK_END]


_STAGE_NAMES = frozenset(stage.value for stage in Stage)


def split_marks(log: str, token: str) -> tuple[str, tuple[tuple[Stage, int], ...]]:
    """Remove the recorder's stage marks from a log; returns the log and the offset at which each stage began."""
    marks: list[tuple[Stage, int]] = []
    parts: list[str] = []
    length = 0
    opening = f"{MARK}{token} "
    for index, part in enumerate(log.split(opening)):
        name, _, rest = part.partition("\n")
        is_mark = index > 0 and name in _STAGE_NAMES
        if is_mark:
            marks.append((Stage(name), length))
        parts.append(rest if is_mark else part)
        length += len(parts[-1])
    return "".join(parts), tuple(marks)


_COMPILERS = frozenset(compiler.module for compiler in COMPILERS.values())
_NO_MODULE = re.compile(r"No module named '([\w.]{1,200})'")


def missing_import(file: str, errors: tuple[PythonError, ...]) -> Undecided | None:
    """The answer for a kernel's module that imports what the environment does not have; None for every other failure.
    A compiler's own modules do not count: without one, a release lacks an API."""
    for error in errors:
        missing = _NO_MODULE.match(error.message) if error.type == "ModuleNotFoundError" else None
        if missing is not None and missing.group(1).partition(".")[0] not in _COMPILERS:
            return Undecided(
                f"{file} imports {missing.group(1)}, which this environment does not have; "
                "install it there, or use --python PATH with an environment that has it"
            )
    return None


def python_errors(described: Any) -> tuple[PythonError, ...]:
    """The worker's description of an exception chain as values. Raises InputError."""
    return decode(tuple[PythonError, ...], described, "errors")


FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM"})
"""Signals that a compiler does not raise: somebody else sent them."""


def died(outcome: Outcome, status: int) -> Outcome:
    """The crash of a process that gave no verdict. ``status``: its wait status."""
    if number := status & 0x7F:
        name = signal_name(number)
        return replace(outcome, status=Status.CRASH, signal=name, killed_from_outside=name in FROM_OUTSIDE)
    return replace(outcome, status=Status.CRASH, exit_code=status >> 8)
