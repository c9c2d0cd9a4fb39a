"""The result of one case or log for continuous integration: what was checked, the verdict, and why.

All texts are scrubbed and printable, so that a format only handles its own syntax."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.errors import TriageError
from triage.model.match import Match
from triage.model.report import Report
from triage.model.visible import one_line, visible
from triage.publish.ci.positions import Checkout, FilePosition
from triage.publish.clipping import clipped
from triage.publish.github.message import digest
from triage.publish.words import but, change, configuration
from triage.sweeps.observation import CellObservation, CellState, SweepFailure

_MOST_MESSAGE = 8_000
"""Characters of a compiler message; a traceback has about three thousand."""

Scrub = Callable[[str], str]


class CheckVerdict(str, Enum):
    """The three answers."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "could not tell"


@dataclass(frozen=True, slots=True)
class CheckedFailure:
    """One failure. ``fingerprint`` is equal for the same bug everywhere; ``positions`` are in the user's files,
    best first; ``known`` is the knowledge base entry; ``instead`` lists what compiles."""

    kind: str
    headline: str
    message: str
    signature: str
    fingerprint: str
    positions: tuple[FilePosition, ...] = ()
    stage: str | None = None
    pass_name: str | None = None
    known: Match | None = None
    instead: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The stage and the pass."""
        return " in ".join(part for part in (self.stage, self.pass_name) if part)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Name and text of what is stated beside the message: positions, stage, signature, cause."""
        yield from (("at", f"{position.uri}:{position.line}") for position in self.positions)
        if self.where:
            yield "stage", self.where
        if self.signature:
            yield "signature", self.signature
        if self.known:
            yield "cause", f"{self.known.title} ({self.known.id}): {self.known.cause}"


@dataclass(frozen=True, slots=True)
class Checked:
    """``name`` is the case or log. ``failures`` is empty unless the verdict is FAILED; ``about`` describes the compile,
    or why the result is unknown. ``seconds``: duration of the compile."""

    name: str
    verdict: CheckVerdict
    about: str = ""
    failures: tuple[CheckedFailure, ...] = ()
    seconds: float = 0.0


def of_report(name: str, report: Report, scrub: Scrub, checkout: Checkout) -> Checked:
    """The result of a checked case."""
    case, outcome, about = report.case, report.outcome, configuration(report)
    if report.diagnosis is None:
        about += f": compiles{but(outcome)}" if outcome.drawbacks else ""
        return _clean(Checked(name, CheckVerdict.PASSED, about, seconds=outcome.duration_s), scrub)
    source = report.diagnosis.source
    positions = [checkout.of_case(case, source)] if source else [checkout.of_kernel(case)]
    instead = tuple(
        ": ".join(part for part in (change(suggestion), suggestion.why or suggestion.note) if part)
        for suggestion in report.suggestions
        if suggestion.verified
    )
    failure = _failure(report.diagnosis, report.matches, positions, instead)
    if failure.stage is None and outcome.stage is not None:
        failure = replace(failure, stage=outcome.stage.value)
    return _clean(Checked(name, CheckVerdict.FAILED, about, (failure,), outcome.duration_s), scrub)


def of_cell(
    name: str,
    case: Case,
    seen: CellObservation,
    failure: SweepFailure | None,
    scrub: Scrub,
    positions: tuple[FilePosition, ...],
    instead: tuple[str, ...],
) -> Checked:
    """The result of a cell of a sweep. ``failure``: that which it shows; ``positions``: of its configuration;
    ``instead``: what compiles."""
    if seen.state is CellState.UNTOLD:
        return of_error(name, seen.reason or "", scrub)
    about, seconds = f"{case.settings()} for {case.target}", seen.duration_s or 0.0
    if failure is None:
        return _clean(Checked(name, CheckVerdict.PASSED, f"{about}: compiles", seconds=seconds), scrub)
    known = next((Match.from_json(match, "match") for match in failure.matches), None)
    shown = CheckedFailure(
        kind=failure.kind or "",
        headline=seen.headline or failure.headline,
        message=seen.headline or failure.headline,
        signature=failure.signature,
        fingerprint=digest(failure.signature),
        positions=positions,
        stage=seen.stage,
        known=known,
        instead=instead,
    )
    return _clean(Checked(name, CheckVerdict.FAILED, about, (shown,), seconds), scrub)


def of_log(
    name: str, causes: Iterable[tuple[Diagnosis, int]], matches: Iterable[Match], scrub: Scrub, checkout: Checkout
) -> Checked:
    """The result of a log. ``causes``: diagnoses with their line (from 1), the root first; ``matches`` belong to the
    root."""
    failures: list[CheckedFailure] = []
    for diagnosis, line in causes:
        source = diagnosis.source
        positions = [checkout.position(Path(source.file), source.line, source.column)] if source else []
        positions += [checkout.position(Path(name), line)] if name != "-" else []
        failures.append(_failure(diagnosis, () if failures else matches, positions, ()))
    verdict = CheckVerdict.FAILED if failures else CheckVerdict.PASSED
    shown = "standard input" if name == "-" else name
    return _clean(Checked(shown, verdict, "no failure found" if not failures else "", tuple(failures)), scrub)


def of_error(name: str, error: TriageError | str, scrub: Scrub) -> Checked:
    """A case or log about which triage could not tell, and why."""
    return _clean(Checked(name, CheckVerdict.UNKNOWN, str(error)), scrub)


def _failure(
    diagnosis: Diagnosis, matches: Iterable[Match], positions: Iterable[FilePosition], instead: tuple[str, ...]
) -> CheckedFailure:
    return CheckedFailure(
        kind=diagnosis.kind.value,
        headline=diagnosis.headline,
        message=diagnosis.message,
        signature=diagnosis.signature,
        fingerprint=digest(diagnosis.signature or diagnosis.headline),
        positions=tuple(positions),
        stage=diagnosis.stage,
        pass_name=diagnosis.pass_name,
        known=next(iter(matches), None),
        instead=instead,
    )


def _clean(checked: Checked, scrub: Scrub) -> Checked:
    """Make texts printable first, so that invisible characters cannot split a secret; scrub whole texts; then
    shorten."""

    def line(text: str) -> str:
        return one_line(scrub(visible(text)))

    def failure(failure_: CheckedFailure) -> CheckedFailure:
        known = failure_.known and replace(
            failure_.known, title=line(failure_.known.title), cause=line(failure_.known.cause)
        )
        return replace(
            failure_,
            headline=line(failure_.headline),
            message=_short(scrub(visible(failure_.message))),
            signature=line(failure_.signature),
            positions=tuple(
                replace(position, uri=uri) for position in failure_.positions if (uri := line(position.uri))
            ),
            pass_name=line(failure_.pass_name) if failure_.pass_name else None,
            known=known,
            instead=tuple(line(text) for text in failure_.instead),
        )

    return replace(
        checked,
        name=line(checked.name),
        about=line(checked.about),
        failures=tuple(failure(failure_) for failure_ in checked.failures),
    )


def _short(text: str) -> str:
    text = clipped(text)
    if len(text) <= _MOST_MESSAGE:
        return text
    return f"{text[:_MOST_MESSAGE]}\n… ({len(text) - _MOST_MESSAGE} more characters)"
