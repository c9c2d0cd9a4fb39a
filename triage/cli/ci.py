"""``--github``, ``--junit`` and ``--sarif``: outputs of ``check`` and ``log`` for continuous integration."""

from __future__ import annotations

import functools
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from triage.model.diagnosis import Diagnosis
from triage.model.errors import TriageError
from triage.model.report import Match, Report
from triage.publish.visible import one_line

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord

_FILE = click.Path(path_type=Path)
_OPTIONS = [
    click.option("--github", is_flag=True, help="Write annotations and a job summary for GitHub Actions."),
    click.option("--junit", type=_FILE, metavar="FILE", help="Write JUnit XML, for GitLab and Jenkins."),
    click.option("--sarif", type=_FILE, metavar="FILE", help="Write SARIF 2.1.0, for code scanning."),
]


def with_outputs(command: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the three options to a command, which gets ``outputs`` instead, open while it runs."""

    def decorated(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def run(*arguments: Any, github: bool, junit: Path | None, sarif: Path | None, **values: Any) -> int:
            record = None
            if github or junit or sarif:
                # Imported here because it loads the report formats, which other runs do not need.
                from triage.publish.ci.record import CiRecord

                record = CiRecord(command, github, junit, sarif, os.environ)
            with Outputs(command, record, quiet=not github, to_stderr=values["as_json"]) as outputs:
                return function(*arguments, outputs=outputs, **values)

        for option in reversed(_OPTIONS):
            option(run)
        return run

    return decorated


class Outputs:
    """Collects results in the record, if there is one, and writes it when the command ends, even with an error.

    Unless ``quiet``, GitHub is told not to interpret lines as workflow commands in the meantime, because reports quote
    logs. Workflow commands go to standard output, or with ``to_stderr`` to standard error, which GitHub reads as well.
    """

    def __init__(self, command: str, record: CiRecord | None, quiet: bool, to_stderr: bool) -> None:
        self._command, self._record, self._quiet, self._to_stderr = command, record, quiet, to_stderr
        self._pause = secrets.token_hex(16)

    def report(self, name: str, report: Report) -> None:
        """Add the report of a case."""
        if self._record is not None:
            self._record.report(name, report)

    def log(self, name: str, causes: Iterable[tuple[Diagnosis, int]], matches: Iterable[Match]) -> None:
        """Add the causes of a log with their line numbers, the root cause first, and the matches of the root cause."""
        if self._record is not None:
            self._record.log(name, causes, matches)

    def error(self, name: str, error: TriageError | str) -> None:
        """Add a case or log that could not be triaged."""
        if self._record is not None:
            self._record.error(name, error)

    def __enter__(self) -> Outputs:
        self._print(f"::stop-commands::{self._pause}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._print(f"::{self._pause}::")
        if self._record is None:
            return
        if error is not None:
            self._record.error(f"triage {self._command}", str(error) or type(error).__name__)
        for line in self._record.annotations():
            self._print(line)
        problems = self._record.write()
        # The exit code is that of an error that is already raised, or else of the last problem.
        raised = problems.pop() if problems and error is None else None
        for problem in problems:
            click.echo(one_line(f"triage: {problem}"), err=True)
        if raised is not None:
            raise raised

    def _print(self, line: str) -> None:
        if not self._quiet:
            click.echo(line, err=self._to_stderr)
