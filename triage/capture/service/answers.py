"""Answers to a guarded program about a compile: a few fields for the guard, and a text for people."""

from pathlib import Path
from typing import Any

from triage import knowledge
from triage.capture.service.start import Settings
from triage.frontends import documents
from triage.frontends.frontend import frontend
from triage.harness.artifacts import give_up
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.errors import TriageError
from triage.model.match import Match
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.report import SuggestionKind
from triage.suggest.budget import Budget

COMPILED = "compiled"
RAISED = "raised"
"""It ends in an exception, in the program as well, which may repeat it."""
KILLS = "kills"
"""It would end the program (a signal, an exit, no end, no memory), or gives an invalid binary."""
UNDECIDED = "undecided"

_NEAREST = Budget(compiles=24, seconds=30.0, enough=4, settled=16)
"""Small, because the program waits for it."""
_KILLS = {
    Status.CRASH: "kills the compiler",
    Status.TIMEOUT: "does not end",
    Status.OUT_OF_MEMORY: "takes all memory",
    Status.SUSPECT: "makes a binary that is not valid",
}


def answer(attempt: Attempt, folders: tuple[Path, ...]) -> dict[str, Any]:
    """The answer's fields: ``status``, the ``stage`` it ended in, and ``text``; ``entry``: folder with the files for
    Triton's cache, if any; ``printed``: whether the compile printed something; ``seconds`` that it took;
    ``remembered``: nothing ran."""
    result, case = attempt.result, attempt.request.case
    if isinstance(result, Undecided):
        return {"status": UNDECIDED, "text": result.reason}
    if not result.imported:
        # The program has imported its own module; what failed is the file that the capture wrote.
        return {"status": UNDECIDED, "text": attempt.diagnosis.headline if attempt.diagnosis else ""}
    fields: dict[str, Any] = {
        "status": _status(result, case),
        "stage": result.stage.value if result.stage else None,
        "seconds": round(result.duration_s, 3),
        "remembered": attempt.cached,
        "printed": bool(result.log.strip()),
        "configuration": case.settings(),
    }
    if fields["status"] == COMPILED:
        action = attempt.request.action
        entry = action.entry if isinstance(action, FullCompile) else None
        return {**fields, "entry": str(entry) if entry and entry.is_dir() else None}
    diagnosis = attempt.diagnosis
    if diagnosis is None:
        return {**fields, "text": result.status.value}
    matches = knowledge.match(diagnosis, knowledge.load_all(folders), case, attempt.request.toolchain.release)
    cause = matches[0].cause if matches else ""
    return {**fields, "headline": diagnosis.headline, "text": text(case, result, diagnosis, matches), "cause": cause}


def _status(outcome: Outcome, case: Case) -> str:
    if outcome.status is Status.OK or outcome.stage in (Stage.LOAD, Stage.LAUNCH):
        return COMPILED
    if outcome.status is Status.SUSPECT and not frontend(case.language).has_invalid_binaries:
        return COMPILED
    return KILLS if outcome.status in _KILLS else RAISED


def text(case: Case, outcome: Outcome, diagnosis: Diagnosis, matches: list[Match]) -> str:
    """The diagnosis in a few lines."""
    does = _KILLS.get(outcome.status, "does not compile")
    how = f" ({outcome.signal})" if outcome.signal else ""
    lines = [f"{case.name} [{case.settings()}] for {case.target} {does}{how}: {diagnosis.headline}"]
    location = [
        f"stage {outcome.stage.value}" if outcome.stage else "",
        f"pass {diagnosis.pass_name}" if diagnosis.pass_name else "",
        f"{diagnosis.function or ''} {diagnosis.file}:{diagnosis.line}".strip() if diagnosis.file else "",
    ]
    lines.append("  where: " + ", ".join(filter(None, location)))
    for match in matches[:1]:
        fixed = f" (fixed in {case.compiler.label(match.fixed_in)})" if match.fixed_in else ""
        lines.append(f"  known: {match.title}{fixed}")
    return "\n".join(lines)


def nearest(folder: Path, python: str, limits: Limits, settings: Settings) -> str:
    """One line with the nearest configuration that compiles, or that none does."""
    from triage.pipeline import Options, Session

    options = Options(
        python=python,
        limits=limits,
        jobs=settings.jobs,
        cache=settings.cache,
        knowledge=tuple(map(Path, settings.knowledge)),
        budget=_NEAREST,
    )
    try:
        with Session(options) as session:
            report = session.check(documents.load(folder))
        give_up(report.artifacts.values())
    except TriageError as error:
        return f"nearest configuration that compiles: could not tell ({error})"
    verified = [suggestion for suggestion in report.suggestions if suggestion.verified]
    for suggestion in sorted(verified, key=lambda suggestion: bool(suggestion.results)):
        if suggestion.kind is SuggestionKind.CONFIG and "target" not in suggestion.changes:
            changes = ", ".join(f"{name}={value}" for name, value in suggestion.changes.items())
            return f"nearest configuration that compiles: {changes}. {suggestion.note}".strip()
    if verified:
        return f"no other configuration compiles; what does: {verified[0].note}"
    return "no configuration nearby compiles"
