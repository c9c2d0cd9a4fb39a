"""The Python API: ``check``, ``diagnose`` and ``match``."""

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

    Raises InputError (bad case) and EnvironmentFault (triage could not tell); a failing compile raises nothing: it
    is the report's ``outcome``.
    """
    located = case if isinstance(case, Case) else locate(str(case))
    with Session(options) as session:
        return session.check(located)


def diagnose(text: str | Path) -> Diagnosis:
    """Diagnose a captured text; a Path is read. A text without a failure gives kind ``unknown``, one with
    a failure of anything but a Triton, Gluon or CuTe compile or launch ``other``.

    Raises InputError when the file cannot be read.
    """
    if isinstance(text, Path):
        try:
            with text.open("rb") as stream:
                diagnosis = logs.diagnose_any(stream)
        except OSError as error:
            raise InputError(f"{text}: cannot be read: {error.strerror}") from None
    else:
        diagnosis = logs.diagnose_any(text)
    return diagnosis or Diagnosis(kind=Kind.UNKNOWN, headline="no failure found", message="")


def match(found: Diagnosis, case: Case | None = None) -> list[Match]:
    """Entries of the knowledge base that match a diagnosis, best first."""
    return knowledge.match(found, knowledge.load_all(), case, case.triton if case else None)
