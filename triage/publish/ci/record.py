"""Collects a command's results and writes them in each format at the end."""

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


class CiRecord:
    """``command`` names it in the files. Raises InputError if an output file cannot be created.

    With ``github``, the job summary is written to the file that the environment names."""

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
        """Add a checked case. Raises EnvironmentFault if its artifacts cannot be read."""
        # A scrubber each: paths are told relative to the project of the case, and its names are kept.
        finished_ = finished.of_report(report)
        scrubber = scrubber_for(finished_)
        if self._summary is not None and report.diagnosis is not None:
            self._reports[len(self._checked)] = markdown.render(compose(finished_, scrubber))
        self._checked.append(of_report(name, report, scrubber.text, self._places))

    def log(self, name: str, causes: Iterable[tuple[Diagnosis, int]], matches: Iterable[Match]) -> None:
        """Add a log; ``causes`` as for :func:`of_log`."""
        self._checked.append(of_log(name, causes, matches, Scrubber.here().text, self._places))

    def error(self, name: str, error: TriageError | str) -> None:
        """Add a case about which triage could not tell."""
        self._checked.append(of_error(name, error, Scrubber.here().text))

    def annotations(self) -> Iterable[str]:
        """Annotation lines for GitHub; empty unless requested."""
        return workflow.commands(self._checked) if self._github else ()

    def write(self) -> list[EnvironmentFault]:
        """Write the files and return problems; a file that cannot be written does not prevent the others."""
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
