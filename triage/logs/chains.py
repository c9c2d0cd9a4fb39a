"""Joins the findings of a chain of Python exceptions into one.

Python prints the innermost exception first; that one says what is wrong, the outermost what kind of failure it became.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from triage.ir.locations import users_location
from triage.logs import text
from triage.logs.cute_texts import is_wrapper
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.frontend import FRONTEND_ERRORS
from triage.logs.user_frames import with_text
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation

#: ``raise … from cause``: the exception above is the reason for the one below.
CAUSE = "The above exception was the direct cause of the following exception:"
#: An exception raised while another was handled: the one above may have been expected.
CONTEXT = "During handling of the above exception, another exception occurred:"
#: Failures that a diagnosis keeps of those that are chained to it.
MAX_RELATED = 8
# Of files and modules, not of what a kernel's source says.
_OF_SYSTEM = frozenset({"OSError", "FileNotFoundError", "PermissionError", "ImportError", "ModuleNotFoundError"})
#: Part of either line.
LINKS = ("The above exception", "During handling of")


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The line that connects two tracebacks of a chain."""

    position: int
    is_cause: bool


def link_at(position: int, line: str) -> ChainLink | None:
    """The link that this line is, if it is one."""
    stripped = line.strip()
    if stripped == CAUSE:
        return ChainLink(position, True)
    return ChainLink(position, False) if stripped == CONTEXT else None


def has_reason(diagnosis: Diagnosis) -> bool:
    """False for a front-end error that only says where it happened."""
    first = diagnosis.message.partition("\n")[0]
    return not any(name in first for name in FRONTEND_ERRORS) and not is_wrapper(first.partition(": ")[2])


def lacks_reason(finding: Finding) -> bool:
    """True for a report of the front end that was cut off before its reason."""
    return finding.diagnosis.kind is Kind.FRONTEND_ERROR and not has_reason(finding.diagnosis)


def traced(finding: Finding, source: SourceLocation | None, before: Sequence[str]) -> Finding:
    """The finding for an exception that was raised while CuTe DSL traced a kernel, at a line of the user's.

    ``before`` are the lines above it: the frames that are closest to the exception, each with its text below.
    """
    diagnosis = finding.diagnosis
    source = with_text(source, before) if source is not None else None
    if diagnosis.kind not in (Kind.PYTHON_EXCEPTION, Kind.FRONTEND_ERROR) or finding.specificity is Specificity.TAIL:
        return finding
    if diagnosis.exception in _OF_SYSTEM:
        return replace(finding, diagnosis=replace(diagnosis, compiler=CUTE))
    return replace(
        finding,
        specificity=max(finding.specificity, Specificity.DIAGNOSTIC),
        locations=(*finding.locations, *((source,) if source else ())),
        diagnosis=replace(
            diagnosis,
            kind=Kind.FRONTEND_ERROR,
            compiler=CUTE,
            stage=diagnosis.stage or "trace",
            source=diagnosis.source or source,
        ),
    )


def _both(inner: bool | None, outer: bool | None) -> bool | None:
    """Whether a chain is foreign: one exception with a relation to Triton is enough."""
    return False if inner is False or outer is False else inner and outer


def _related(main: Diagnosis, other: Diagnosis) -> tuple[Diagnosis, ...]:
    return (*main.related, replace(other, related=()), *other.related)[:MAX_RELATED]


def joined(inner: Finding, outer: Finding, is_cause: bool) -> Finding:
    """One finding for two linked exceptions."""
    frontend = Kind.FRONTEND_ERROR in (inner.diagnosis.kind, outer.diagnosis.kind)
    if not frontend:
        # Outside the front-end only an explicit cause explains the other exception.
        main, other = (inner, outer) if is_cause else (outer, inner)
        if main.specificity < other.specificity:
            main, other = other, main
        related = _related(main.diagnosis, other.diagnosis)
        diagnosis = replace(main.diagnosis, exception=outer.diagnosis.exception, related=related)
        return replace(main, diagnosis=diagnosis, foreign=_both(inner.foreign, outer.foreign))
    # The inner exception explains an outer one without a reason, or is its explicit cause and has a reason itself.
    says_nothing = outer.specificity is Specificity.TAIL or not has_reason(outer.diagnosis)
    inner_explains = says_nothing or (is_cause and has_reason(inner.diagnosis))
    main, other = (inner, outer) if inner_explains else (outer, inner)
    kind = main.diagnosis.kind
    # Failures of ptxas, assertions and the like keep their own kind inside a CompilationError.
    if kind is Kind.PYTHON_EXCEPTION:
        # It is located in the kernel, not where Triton raised it.
        kind = Kind.FRONTEND_ERROR
        main = replace(main, diagnosis=replace(main.diagnosis, file=None, line=None, function=None))
    locations = inner.locations + outer.locations
    return Finding(
        diagnosis=replace(
            main.diagnosis,
            kind=kind,
            exception=outer.diagnosis.exception,
            source=users_location(locations),
            stage=main.diagnosis.stage if main.diagnosis.compiler is CUTE else "source",
            related=_related(main.diagnosis, other.diagnosis),
        ),
        specificity=max(main.specificity, Specificity.DIAGNOSTIC),
        position=inner.position,
        locations=locations,
    )


def _completes(inner: Finding, outer: Finding, boundaries: Sequence[int]) -> bool:
    """True where the line between two exceptions is missing: a text of the front end's that has no location, and below
    it a report that was cut off before its reason."""
    diagnosis = inner.diagnosis
    is_reason = diagnosis.kind is Kind.FRONTEND_ERROR and not inner.locations and has_reason(diagnosis)
    apart = bisect_right(boundaries, inner.position) < bisect_right(boundaries, outer.position)
    return is_reason and lacks_reason(outer) and not apart


def join_chains(findings: Iterable[Finding], links: list[ChainLink], boundaries: Sequence[int] = ()) -> list[Finding]:
    """The findings, those of each chain of exceptions joined, at the position of its innermost. ``boundaries``: lines
    where an independent part of the log begins."""
    remaining = iter([*links, None])
    link = next(remaining)
    result: list[Finding] = []
    last_exception: int | None = None  # its index in the result
    pending: ChainLink | None = None
    for finding in findings:
        while link is not None and link.position < finding.position:
            pending = link
            link = next(remaining)
        if finding.diagnosis.exception is None:
            result.append(finding)
            continue
        if pending is not None and last_exception is not None and result[last_exception].position < pending.position:
            result[last_exception] = joined(result[last_exception], finding, pending.is_cause)
        elif last_exception is not None and _completes(result[last_exception], finding, boundaries):
            result[last_exception] = joined(result[last_exception], finding, True)
        else:
            result.append(finding)
            last_exception = len(result) - 1
        pending = None
    return result


def frontend_headline(diagnosis: Diagnosis) -> Diagnosis:
    """Give a front-end error without a reason of its own a headline: the construct that it stopped at."""
    if diagnosis.kind is not Kind.FRONTEND_ERROR or has_reason(diagnosis) or diagnosis.source is None:
        return diagnosis
    shown = (diagnosis.source.text or "").strip() or f"line {diagnosis.source.line} of the kernel"
    return replace(diagnosis, headline=text.headline(f"{diagnosis.exception} at {shown}"))
