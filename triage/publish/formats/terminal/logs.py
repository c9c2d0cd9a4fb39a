"""Diagnosed logs on the terminal: one log with its causes and consequences, or many grouped by bug."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from triage.knowledge.matching import NearMiss
from triage.logs import Finding
from triage.model.diagnosis import Diagnosis
from triage.model.match import Match
from triage.model.visible import one_line, visible
from triage.model.words import count
from triage.publish.diagnosis_words import standing
from triage.publish.formats.terminal import diagnosis as render
from triage.publish.formats.terminal.console import line, paragraph, section

_MOST_OTHERS, _MOST_FILES, _MOST_NEAR = 8, 5, 5
"""Causes beside the root cause that are listed, files of one bug, and entries that almost match."""


def log(
    console: Console,
    diagnosis: Diagnosis | None,
    matches: Sequence[Match],
    findings: Sequence[Finding],
    others: Mapping[int, Sequence[Match]],
) -> None:
    """One log: its root cause as a report shows it, then the other causes, then how much merely follows.

    ``findings`` are in order of rank; ``others`` are the matches of the other causes, by rank.
    """
    render.diagnosis(console, diagnosis, matches)
    causes = [finding for finding in findings[1:] if finding.follows is None]
    following = sorted(
        (finding for finding in findings if finding.follows is not None), key=lambda finding: finding.position
    )
    for title, listed, style in (("Also failed in this log", causes, ""), ("Follows from that", following, "dim")):
        if listed:
            section(console, title)
            _list(console, [_line(finding, others.get(finding.rank, ())) for finding in listed], _MOST_OTHERS, style)


def _line(finding: Finding, matches: Sequence[Match]) -> str:
    known = f" — {matches[0].title} ({matches[0].id}, {standing(matches[0])})" if matches else ""
    return f"line {finding.position + 1}: {finding.diagnosis.headline}{known}"


def near_misses(console: Console, misses: Sequence[NearMiss]) -> None:
    """The entries that almost match, with what each lacks."""
    section(console, "Would match but for")
    for miss in misses[:_MOST_NEAR]:
        paragraph(console, f"{miss.entry.id}: {miss.entry.title}", style="bold")
        for difference in miss.differences:
            paragraph(console, one_line(difference))
    if not misses:
        paragraph(console, "no entry comes near")


def groups(console: Console, read: Iterable[tuple[str, Diagnosis | None, Sequence[Match]]]) -> None:
    """Many logs, (file, root cause, matches) each: the bugs that they show, the most frequent first."""
    logs = list(read)
    bugs: dict[str, list[tuple[str, Diagnosis, Sequence[Match]]]] = {}
    for file, diagnosis, matches in logs:
        if diagnosis is not None:
            bugs.setdefault(diagnosis.signature, []).append((file, diagnosis, matches))
    clean = sum(diagnosis is None for _, diagnosis, _ in logs)
    counted = [count(len(logs), "log"), count(len(bugs), "bug"), *([f"{clean} without failure"] if clean else [])]
    line(console, ", ".join(counted), style="bold")
    for group in sorted(bugs.values(), key=len, reverse=True):
        _, diagnosis, matches = group[0]
        console.print()
        console.print(
            Text(f"{len(group)}x ", style="bold") + Text(visible(diagnosis.headline), style="red"), soft_wrap=True
        )
        paragraph(console, one_line(diagnosis.signature), style="dim")
        _list(console, [f"{match.title} ({match.id}, {standing(match)})" for match in matches[:1]], 1)
        _list(console, [file for file, _, _ in group], _MOST_FILES)


def _list(console: Console, texts: Sequence[str], most: int, style: str = "") -> None:
    for text in texts[:most]:
        paragraph(console, one_line(text), style=style)
    if len(texts) > most:
        paragraph(console, f"… and {len(texts) - most} more (--json)", style="dim")
