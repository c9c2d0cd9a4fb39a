"""Which of a log's failures is the cause, which others are causes of their own, and what merely follows.

A log may hold several failures, one after the other: configurations that were tried, tests, workers. Each is an
*episode*: it begins with what went wrong and ends with how that ended, a Python exception or a process's end.
Within an episode the most specific finding is the cause, and of equals the first; episodes come in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.finding import Finding, Specificity
from triage.model.diagnosis import Trait

#: What says enough to begin an episode after an end.
_CAUSE = Specificity.SYMPTOM


def _ends(finding: Finding) -> bool:
    return finding.diagnosis.exception is not None or (
        finding.specificity is Specificity.TAIL and finding.diagnosis.kind.has(Trait.PROCESS_END)
    )


def _begins(finding: Finding, episode: Sequence[Finding], boundaries: Sequence[int]) -> bool:
    """True when the finding is not of the episode before it but of a new one."""
    if any(episode[-1].position < boundary <= finding.position for boundary in boundaries):
        return True
    has_cause = any(before.specificity >= _CAUSE for before in episode)
    return finding.specificity >= _CAUSE and has_cause and any(_ends(before) for before in episode)


def episodes(found: Iterable[Finding], boundaries: Sequence[int] = ()) -> list[list[Finding]]:
    """The findings, those of one failure together. ``boundaries`` are lines where something new begins."""
    told: list[list[Finding]] = []
    for finding in found:
        if not told or _begins(finding, told[-1], boundaries):
            told.append([])
        told[-1].append(finding)
    return told


def _cause(episode: Sequence[Finding]) -> Finding:
    return min(episode, key=lambda finding: (finding.foreign, -finding.specificity, finding.position))


def _is_consequence(finding: Finding, cause: Finding) -> bool:
    """True for what can only be said because the cause has happened."""
    if finding.specificity <= Specificity.EXCEPTION:
        return True
    # What the compiler printed on the way to giving up is told with the cause.
    if any(note in finding.diagnosis.message for note in cause.diagnosis.notes):
        return True
    return finding.specificity is Specificity.SYMPTOM and finding.position > cause.position


def ranked(found: Sequence[Finding], boundaries: Sequence[int] = ()) -> list[Finding]:
    """The findings in their order, each with its rank and what it follows from.

    Exceptions that are none of Triton's stay only where they follow from something that is.
    """
    told = [episode for episode in episodes(found, boundaries) if not _cause(episode).foreign]
    # An exception that nothing explains says less than any failure of the compiler, though it came first.
    told.sort(key=lambda episode: _cause(episode).specificity <= Specificity.EXCEPTION)
    order: list[tuple[Finding, int | None]] = []
    causes: dict[str, int] = {}
    for episode in told:
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
