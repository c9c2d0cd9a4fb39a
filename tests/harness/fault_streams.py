"""Kernels that do something to triage while it compiles them: cases, and streams that have good ones beside them.

A kernel module here replaces ``triton.compile`` with a function that does the fault first. That runs in the process
of the attempt and only there, below everything that triage has built around it.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import kernel_cases
import pytest
from conftest import Traces

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Status, Undecided

LIMITS = Limits(timeout_s=60, memory_bytes=2 << 30)
SHORT = Limits(timeout_s=1.0, memory_bytes=2 << 30)
SMALL = Limits(timeout_s=30, memory_bytes=3 << 27)
"""To fill a gibibyte takes half a second. Triton itself needs an eighth of one."""
GOOD = 2
"""Good compiles in the same stream as a fault: beside and after it."""

MODULE = '''
import ctypes, fcntl, os, resource, signal, socket, subprocess, sys, threading, time
import triton
import triton.language as tl

_compile = triton.compile


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def result_pipes():
    """Every pipe that this process can write into, but its own output."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        try:
            is_pipe = os.readlink(f"/proc/self/fd/{fd}").startswith("pipe:")
            if fd > 2 and is_pipe and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_WRONLY:
                found.append(fd)
        except OSError:
            pass
    return found


def fault():
BODY


def compile_(*arguments, **named):
    fault()
    return _compile(*arguments, **named)


triton.compile = compile_
'''


def module(folder: Path, body: str, name: str = "faulty.py") -> Case:
    """A kernel module whose compile runs ``body`` first, as a case."""
    path = folder / name
    path.write_text(MODULE.replace("BODY", textwrap.indent(textwrap.dedent(body).strip(), "    ")))
    found = kernel_cases.case(path, "add", {"x_ptr": "*fp32", "y_ptr": "*fp32"})
    return replace(found, constexprs=frozen({"BLOCK": 256}))


def good_cases() -> list[Case]:
    return [kernel_cases.add(block=64 << step) for step in range(GOOD)]


class Stream:
    """Runs one bad case among good ones."""

    def __init__(self, engine: Engine, toolchain: Toolchain, traces: Traces) -> None:
        self._engine, self._toolchain, self._traces = engine, toolchain, traces

    def attempts(self, bad: Case, limits: Limits = LIMITS) -> Iterator[Attempt]:
        first, *rest = good_cases()
        requests = [(first, LIMITS), (bad, limits), *((case, LIMITS) for case in rest)]
        return self._engine.run(Request(case, self._toolchain, limit, tag=case is bad) for case, limit in requests)

    def __call__(self, bad: Case, limits: Limits = LIMITS) -> Outcome | Undecided:
        """The bad case's result; the good ones came out right, and no process is left but the servers."""
        return self.timed(bad, limits)[0]

    def timed(self, bad: Case, limits: Limits = LIMITS) -> tuple[Outcome | Undecided, float]:
        """The same, and after how many seconds it came."""
        began, ended = time.monotonic(), 0.0
        attempts = []
        for attempt in self.attempts(bad, limits):
            attempts.append(attempt)
            ended = time.monotonic() if attempt.request.tag else ended
        good = [attempt.result for attempt in attempts if not attempt.request.tag]
        assert [getattr(result, "status", result) for result in good] == [Status.OK] * GOOD
        self._traces.assert_no_strays()
        (result,) = [attempt.result for attempt in attempts if attempt.request.tag]
        return result, ended - began

    def together(self, cases: dict[str, Case], limits: Limits) -> dict[str, Outcome | Undecided]:
        """The results of many bad cases in one stream, by name: good ones at both ends and among them come out
        right."""
        good = iter(range(len(cases)))
        requests = []
        for number, (name, bad) in enumerate(cases.items()):
            if number % 3 == 0:
                requests.append(Request(kernel_cases.add(block=64 << next(good) % 4), self._toolchain, LIMITS))
            requests.append(Request(bad, self._toolchain, limits, tag=name))
        requests.append(Request(kernel_cases.add(), self._toolchain, LIMITS))
        attempts = list(self._engine.run(requests))
        statuses = [
            getattr(attempt.result, "status", attempt.result) for attempt in attempts if not attempt.request.tag
        ]
        assert statuses == [Status.OK] * (len(requests) - len(cases))
        self._traces.assert_no_strays()
        return {attempt.request.tag: attempt.result for attempt in attempts if attempt.request.tag}


Results = Callable[[str], "Outcome | Undecided"]
MakeCase = Callable[[Path, str], Case]


def together(table: dict[str, str], limits: Limits = LIMITS, make: MakeCase = module) -> Any:
    """A fixture: the result of a row of the table, by its name. All rows that this session tests are compiled in one
    stream. ``make`` makes a case of a row in a folder of its own."""

    @pytest.fixture(scope="module")
    def results(request: pytest.FixtureRequest, stream: Stream, tmp_path_factory: pytest.TempPathFactory) -> Results:
        folder = tmp_path_factory.mktemp("together")
        tested = {
            row
            for item in request.session.items
            if isinstance(item, pytest.Function)
            and item.module is request.module
            and request.fixturename in item.fixturenames
            for row in item.callspec.params.values()
        }
        cases = {}
        for number, (name, body) in enumerate(table.items()):
            if name in tested:
                (folder / str(number)).mkdir()
                cases[name] = make(folder / str(number), body)
        return stream.together(cases, limits).__getitem__

    return results


def told(result: Outcome | Undecided) -> tuple[str, str | None, int | None]:
    """Status, signal and exit code."""
    assert isinstance(result, Outcome), result
    return result.status.value, result.signal, result.exit_code
