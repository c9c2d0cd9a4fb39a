"""One case or log as continuous integration sees it: what was asked, which of the three answers came, and why.

Everything here is scrubbed and visible: whoever writes a format has its own syntax alone to mind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from triage.model.diagnosis import Diagnosis
from triage.model.errors import TriageError
from triage.model.report import Match, Report, Suggestion
from triage.publish.ci.places import Place, Places
from triage.publish.github.mark import digest
from triage.publish.visible import clipped, one_line, visible

_MOST_MESSAGE = 8_000
"""Characters of a compiler's message: a traceback has three thousand."""

Scrub = Callable[[str], str]


class Verdict(str, Enum):
    """The three answers."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "could not tell"


@dataclass(frozen=True, slots=True)
class Known:
    """What the knowledge base says of a failure. ``link`` is where to read on, on the web."""

    id: str
    title: str
    cause: str
    link: str | None


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure. ``fingerprint`` is equal for the same bug everywhere; ``places`` are in the user's files, the best
    first; ``instead`` says what compiles, ``stage`` and ``pass_name`` are the compiler's."""

    kind: str
    headline: str
    message: str
    signature: str
    fingerprint: str
    places: tuple[Place, ...] = ()
    stage: str | None = None
    pass_name: str | None = None
    known: Known | None = None
    instead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """``name`` is what was asked for. ``failures`` is empty unless the verdict is FAILED; ``about`` says what was
    compiled and with what, or why it could not be told. ``seconds``: of the compile."""

    name: str
    verdict: Verdict
    about: str = ""
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0


def of_report(name: str, report: Report, scrub: Scrub, places: Places) -> Checked:
    """A case that was checked."""
    case, outcome = report.case, report.outcome
    about = f"{case.name} for {case.target}, Triton {report.environment['triton']}: {case.settings()}"
    if report.diagnosis is None:
        return _clean(Checked(name, Verdict.PASSED, about, seconds=outcome.duration_s), scrub)
    source = report.diagnosis.source
    found = [places.of_case(case, source)] if source else [places.of_kernel(case)]
    instead = tuple(_instead(one) for one in report.suggestions if one.verified)
    failure = _failure(report.diagnosis, report.matches, found, instead)
    if failure.stage is None and outcome.stage is not None:
        failure = replace(failure, stage=outcome.stage.value)
    return _clean(Checked(name, Verdict.FAILED, about, (failure,), outcome.duration_s), scrub)


def of_log(
    name: str,
    found: Iterable[tuple[Diagnosis, int]],
    matches: Iterable[Match],
    scrub: Scrub,
    places: Places,
) -> Checked:
    """A log with its causes, the root first, each with its line (from 1); ``matches`` are the root's."""
    failures: list[Failure] = []
    for diagnosis, line in found:
        here = [places.of_source(diagnosis.source)] if diagnosis.source else []
        here += [places.of_file(Path(name), line)] if name != "-" else []
        failures.append(_failure(diagnosis, () if failures else matches, here, ()))
    verdict = Verdict.FAILED if failures else Verdict.PASSED
    shown = "standard input" if name == "-" else name
    return _clean(Checked(shown, verdict, "no failure found" if not failures else "", tuple(failures)), scrub)


def of_error(name: str, error: TriageError | str, scrub: Scrub) -> Checked:
    """What could not be told, and why."""
    return _clean(Checked(name, Verdict.UNKNOWN, str(error)), scrub)


def _failure(
    diagnosis: Diagnosis, matches: Iterable[Match], places: Iterable[Place], instead: tuple[str, ...]
) -> Failure:
    best = next(iter(matches), None)
    link = next((url for url in best.upstream if url.startswith("https://")), None) if best else None
    return Failure(
        kind=diagnosis.kind.value,
        headline=diagnosis.headline,
        message=diagnosis.message,
        signature=diagnosis.signature,
        fingerprint=digest(diagnosis.signature or diagnosis.headline),
        places=tuple(places),
        stage=diagnosis.stage,
        pass_name=diagnosis.pass_name,
        known=Known(best.id, best.title, best.cause, link) if best else None,
        instead=instead,
    )


def _instead(suggestion: Suggestion) -> str:
    changes = " ".join(f"{name}={value}" for name, value in suggestion.changes.items())
    return ": ".join(part for part in (changes, suggestion.why or suggestion.note) if part)


def _clean(checked: Checked, scrub: Scrub) -> Checked:
    """Visible first, so that nothing unseen parts a secret; scrubbed while a text is whole; then made short."""

    def line(text: str) -> str:
        return one_line(scrub(visible(text)))

    def failure(one: Failure) -> Failure:
        known = one.known and replace(
            one.known, title=line(one.known.title), cause=line(one.known.cause), link=one.known.link
        )
        return replace(
            one,
            headline=line(one.headline),
            message=_short(scrub(visible(one.message))),
            signature=line(one.signature),
            places=tuple(replace(place, uri=uri) for place in one.places if (uri := line(place.uri))),
            pass_name=line(one.pass_name) if one.pass_name else None,
            known=known,
            instead=tuple(line(text) for text in one.instead),
        )

    return replace(
        checked,
        name=line(checked.name),
        about=line(checked.about),
        failures=tuple(failure(one) for one in checked.failures),
    )


def _short(text: str) -> str:
    text = clipped(text)
    return (
        text
        if len(text) <= _MOST_MESSAGE
        else f"{text[:_MOST_MESSAGE]}\n… ({len(text) - _MOST_MESSAGE} more characters)"
    )
