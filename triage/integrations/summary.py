"""The summary of what the guard did in a test session, printed at its end by the process that the user started."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from triage.capture.captured import Capture, CaptureState, RunFolder
from triage.capture.refusals import check
from triage.model.visible import one_line, shortened

_WIDTH = 160
_MOST = 20


@dataclass(slots=True)
class _Failure:
    """Compiles that fail alike: the first case, and the tests that met them."""

    path: str
    tests: dict[str, None] = field(default_factory=dict)


class Summary:
    """Collects failures from test reports. ``nested``: an enclosing ``triage run`` reads the folder itself."""

    def __init__(self, config: pytest.Config, folder: Path, nested: bool) -> None:
        self._folder = folder
        self._run = None if nested else RunFolder(folder)
        self._config = config
        self._failures: dict[str, _Failure] = {}
        self._reported: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Collect the failures of a test's phase, or of an imported module, here or in a worker."""
        for record in getattr(report, "triage", ()):
            self._reported.add(record["path"])
            if record["refused"]:
                self._failures.setdefault(record["headline"], _Failure(record["path"])).tests[report.nodeid] = None

    pytest_collectreport = pytest_runtest_logreport

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print how many tests would have ended the session, why, and the cases."""
        capture = self._run.read() if self._run is not None else Capture()
        lines = [*self._saved(), *_lost(capture)]
        self._tidy(capture)
        if not lines:
            return
        terminalreporter.section("triage")
        for line in lines:
            terminalreporter.line(line)

    def _saved(self) -> list[str]:
        tests = {test for failure in self._failures.values() for test in failure.tests}
        if not tests:
            return []
        many = f"{len(tests)} tests" if len(tests) > 1 else "1 test"
        shown_folder = self._shown(self._folder)
        lines = [f"{many} met a compile that would have ended the session; the cases are in {shown_folder}"]
        for headline, failure in list(self._failures.items())[:_MOST]:
            first, *rest = failure.tests
            more = f" and {len(rest)} more" if rest else ""
            lines += [shortened(headline, _WIDTH), f"  {first}{more}"]
            lines += [f"  {check(self._shown(Path(failure.path)))}"] if failure.path else []
        if len(self._failures) > _MOST:
            lines.append(f"and {len(self._failures) - _MOST} other failures")
        return lines

    def _shown(self, path: Path) -> str:
        """The path as usable in a command from where pytest was started."""
        here = self._config.invocation_params.dir
        return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)

    def _tidy(self, capture: Capture) -> None:
        """Remove captures of exceptions that a test expected."""
        for captured in capture.compiles:
            raised = captured.state is CaptureState.RAISED and not captured.refused
            if raised and str(captured.folder) not in self._reported:
                shutil.rmtree(captured.folder, ignore_errors=True)
        if self._run is not None:
            self._run.tidy()


def _lost(capture: Capture) -> list[str]:
    """Lines on compiles that the guard could not handle."""
    lines = []
    for captured in capture.compiles:
        if captured.state is CaptureState.DIED:
            problem = f" ({one_line(captured.problem)})" if captured.problem else ""
            fact = f"a process ended when it compiled {captured.kernel}, which could not be tried first{problem}"
            lines.append(f"{fact}: {captured.folder}")
    lines += capture.lost()
    if capture.notes:
        lines.append(f"not everything could be captured: {capture.notes[0]}")
    return lines
