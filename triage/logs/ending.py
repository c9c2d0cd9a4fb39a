"""How a log ends in which nothing of Triton's failed: another program failed, or the cause is not in the log."""

from collections.abc import Sequence
from dataclasses import replace

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers import other
from triage.logs.recognisers.python_exception import reports_another
from triage.model.diagnosis import Diagnosis, Kind, Trait

NOT_TRITONS = "no failure of a Triton, Gluon or CuTe compile or launch in this text; it ends with this line"
FOLLOWS = "this only reports that another process failed; the cause is above it, or in that process's own log"


def _position(finding: Finding) -> int:
    return finding.position


def ending(findings: Sequence[Finding], others: Sequence[Finding], has_evidence: bool) -> Finding | None:
    """The failure that the log ends with, as one of another program; None when nothing failed.

    An exception in a log that has to do with Triton, or that reports another process's failure, stays what it is.
    """
    candidates = [*findings, *others]
    if not candidates:
        return None
    last = max(candidates, key=lambda finding: (not other.is_summary(finding.diagnosis.message), finding.position))
    if last.diagnosis.kind.has(Trait.PROCESS_END):
        # The compiler of another program says why it stops itself.
        last = max(
            (finding for finding in findings if finding.specificity is Specificity.FATAL), key=_position, default=last
        )
    diagnosis = last.diagnosis
    reports = reports_another(diagnosis.message)
    if diagnosis.exception is not None and diagnosis.kind is Kind.PYTHON_EXCEPTION and (has_evidence or reports):
        notes = (FOLLOWS,) if reports else ()
        diagnosis = replace(diagnosis, notes=(*diagnosis.notes, *notes), elsewhere=not has_evidence)
        return replace(last, diagnosis=diagnosis, foreign=False, rank=1)
    crash = diagnosis.kind is Kind.SEGFAULT or diagnosis.kind is Kind.ABORT
    line = diagnosis.message.partition("\n")[0].strip()
    own = Diagnosis(
        kind=Kind.OTHER,
        headline=text.headline(f"A crash in {diagnosis.function}" if crash and diagnosis.function else line),
        message=diagnosis.message,
        exception=diagnosis.exception,
        source=diagnosis.source,
        notes=(NOT_TRITONS,),
    )
    return Finding(own, Specificity.TAIL, last.position, rank=1)
