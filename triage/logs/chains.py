"""Python prints a chain of exceptions innermost first; the innermost says what is wrong, the outermost what
kind of failure it became. This joins the findings of one chain into one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from triage.ir.locations import users_location
from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.frontend import FRONTEND_ERRORS
from triage.model.diagnosis import Diagnosis, Kind

#: ``raise … from cause``: the one before is the reason for the one after.
CAUSE = "The above exception was the direct cause of the following exception:"
#: An exception raised while another was handled: the one before may have been a matter of course.
CONTEXT = "During handling of the above exception, another exception occurred:"
#: What a line must hold to be either.
LINKS = ("The above exception", "During handling of")


@dataclass(frozen=True, slots=True)
class Link:
    """A connecting line between two tracebacks."""

    position: int
    is_cause: bool


def link_at(position: int, line: str) -> Link | None:
    """The link that this line is, if it is one."""
    stripped = line.strip()
    if stripped == CAUSE:
        return Link(position, True)
    return Link(position, False) if stripped == CONTEXT else None


def has_own_words(diagnosis: Diagnosis) -> bool:
    """False for a front-end error that only says where it happened."""
    first = diagnosis.message.partition("\n")[0]
    return not any(name in first for name in FRONTEND_ERRORS)


def _headline_of(inner: Diagnosis, outer: Diagnosis) -> bool:
    """True when the inner exception says more than the outer one."""
    return not has_own_words(outer) or has_own_words(inner)


def joined(inner: Finding, outer: Finding, is_cause: bool) -> Finding:
    """One finding for two linked exceptions."""
    frontend = Kind.FRONTEND_ERROR in (inner.diagnosis.kind, outer.diagnosis.kind)
    if not frontend:
        # Outside the front-end only an explicit cause is more than a circumstance.
        said, other = (inner, outer) if is_cause else (outer, inner)
        if said.specificity < other.specificity:
            said = other
        diagnosis = replace(said.diagnosis, exception=outer.diagnosis.exception)
        return replace(said, diagnosis=diagnosis, foreign=inner.foreign and outer.foreign)
    inner_says = (is_cause or not has_own_words(outer.diagnosis)) and _headline_of(inner.diagnosis, outer.diagnosis)
    said = inner if inner_says else outer
    kind = said.diagnosis.kind
    # ptxas, an assertion and their like keep their own kind inside a CompilationError.
    if kind is Kind.PYTHON_EXCEPTION:
        kind = Kind.FRONTEND_ERROR
    locations = inner.locations + outer.locations
    return Finding(
        diagnosis=replace(
            said.diagnosis,
            kind=kind,
            exception=outer.diagnosis.exception,
            source=users_location(locations),
            stage="source",
        ),
        specificity=max(said.specificity, Specificity.DIAGNOSTIC),
        position=inner.position,
        locations=locations,
    )


def join_chains(findings: Iterable[Finding], links: list[Link]) -> list[Finding]:
    """The findings with each chain of exceptions made one, at the position of its innermost."""
    remaining = iter([*links, None])
    link = next(remaining)
    kept: list[Finding] = []
    exception: int | None = None  # where in `kept` the last exception is
    pending: Link | None = None
    for finding in findings:
        while link is not None and link.position < finding.position:
            pending = link
            link = next(remaining)
        if finding.diagnosis.exception is None:
            kept.append(finding)
            continue
        if pending is not None and exception is not None and kept[exception].position < pending.position:
            kept[exception] = joined(kept[exception], finding, pending.is_cause)
        else:
            kept.append(finding)
            exception = len(kept) - 1
        pending = None
    return kept


def frontend_headline(diagnosis: Diagnosis) -> Diagnosis:
    """A front-end error that nobody gave words to: name the construct it stopped at."""
    if diagnosis.kind is not Kind.FRONTEND_ERROR or has_own_words(diagnosis) or diagnosis.source is None:
        return diagnosis
    shown = (diagnosis.source.text or "").strip() or f"line {diagnosis.source.line} of the kernel"
    return replace(diagnosis, headline=text.headline(f"{diagnosis.exception} at {shown}"))
