"""Why it fails, as far as that is known, and what compiles instead, with what that costs."""

import re
from collections.abc import Iterator

from triage.model.match import Match
from triage.model.report import Suggestion
from triage.publish.diagnosis_words import standing, telling
from triage.publish.document import (
    Block,
    Bullets,
    Code,
    Comparison,
    Heading,
    Line,
    Listing,
    Paragraph,
    Section,
    Strong,
    Usage,
    WebLink,
    Weight,
)
from triage.publish.finished import FinishedTriage
from triage.publish.words import change, evidence, expectation, instead_title

_MOST_CAUSES, _FIRST = 2, 3
"""Entries of the knowledge base that are shown, and suggestions that are never among the first to be dropped."""
_LOG_ALONE = "log"
"""The evidence of an entry that no reproducer proves."""
_WEB = re.compile(r"https://[\w.-]{1,200}(?:/[\w./%#?=&+~-]{0,1000})?")
_ISSUE = re.compile(r"https://github\.com/(?P<repository>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<number>\d+)")


def cause(finished: FinishedTriage) -> Section | None:
    """What the knowledge base has on the failure, with its evidence."""
    report = finished.report
    if report is None or report.diagnosis is None:
        return None
    if not report.matches:
        return Section("cause", "Cause", (Paragraph(("The knowledge base of triage has no entry for this failure.",)),))
    blocks = [block for match in telling(report.matches, _MOST_CAUSES) for block in _match(match)]
    return Section("cause", "Cause and evidence", tuple(blocks))


def _match(match: Match) -> Iterator[Block]:
    yield Paragraph((Strong(match.title), f" (match {standing(match)})"))
    yield Paragraph((match.cause,))
    lines: list[Line] = [("Did not help where it was tried: ", advice) for advice in match.does_not_help]
    if reproducers := [Code(name) for name in match.evidence if name != _LOG_ALONE]:
        lines.append(("Reproducers that show it: ", *_separated(reproducers)))
    elif match.evidence:
        lines.append(("Known from a log alone: triage has no reproducer of it.",))
    if upstream := [_link(url) for url in match.upstream]:
        lines.append(("Upstream: ", *_separated(upstream)))
    if lines:
        yield Bullets(tuple(lines), Weight.EVIDENCE)


def _separated(spans: list[Code] | list[Code | WebLink]) -> Line:
    return tuple(part for number, span in enumerate(spans) for part in ((", ", span) if number else (span,)))


def _link(url: str) -> Code | WebLink:
    if not _WEB.fullmatch(url):
        return Code(url)
    issue = _ISSUE.fullmatch(url)
    return WebLink(url, f"{issue['repository']}#{issue['number']}" if issue else url)


def instead(finished: FinishedTriage) -> Section | None:
    """The suggestions, best first, with what each uses side by side."""
    report = finished.report
    if report is None or not (report.suggestions or report.searched):
        return None
    suggestions = report.suggestions
    blocks: list[Block] = [Paragraph((evidence(report),))]
    if sum(suggestion.verified for suggestion in suggestions) > 1:
        usages = (
            Usage(str(number), change(suggestion), suggestion.resources)
            for number, suggestion in enumerate(suggestions, 1)
            if suggestion.resources is not None
        )
        blocks.append(Comparison("What each uses", tuple(usages)))
    for number, suggestion in enumerate(suggestions, 1):
        blocks += _suggestion(number, suggestion)
    if lines := [(text,) for text in (*report.learnt, *report.unmeasured)]:
        blocks.append(Bullets(tuple(lines), Weight.EVIDENCE))
    return Section("instead", instead_title(report), tuple(blocks))


def _suggestion(number: int, suggestion: Suggestion) -> Iterator[Block]:
    weight = Weight.ESSENTIAL if number <= _FIRST else Weight.FURTHER
    unsure = "" if suggestion.verified else " (not compiled: advice)"
    yield Heading((f"{number}. ", change(suggestion), unsure), weight)
    lines: list[Line] = [(text,) for text in (suggestion.why, suggestion.cost) if text]
    if expected := expectation(suggestion):
        lines.append((f"Expected: {expected}",))
    if measured := suggestion.measured:
        rate = f", {measured.tflops} TFLOP/s" if measured.tflops else ""
        lines.append((f"Measured: {measured.median_ms} ms a launch{rate} on {measured.device}",))
        if measured.agrees is False:
            lines.append((Strong("Its results differ from the others'."),))
    if checked := suggestion.memory_check:
        lines.append((Strong(checked.words()) if checked.errors else checked.words(),))
    notes = {
        "Results may differ:": suggestion.results,
        "Caution:": suggestion.caution,
        "The caller:": suggestion.caller,
    }
    lines += [(Strong(title), f" {text}") for title, text in notes.items() if text]
    if lines:
        yield Bullets(tuple(lines), weight)
    if suggestion.diff:
        text = suggestion.diff.strip("\n")
        yield Listing("The change, for patch -p1", text, "diff", folded=number > _FIRST, weight=weight)
