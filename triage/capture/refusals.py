"""What a guarded process was kept from compiling, as it is said to the people whose code that is."""

from __future__ import annotations

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

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Met:
    """A compile that failed. ``refused``: it would have ended the process, and was kept from it; else it raised.
    ``text`` is the diagnosis in some lines, the first of which says all; ``path`` is the folder of its case."""

    text: str
    headline: str
    path: str
    cause: str = ""
    refused: bool = True


class Refusals:
    """What is new since one last looked."""

    def __init__(self) -> None:
        self._before: dict[int, int] = {}

    def new(self) -> list[Met]:
        """The configurations that this process was refused meanwhile, again or for the first time."""
        found = []
        for one in program("guard").refused():
            if self._before.get(id(one), -1) != one.met:
                self._before[id(one)] = one.met
                found.append(Met(one.text, one.headline, str(one.path or ""), one.cause))
        return found


def is_refusal(error: BaseException) -> bool:
    """Whether the guard made it."""
    return bool(program("refusal").is_refusal(error))


def raised_since(folder: Path, began: float) -> list[Met]:
    """The compiles of this process that ended in an exception of their own after ``began``, in seconds of the epoch."""
    found = []
    for place in sorted(folder.glob(f"{os.getpid()}-*")):
        with suppress(OSError, ValueError):
            ended = json.loads((place / "ended.json").read_text(encoding="utf-8"))
            if place.stat().st_mtime < began or ended["how"] != "raised" or ended["type"] == "CompileFailed":
                continue
            text = str(ended.get("diagnosis") or f"{ended['type']}: {ended.get('text', '')}")
            found.append(Met(text, text.splitlines()[0], str(place), refused=False))
    return found


def in_chain(error: BaseException | None) -> list[Any]:
    """The refusals among an exception, what it came of, and what it groups."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if is_refusal(one):
            found.append(one)
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return found


@contextmanager
def shortened(errors: Iterable[Any], traces: bool) -> Iterator[None]:
    """Within it refusals are a line each: the rest is for the report's section. ``traces``: their tracebacks end where
    the test's own code launched the kernel, for good."""
    texts = [(one, one.text) for one in errors]
    for one, text in texts:
        one.text = text.splitlines()[0].removeprefix("triage: ")
        if traces:
            _end_at_launch(one.__traceback__)
    try:
        yield
    finally:
        for one, text in texts:
            one.text = text


def _end_at_launch(trace: TracebackType | None) -> None:
    internal = ("triton", program("guard").__package__)
    last = None
    while trace is not None:
        if str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] not in internal:
            last = trace
        trace = trace.tb_next
    if last is not None:
        last.tb_next = None


def section(errors: Sequence[Any], met: Sequence[Met], said: str) -> str:
    """The report of a test: what ``errors`` say, and each of ``met``; those that fail alike once. Left out is what
    ``said``, the failure's own text, holds already."""
    lines: list[str] = []
    cases: list[str] = []
    for error in errors:
        lines += error.text.removeprefix("triage: ").splitlines()
    for alike in _alike(met):
        first = alike[0]
        lines += first.text.splitlines()
        lines += textwrap.wrap(first.cause, _WIDTH, initial_indent="    ", subsequent_indent="    ")
        more = f"  ({len(alike) - 1} more fail alike)" if len(alike) > 1 else ""
        cases += [f"  {check(first.path)}{more}"] if first.path else []
    kept: list[str] = []
    for line in lines:
        text = line.strip()
        if text and text not in said and line not in kept and not text.startswith("case:"):
            kept.append(line)
    return "\n".join([*kept, *cases])


def check(path: str) -> str:
    """The command that says everything about a case."""
    return shlex.join(["triage", "check", path])


def _alike(met: Sequence[Met]) -> list[list[Met]]:
    found: dict[str, list[Met]] = {}
    for one in met:
        found.setdefault(one.headline, []).append(one)
    return list(found.values())
