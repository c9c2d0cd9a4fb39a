"""Refused compiles of a guarded process, as shown to its users."""

import json
import os
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from triage.capture.live import program
from triage.capture.program import labels
from triage.filesystem.files import MOST_DOCUMENT, read_file

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class FailedCompile:
    """A failed compile.

    ``refused``: the guard kept it from ending the process; else it raised. ``text``: the diagnosis, whose first line is
    a summary. ``path``: the folder of its case."""

    text: str
    headline: str
    path: str
    cause: str = ""
    refused: bool = True


class Refusals:
    """Tracks which refusals are new since the last call."""

    def __init__(self) -> None:
        self._before: dict[int, int] = {}

    def new(self) -> list[FailedCompile]:
        """Configurations refused in this process since the last call, for the first time or again."""
        new = []
        for config in program("guard").refused():
            if self._before.get(id(config), -1) != config.met:
                self._before[id(config)] = config.met
                new.append(FailedCompile(config.text, config.headline, str(config.path or ""), config.cause))
        return new


def is_refusal(error: BaseException) -> bool:
    """Whether the guard raised it."""
    return bool(program("refusal").is_refusal(error))


def raised_since(folder: Path, began: float) -> list[FailedCompile]:
    """Compiles of this process that raised their own exception after ``began`` (seconds since the epoch)."""
    raised = []
    own = folder.glob(f"*-{os.getpid()}-*")
    for case_folder in sorted(own, key=lambda path: labels.numbers(path.name) or (0, 0)):
        with suppress(OSError, ValueError):
            ended = json.loads(read_file(case_folder / "ended.json", folder, MOST_DOCUMENT))
            if case_folder.stat().st_mtime < began or ended["how"] != "raised" or ended["type"] == "CompileFailed":
                continue
            text = str(ended.get("diagnosis") or f"{ended['type']}: {ended.get('text', '')}")
            raised.append(FailedCompile(text, text.splitlines()[0], str(case_folder), refused=False))
    return raised


def in_chain(error: BaseException | None) -> list[Any]:
    """The refusals in an exception, its causes and contexts, and its groups."""
    refusals: list[Any] = []
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if is_refusal(current):
            refusals.append(current)
        waiting += [current.__cause__, current.__context__, *getattr(current, "exceptions", ())]
    return refusals


@contextmanager
def shortened(errors: Iterable[Any], traces: bool) -> Iterator[None]:
    """Within it, refusals print as one line; details follow in the report's section.

    ``traces``: permanently end their tracebacks where the test's own code launched the kernel."""
    texts = [(error, error.text) for error in errors]
    for error, text in texts:
        error.text = text.splitlines()[0].removeprefix("triage: ")
        if traces:
            _end_at_launch(error.__traceback__)
    try:
        yield
    finally:
        for error, text in texts:
            error.text = text


def _end_at_launch(trace: TracebackType | None) -> None:
    internal = (*program("values").COMPILERS, program("guard").__package__)
    last = None
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] not in internal:
            last = trace
        trace = trace.tb_next
    if last is not None:
        last.tb_next = None


def section(errors: Sequence[Any], met: Sequence[FailedCompile], shown: str) -> str:
    """The report section of a test: the refusals in ``errors`` and the failures ``met``, equal ones once, without lines
    that ``shown`` (the failure's own text) already has."""
    lines: list[str] = []
    cases: list[str] = []
    for error in errors:
        lines += error.text.removeprefix("triage: ").splitlines()
    groups: dict[str, list[FailedCompile]] = {}
    for failure in met:
        groups.setdefault(failure.headline, []).append(failure)
    for first, *others in groups.values():
        lines += first.text.splitlines()
        lines += textwrap.wrap(first.cause, _WIDTH, initial_indent="    ", subsequent_indent="    ")
        more = f"  ({len(others)} more fail alike)" if others else ""
        cases += [f"  {check(first.path)}{more}"] if first.path else []
    unseen: list[str] = []
    for line in lines:
        text = line.strip()
        if text and text not in shown and line not in unseen and not text.startswith("case:"):
            unseen.append(line)
    return "\n".join([*unseen, *cases])


def check(path: str) -> str:
    """The command that reports on a case."""
    return shlex.join(["triage", "check", path])
