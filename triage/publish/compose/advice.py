"""Why it fails, as far as that is known, and what compiles instead, with what that costs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.publish.compose.words import settings
from triage.publish.document import (
    Block,
    Bullets,
    Code,
    Comparison,
    Heading,
    Line,
    Link,
    Listing,
    Paragraph,
    Section,
    Strong,
    Usage,
    Weight,
)
from triage.publish.fields import Fields
from triage.publish.finished import REPORT, Finished

_MOST_CAUSES, _FIRST = 2, 3
"""Entries of the knowledge base that are told, and suggestions that are never among the first to be left out."""
_LOG_ALONE = "log"
"""What an entry that no reproducer proves has for its evidence."""
_WEB = re.compile(r"https://[\w.-]{1,200}(?:/[\w./%#?=&+~-]{0,1000})?")
_ISSUE = re.compile(r"https://github\.com/(?P<repository>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<number>\d+)")


def cause(found: Finished) -> Section | None:
    """What the knowledge base knows of it, and what that rests on."""
    report = Fields(found.report, REPORT)
    if not report.inside("diagnosis"):
        return None
    matches = report.each("matches")
    if not matches:
        return Section("cause", "Cause", (Paragraph(("The knowledge base of triage has no entry for this failure.",)),))
    blocks: list[Block] = []
    for match in matches[:_MOST_CAUSES]:
        fixed = match.maybe("fixed_in")
        sure = f" (match {match.number('confidence') or 0:.0%}{f'; fixed in Triton {fixed}' if fixed else ''})"
        blocks += [Paragraph((Strong(match.text("title")), sure)), Paragraph((match.text("cause"),))]
        lines: list[Line] = [("Does not help: ", one) for one in match.texts("does_not_help")]
        shown = [one for one in match.plain().get("evidence", ()) if isinstance(one, str)]
        if reproducers := [Code(one) for one in shown if one != _LOG_ALONE]:
            lines.append(("Reproducers that show it: ", *_separated(reproducers)))
        elif shown:
            lines.append(("Known from a log alone: triage has no reproducer of it.",))
        if upstream := [_link(url) for url in match.texts("upstream")]:
            lines.append(("Upstream: ", *_separated(upstream)))
        if lines:
            blocks.append(Bullets(tuple(lines), Weight.EVIDENCE))
    return Section("cause", "Cause and evidence", tuple(blocks))


def _separated(spans: list[Code] | list[Code | Link]) -> Line:
    return tuple(part for place, span in enumerate(spans) for part in ((", ", span) if place else (span,)))


def _link(url: str) -> Code | Link:
    if not _WEB.fullmatch(url):
        return Code(url)
    issue = _ISSUE.fullmatch(url)
    return Link(url, f"{issue['repository']}#{issue['number']}" if issue else url)


def instead(found: Finished) -> Section | None:
    """The suggestions, best first, with what each uses side by side."""
    report = Fields(found.report, REPORT)
    suggestions, tried = report.each("suggestions"), report.whole("neighbours_compiled") or 0
    if not suggestions and not tried:
        return None
    blocks: list[Block] = []
    verified = [one for one in suggestions if one.flag("verified")]
    case, release = report.inside("case"), report.inside("environment").maybe("triton")
    if verified:
        each = "Each" if len(verified) == len(suggestions) else "Each but those that say so"
        unless = (
            " unless it names another" if any({"target", "triton"} & set(_changes(one)) for one in verified) else ""
        )
        said = (
            f"{each} was compiled, whole, in a process of its own, for {case.text('target')} with Triton "
            f"{release}{unless}; {tried} neighbours were tried."
        )
        blocks.append(Paragraph((said,)))
    else:
        blocks.append(Paragraph((f"None of the {tried} neighbours that were tried compiles.",)))
    if len(verified) > 1:
        blocks.append(
            Comparison(
                "What each uses",
                tuple(_usage(place, one) for place, one in enumerate(suggestions, 1) if one.inside("resources")),
            )
        )
    for place, one in enumerate(suggestions, 1):
        blocks += _suggestion(place, one)
    learnt = [(text,) for text in (*report.texts("learnt"), *report.texts("unmeasured"))]
    if learnt:
        blocks.append(Bullets(tuple(learnt), Weight.EVIDENCE))
    return Section("instead", "What compiles instead", tuple(blocks))


def _changes(suggestion: Fields) -> dict[str, object]:
    return dict(suggestion.inside("changes").plain())


def _what(suggestion: Fields) -> str:
    changes = _changes(suggestion)
    if suggestion.maybe("kind") == "source":
        others = settings({name: value for name, value in changes.items() if name != "source"})
        return "; ".join(part for part in (str(changes.get("source", "")), others) if part)
    if suggestion.maybe("kind") == "toolchain":
        return f"Triton {changes.get('triton')}"
    return settings(changes)


def _suggestion(place: int, suggestion: Fields) -> Iterator[Block]:
    weight = Weight.ESSENTIAL if place <= _FIRST else Weight.FURTHER
    unsure = "" if suggestion.flag("verified") else " (not compiled: advice)"
    yield Heading((f"{place}. ", _what(suggestion), unsure), weight)
    lines: list[Line] = [(text,) for name in ("why", "cost") if (text := suggestion.maybe(name))]
    if measured := suggestion.inside("measured"):
        rate = f", {measured.number('tflops')} TFLOP/s" if measured.number("tflops") else ""
        on = measured.text("device")
        lines.append((f"Measured: {measured.number('median_ms')} ms a launch{rate} on {on}",))
        if measured.plain().get("agrees") is False:
            lines.append((Strong("Its results differ from the others'."),))
    for name, words in (("results", "Results may differ:"), ("caution", "Caution:"), ("caller", "The caller:")):
        if text := suggestion.maybe(name):
            lines.append((Strong(words), f" {text}"))
    if lines:
        yield Bullets(tuple(lines), weight)
    if diff := suggestion.maybe("diff"):
        yield Listing("The change, for patch -p1", diff.strip("\n"), "diff", folded=place > _FIRST, weight=weight)


def _usage(place: int, suggestion: Fields) -> Usage:
    uses = suggestion.inside("resources")
    return Usage(
        label=str(place),
        what=_what(suggestion),
        instruction=uses.maybe("tensor_core") or "none",
        registers=uses.whole("registers"),
        spill_bytes=uses.whole("spill_bytes"),
        shared_bytes=uses.whole("shared_bytes"),
    )
