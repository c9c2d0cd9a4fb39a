"""The Python API: the same way through as the command line, as three functions."""

from __future__ import annotations

from pathlib import Path

from triage import knowledge, logs
from triage.cases.locate import locate
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import InputError
from triage.model.report import Match, Report
from triage.pipeline import Options, Session


def check(case: Case | Path | str, options: Options | None = None) -> Report:
    """Compile a case in isolation and report on it. ``case`` is a Case, a case folder or a reproducer's name.

    Raises InputError (bad case) and EnvironmentFault (triage could not tell); a failing compile is no exception,
    it is the report's ``outcome``.
    """
    found = case if isinstance(case, Case) else locate(str(case))
    with Session(options) as session:
        return session.check(found)


def diagnose(text: str | Path) -> Diagnosis:
    """Name the failure in text that somebody captured; a Path is read. A text without one has kind ``unknown``.

    Raises InputError when the file cannot be read.
    """
    if isinstance(text, Path):
        try:
            with text.open("rb") as stream:
                found = logs.diagnose_text(stream)
        except OSError as error:
            raise InputError(f"{text}: cannot be read: {error.strerror}") from None
    else:
        found = logs.diagnose_text(text)
    return found or Diagnosis(kind=Kind.UNKNOWN, headline="no failure found", message="")


def match(found: Diagnosis, case: Case | None = None) -> list[Match]:
    """What the knowledge base knows of a diagnosis, best first."""
    return knowledge.match(found, knowledge.load_all(), case, case.triton if case else None)
