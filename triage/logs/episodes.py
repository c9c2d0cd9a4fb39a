"""Ranks the failures of a log: causes, and what merely follows from them.

A log may have several failures, one after the other: configurations that were tried, tests, workers. Each is an
*episode*: it begins with the failure and ends with a Python exception or the end of a process.
Within an episode the most specific finding is the cause, and of equals the first; episodes keep their order.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.chains import lacks_reason
from triage.logs.finding import Finding, Specificity
from triage.model.diagnosis import Kind, Trait

#: The least specificity of a finding that begins an episode after such an end.
_CAUSE = Specificity.SYMPTOM


def _ends(finding: Finding) -> bool:
    return finding.diagnosis.exception is not None or (
        finding.specificity is Specificity.TAIL and finding.diagnosis.kind.has(Trait.PROCESS_END)
    )


def episodes(findings: Iterable[Finding], boundaries: Sequence[int] = ()) -> list[list[Finding]]:
    """The findings, grouped by failure. ``boundaries`` are lines where an independent part of the log begins,
    ascending."""
    groups: list[list[Finding]] = []
    has_cause = has_ended = False  # of the last group
    for finding in findings:
        is_cause = finding.specificity >= _CAUSE
        begins = is_cause and has_cause and has_ended and not _explains(finding, groups[-1])
        if not groups or begins or _between(groups[-1][-1], finding, boundaries):
            groups.append([])
            has_cause = has_ended = False
        groups[-1].append(finding)
        has_cause, has_ended = has_cause or is_cause, has_ended or _ends(finding)
    return groups


def _reports_host_compiler(finding: Finding) -> bool:
    """True for the report that the host compiler failed, which what that printed explains."""
    return finding.specificity is Specificity.SYMPTOM and finding.diagnosis.kind is Kind.ENVIRONMENT


def _explains(finding: Finding, episode: Sequence[Finding]) -> bool:
    """True for what the host compiler printed, where somebody pasted it below the reports of its failure, and for an
    error of the front end below its mere name."""
    causes = [earlier for earlier in episode if earlier.specificity >= _CAUSE]
    match finding.diagnosis.kind:
        case Kind.ENVIRONMENT:
            return all(map(_reports_host_compiler, causes))
        case Kind.FRONTEND_ERROR:
            return all(lacks_reason(earlier) and not earlier.locations for earlier in causes)
    return False


def _between(earlier: Finding, later: Finding, boundaries: Sequence[int]) -> bool:
    """True when there is a boundary between two findings, or at the later one."""
    return bisect_right(boundaries, earlier.position) < bisect_right(boundaries, later.position)


def _cause(episode: Sequence[Finding]) -> Finding:
    return min(
        episode,
        key=lambda finding: (
            finding.foreign,
            -_specificity(finding),
            _reports_another(finding),
            not _is_located(finding),
            finding.position,
        ),
    )


def _specificity(finding: Finding) -> float:
    """A report that was cut off before its reason says where something failed, which an exception may not, and less
    than any statement of what failed; so does the exit code of the host compiler."""
    is_exit_code = _reports_host_compiler(finding) and finding.diagnosis.exception is not None
    return Specificity.SYMPTOM - 0.5 if lacks_reason(finding) or is_exit_code else finding.specificity


def _reports_another(finding: Finding) -> bool:
    """True for the end of a worker process, which the failure inside it explains."""
    return finding.specificity is Specificity.TAIL and finding.diagnosis.kind is Kind.ENVIRONMENT


def _is_located(finding: Finding) -> bool:
    """True for the end of a process with the stack that it had, and for a report of the front end with a position that
    was cut off before its reason: several lines may report the same."""
    is_end = finding.diagnosis.kind.has(Trait.PROCESS_END) and finding.diagnosis.file is not None
    return is_end or (bool(finding.locations) and lacks_reason(finding))


def _is_consequence(finding: Finding, cause: Finding) -> bool:
    """True for a finding that the cause explains."""
    if _specificity(finding) < Specificity.SYMPTOM:
        return True
    # What the compiler printed just before it gave up is a note of the cause.
    if any(note in finding.diagnosis.message for note in cause.diagnosis.notes):
        return True
    return finding.specificity is Specificity.SYMPTOM and finding.position > cause.position


def ranked(findings: Sequence[Finding], boundaries: Sequence[int] = ()) -> list[Finding]:
    """The findings in their order, each with its rank and the finding that it follows from.

    Exceptions without relation to Triton are dropped unless they follow from a failure that has one.
    """
    groups = [episode for episode in episodes(findings, boundaries) if not _cause(episode).foreign]
    # An unexplained exception is less informative than any failure of the compiler, even if it came first.
    groups.sort(key=lambda episode: _cause(episode).specificity <= Specificity.EXCEPTION)
    order: list[tuple[Finding, int | None]] = []
    causes: dict[str, int] = {}
    for episode in groups:
        cause = _cause(episode)
        rank = len(order) + 1
        order.append((cause, causes.get(cause.diagnosis.signature)))
        causes.setdefault(cause.diagnosis.signature, rank)
        for finding in sorted(episode, key=lambda finding: (-finding.specificity, finding.position)):
            if finding is not cause:
                same = causes.get(finding.diagnosis.signature)
                order.append((finding, rank if _is_consequence(finding, cause) else same))
                causes.setdefault(finding.diagnosis.signature, len(order))
    numbered = [replace(finding, rank=rank, follows=follows) for rank, (finding, follows) in enumerate(order, start=1)]
    return sorted(numbered, key=lambda finding: (finding.position, finding.rank))
