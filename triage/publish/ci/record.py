"""Collects a command's results, and writes them in each format at the end, whatever happened."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from triage.filesystem.files import usable_file, writing
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.errors import EnvironmentFault, TriageError
from triage.model.match import Match
from triage.model.report import Report
from triage.publish import finished
from triage.publish.ci.actions import commands, summary
from triage.publish.ci.checked import Checked, of_cell, of_error, of_log, of_report
from triage.publish.ci.junit import junit
from triage.publish.ci.positions import Checkout, FilePosition
from triage.publish.ci.sarif import sarif
from triage.publish.compose.whole import compose, scrubber_for
from triage.publish.formats import markdown
from triage.publish.privacy import Scrubber
from triage.sweeps.observation import CellObservation, SweepFailure

_SUMMARY = "GITHUB_STEP_SUMMARY"


class CiRecord:
    """``command`` names it in the files. Raises InputError if an output file cannot be created.

    With ``github``, the job summary is written to the file that the environment names."""

    def __init__(
        self, command: str, github: bool, junit: Path | None, sarif: Path | None, environ: Mapping[str, str]
    ) -> None:
        self._command, self._github = command, github
        summary = Path(environ[_SUMMARY]) if github and environ.get(_SUMMARY) else None
        files = {_SUMMARY: summary, "--junit": junit, "--sarif": sarif}
        self._files = {option: path for option, path in files.items() if path is not None}
        for option, path in self._files.items():
            if option != _SUMMARY:
                usable_file(option, path)
        self._checkout = Checkout.here(environ)
        self._checked: list[Checked] = []
        self._reports: dict[int, str] = {}

    def report(self, name: str, report: Report) -> None:
        """Add a checked case. Raises EnvironmentFault if its artifacts cannot be read."""
        # A scrubber each: paths are shown relative to the project of the case, and its names are kept.
        triage = finished.of_report(report)
        scrubber = scrubber_for(triage)
        if _SUMMARY in self._files and report.diagnosis is not None:
            self._reports[len(self._checked)] = markdown.render(compose(triage, scrubber))
        self._checked.append(of_report(name, report, scrubber.text, self._checkout))

    def log(self, name: str, causes: Iterable[tuple[Diagnosis, int]], matches: Iterable[Match]) -> None:
        """Add a log; ``causes`` as for :func:`of_log`."""
        self._checked.append(of_log(name, causes, matches, Scrubber.here().text, self._checkout))

    def cell(
        self,
        name: str,
        case: Case,
        seen: CellObservation,
        failure: SweepFailure | None,
        at: tuple[Path, int] | None = None,
        instead: tuple[str, ...] = (),
    ) -> None:
        """Add a cell of a sweep. ``failure``: that which it shows; ``at``: the file and the line that state the
        configuration, None where the kernel does; ``instead``: what compiles."""
        positions: tuple[FilePosition, ...] = ()
        if failure is not None:
            positions = (self._checkout.of_kernel(case) if at is None else self._checkout.position(*at),)
        self._checked.append(of_cell(name, case, seen, failure, Scrubber.here().text, positions, instead))

    def error(self, name: str, error: TriageError | str) -> None:
        """Add a case about which triage could not tell."""
        self._checked.append(of_error(name, error, Scrubber.here().text))

    def annotations(self) -> Iterable[str]:
        """Annotation lines for GitHub; empty unless requested."""
        return commands(self._checked) if self._github else ()

    def write(self) -> list[EnvironmentFault]:
        """Write the files and return problems; a file that cannot be written does not prevent the others."""
        problems = []
        for option, path in self._files.items():
            try:
                with writing(f"{option} {path}"):
                    self._write(option, path)
            except EnvironmentFault as problem:
                problems.append(problem)
        return problems

    def _write(self, option: str, path: Path) -> None:
        match option:
            case "--junit":
                path.write_text(junit(self._checked, f"triage {self._command}"), encoding="utf-8")
            case "--sarif":
                path.write_text(sarif(self._checked), encoding="utf-8")
            case _:
                used = path.stat().st_size if path.exists() else 0
                with path.open("a", encoding="utf-8") as stream:
                    stream.write(summary(self._checked, self._command, used, self._reports))
