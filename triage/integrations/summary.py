"""What the guard did in a session, said at its end by the process that the user started."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from triage.capture.captured import Capture, Captured, RunFolder, State
from triage.capture.refusals import check
from triage.publish.formats.terminal.text import clipped, one_line

_WIDTH = 160
_MOST = 20


@dataclass(slots=True)
class _Failure:
    """Compiles that fail alike: the first case, and the tests that met them."""

    path: str
    tests: dict[str, None] = field(default_factory=dict)


class Summary:
    """Collects what the reports say; see :meth:`pytest_terminal_summary`. ``nested``: the folder is somebody else's,
    who reads it himself."""

    def __init__(self, config: pytest.Config, folder: Path, nested: bool) -> None:
        self._folder = folder
        self._run = None if nested else RunFolder(folder)
        self._config = config
        self._failures: dict[str, _Failure] = {}
        self._kept: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a test has ended, here or in a worker."""
        self._take(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module was imported, here or in a worker."""
        self._take(report)

    def _take(self, report: Any) -> None:
        for one in getattr(report, "triage", ()):
            self._kept.add(one["path"])
            if one["refused"]:
                self._failures.setdefault(one["headline"], _Failure(one["path"])).tests[report.nodeid] = None

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """How many tests would have ended the session, of what, and the cases."""
        capture = self._run.read() if self._run is not None else Capture()
        lines = [*self._saved(), *_lost(capture)]
        self._tidy(capture)
        if not lines:
            return
        terminalreporter.section("triage")
        for line in lines:
            terminalreporter.line(line)

    def _saved(self) -> list[str]:
        tests = {test for one in self._failures.values() for test in one.tests}
        if not tests:
            return []
        many = f"{len(tests)} tests" if len(tests) > 1 else "1 test"
        place = self._shown(self._folder)
        lines = [f"{many} met a compile that would have ended the session; the cases are in {place}"]
        for headline, one in list(self._failures.items())[:_MOST]:
            first, *rest = one.tests
            more = f" and {len(rest)} more" if rest else ""
            lines += [clipped(one_line(headline), _WIDTH), f"  {first}{more}"]
            lines += [f"  {check(self._shown(Path(one.path)))}"] if one.path else []
        if len(self._failures) > _MOST:
            lines.append(f"and {len(self._failures) - _MOST} other failures")
        return lines

    def _shown(self, path: Path) -> str:
        """As it can be given to a command where pytest was started."""
        here = self._config.invocation_params.dir
        return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)

    def _tidy(self, capture: Capture) -> None:
        """The compiles that raised what a test expected leave nothing."""
        for one in capture.found:
            if one.state is State.RAISED and not one.refused and str(one.folder) not in self._kept:
                shutil.rmtree(one.folder, ignore_errors=True)
        if self._run is not None:
            self._run.tidy()


def _lost(capture: Capture) -> list[str]:
    """What the guard could not help with."""
    lines = [_ended(one) for one in capture.found if one.state is State.DIED]
    if capture.unguarded:
        many = "1 compile" if capture.unguarded == 1 else f"{capture.unguarded} compiles"
        lines.append(f"{many} could not be tried in isolation")
    if capture.notes:
        lines.append(f"not everything could be captured: {capture.notes[0]}")
    return lines


def _ended(one: Captured) -> str:
    problem = f" ({one_line(one.problem)})" if one.problem else ""
    return f"a process ended when it compiled {one.kernel}, which could not be tried first{problem}: {one.folder}"
