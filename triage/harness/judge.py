"""From the facts of one ended run to an Outcome. Pure: no process, no file, no clock."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triage import logs
from triage.harness.limits import Limits
from triage.harness.worker.recorder import MARK
from triage.legality.limits import over_limit
from triage.model.case import Case
from triage.model.gpus import TensorCore
from triage.model.outcome import Frame, Outcome, PythonError, Resources, Stage, StageTime, Status, Undecided


@dataclass(slots=True)
class RunFacts:
    """What is known when a run has ended. ``status`` is the wait status, None when its server was lost."""

    events: list[dict[str, Any]] = field(default_factory=list)
    log: str = ""
    dropped: int = 0
    status: int | None = None
    max_rss_bytes: int = 0
    duration_s: float = 0.0
    timed_out: bool = False
    over_memory: bool = False
    lost_server: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def judge(case: Case, facts: RunFacts, limits: Limits, token: str) -> Outcome | Undecided:
    """Classify how the run ended. Signals and limits take precedence over anything printed."""
    log, marks = split_marks(facts.log, token)
    events = [event for event in facts.events if _is_readable(event)]
    done = [StageTime(Stage(event["stage"]), float(event["seconds"])) for event in events if event["ev"] == "end"]
    begun = [Stage(event["stage"]) for event in events if event["ev"] == "begin"]
    pipelines = [bool(event["running"]) for event in events if event["ev"] == "pipeline"]
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
        notes=tuple(
            f"{event['package']} is not installed there; the kernel's module was given a stand-in for it"
            for event in events
            if event["ev"] == "missing"
        )
        + tuple(str(event["text"]) for event in events if event["ev"] == "note"),
    )
    if facts.timed_out:
        return replace(outcome, status=Status.TIMEOUT)
    if facts.over_memory:
        return replace(outcome, status=Status.OUT_OF_MEMORY)
    if facts.lost_server:
        note = "the compile killed the process that had started it, twice, the second time with nothing else running"
        return replace(outcome, killed_from_outside=True, notes=(note,))
    if facts.status is not None and facts.status & 0x7F:
        number = facts.status & 0x7F
        if case.is_ir and outcome.stage is Stage.SOURCE:
            why = f"died of {signal_name(number)} reading this text; IR belongs to the release that wrote it"
            return Undecided(why, input_error=True)
        if _ran_out_of_memory(log):
            return replace(outcome, status=Status.OUT_OF_MEMORY)
        killed = number in (signal.SIGKILL, signal.SIGTERM)
        return replace(outcome, signal=signal_name(number), killed_from_outside=killed)
    last = next((event for event in reversed(events) if event["ev"] in _VERDICTS), None)
    if last is None:
        return replace(outcome, exit_code=(facts.status or 0) >> 8)
    if last["ev"] == "undecided":
        if last["reason"] == NO_LLD and logs.printed_error(_back_end_text(outcome)) is not None:
            # Up to 3.4 the AMD assembler's errors are printed only; the link that would fail next has no linker.
            return replace(outcome, status=Status.ERROR, exit_code=1)
        return Undecided(str(last["reason"]), input_error=bool(last.get("input_error")))
    if last["ev"] == "error":
        errors = python_errors(last["errors"])
        if (package := missing_package(errors)) is not None:
            return Undecided(cannot_import(case.file, package))
        if any(error.type == "MemoryError" for error in errors):
            return replace(outcome, status=Status.OUT_OF_MEMORY, errors=errors)
        return replace(outcome, status=Status.ERROR, exit_code=1, errors=errors)
    return _compiled(case, outcome, last)


NO_LLD = "no-lld"
"""The worker's reason when there is no linker."""

_VERDICTS = frozenset({"done", "error", "undecided"})
_NO_MEMORY = re.compile(r"^(?:terminate called .*'std::bad_alloc'|LLVM ERROR: out of memory)", re.MULTILINE)


def signal_name(number: int) -> str:
    """``SIGABRT``; real-time signals have no names of their own in Python."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _ran_out_of_memory(log: str) -> bool:
    """An allocation was refused: the address space ended before triage saw the memory in use (``process.limit``)."""
    return _NO_MEMORY.search(log) is not None


def _is_readable(event: dict[str, Any]) -> bool:
    """False for a malformed event. The process of a kernel has the token, so it can write events of its own; it can
    only falsify its own outcome by that, but must not break triage."""
    try:
        match event["ev"]:
            case "begin":
                Stage(event["stage"])
            case "end":
                return Stage(event["stage"]) is not None and math.isfinite(event["seconds"])
            case "pipeline" | "missing" | "undecided" | "note":
                needed = {"pipeline": "running", "missing": "package", "undecided": "reason", "note": "text"}
                return needed[event["ev"]] in event
            case "error":
                python_errors(event["errors"])
            case "done":
                if event["resources"] is not None:
                    _resources(event["resources"])
                return isinstance(event.get("num_ctas"), int | None)
            case _:
                return False
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _resources(used: Mapping[str, Any]) -> Resources:
    def number(name: str) -> int | None:
        return None if used[name] is None else int(used[name])

    return Resources(
        shared_bytes=int(used["shared_bytes"]),
        registers=number("registers"),
        spill_bytes=number("spill_bytes"),
        tensor_core=TensorCore(used["tensor_core"]),
        tensor_memory_columns=number("tensor_memory_columns"),
        threads=number("threads"),
        warp_specialized=bool(used["warp_specialized"]),
        register_copies=int(used["register_copies"]),
    )


def _compiled(case: Case, outcome: Outcome, event: dict[str, Any]) -> Outcome:
    """The outcome of a compile that returned normally. Two things may still be wrong: an error that was only printed
    (Triton 3.8 and 3.9 go on after an LLVM error diagnostic), and a size that only a launch would refuse."""
    resources = None if event["resources"] is None else _resources(event["resources"])
    outcome = replace(
        outcome, status=Status.OK, stage=None, exit_code=0, resources=resources, cache_key=event.get("cache_entry")
    )
    for stage, text in _back_end_texts(outcome):
        if logs.printed_error(text) is not None:
            return replace(outcome, status=Status.SUSPECT, stage=stage, resources=None)
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
    return outcome


_BACK_END = frozenset({Stage.LLIR, Stage.PTX, Stage.CUBIN, Stage.AMDGCN, Stage.HSACO})


def _back_end_texts(outcome: Outcome) -> list[tuple[Stage, str]]:
    """The text that each back-end stage printed. What the front-end prints is the user's own (tl.static_print)."""
    ends = [at for _, at in outcome.log_stages[1:]] + [len(outcome.log)]
    # A kernel that closed standard error before the first mark leaves none: one end and no beginning.
    parts = zip(outcome.log_stages, ends, strict=False)
    return [(stage, outcome.log[at:end]) for (stage, at), end in parts if stage in _BACK_END]


def _back_end_text(outcome: Outcome) -> str:
    return "".join(text for _, text in _back_end_texts(outcome))


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


_NO_MODULE = re.compile(r"No module named '([\w.]{1,200})'")


def missing_package(errors: tuple[PythonError, ...]) -> str | None:
    """The package whose absence ended an import; None for Triton's own modules, whose absence is how a release lacks
    an API."""
    for error in errors:
        missing = _NO_MODULE.match(error.message) if error.type == "ModuleNotFoundError" else None
        if missing is not None and missing.group(1).partition(".")[0] != "triton":
            return missing.group(1)
    return None


def cannot_import(file: str, package: str) -> str:
    """The reason of an Undecided for a kernel's module that needs what the environment does not have."""
    return (
        f"{file} imports {package}, which this environment does not have; "
        "install it there, or use --python PATH with an environment that has it"
    )


def python_errors(described: list[dict[str, Any]]) -> tuple[PythonError, ...]:
    """The worker's description of an exception chain as values."""

    def frame(data: dict[str, Any]) -> Frame:
        return Frame(str(data["file"]), int(data["line"]), str(data["function"]), str(data["text"]))

    return tuple(
        PythonError(
            type=str(link["type"]),
            module=str(link["module"]),
            message=str(link["message"]),
            frames=tuple(frame(item) for item in link["frames"]),
            kernel_line=frame(link["kernel_line"]) if link.get("kernel_line") else None,
            kernel_column=link.get("kernel_column"),
        )
        for link in described
    )
