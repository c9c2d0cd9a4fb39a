"""What a command found, collected case by case, and told in each format when it has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from triage.model.diagnosis import Diagnosis
from triage.model.errors import EnvironmentFault, TriageError
from triage.model.report import Match, Report
from triage.publish import finished
from triage.publish.ci import files, workflow
from triage.publish.ci.checked import Checked, of_error, of_log, of_report
from triage.publish.ci.junit import junit
from triage.publish.ci.places import Places
from triage.publish.ci.sarif import sarif
from triage.publish.ci.summary import summary
from triage.publish.compose.whole import compose, scrubber_for
from triage.publish.formats import markdown
from triage.publish.privacy import Scrubber

_SUMMARY = "GITHUB_STEP_SUMMARY"


class Record:
    """``command`` names it in the files. Raises InputError where a file could not be made at its place.

    With ``github``, the job summary is written where the environment names a file for it.
    """

    def __init__(
        self, command: str, github: bool, junit: Path | None, sarif: Path | None, environ: Mapping[str, str]
    ) -> None:
        self._command, self._github = command, github
        self._files = {option: path for option, path in (("--junit", junit), ("--sarif", sarif)) if path is not None}
        for option, path in self._files.items():
            files.check(option, path)
        self._summary = Path(environ[_SUMMARY]) if github and environ.get(_SUMMARY) else None
        self._places = Places.here(environ)
        self._checked: list[Checked] = []
        self._reports: dict[int, str] = {}

    def report(self, name: str, report: Report) -> None:
        """A case was checked. Raises EnvironmentFault where its artifacts cannot be read."""
        # A scrubber each: paths are told relative to the project of the case, and its names are kept.
        found = finished.of_report(report)
        scrubber = scrubber_for(found)
        if self._summary is not None and report.diagnosis is not None:
            self._reports[len(self._checked)] = markdown.render(compose(found, scrubber))
        self._checked.append(of_report(name, report, scrubber.text, self._places))

    def log(self, name: str, found: Iterable[tuple[Diagnosis, int]], matches: Iterable[Match]) -> None:
        """A log was read; ``found`` as :func:`of_log` takes it."""
        self._checked.append(of_log(name, found, matches, Scrubber.here().text, self._places))

    def error(self, name: str, error: TriageError | str) -> None:
        """It could not be told."""
        self._checked.append(of_error(name, error, Scrubber.here().text))

    def annotations(self) -> Iterable[str]:
        """Lines for GitHub; none where they were not asked for."""
        return workflow.commands(self._checked) if self._github else ()

    def write(self) -> list[EnvironmentFault]:
        """Writes the files; that one cannot be written does not keep the others from it."""
        problems = []
        for option, path in {_SUMMARY: self._summary, **self._files}.items():
            try:
                self._write(option, path)
            except EnvironmentFault as problem:
                problems.append(problem)
        return problems

    def _write(self, option: str, path: Path | None) -> None:
        if path is None:
            return
        match option:
            case "--junit":
                files.write(option, path, junit(self._checked, f"triage {self._command}"))
            case "--sarif":
                files.write(option, path, sarif(self._checked))
            case _:
                used = files.size(path)
                files.append(option, path, summary(self._checked, self._command, used, self._reports))
