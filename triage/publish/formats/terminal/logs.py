"""Diagnosed logs on the terminal: one log with its causes and consequences, or many grouped by bug."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from triage.logs import Finding
from triage.model.diagnosis import Diagnosis
from triage.model.report import Match
from triage.publish.formats.terminal import report as render
from triage.publish.visible import one_line, visible

#: How many causes beside the root cause, and how many files of one bug, are listed.
_MOST_OTHERS = 8
_MOST_FILES = 5


def log(console: Console, diagnosis: Diagnosis | None, matches: Sequence[Match], findings: Sequence[Finding]) -> None:
    """One log: its root cause as a report shows it, then the other causes, then how much merely follows."""
    render.diagnosis(console, diagnosis, matches)
    if diagnosis is None:
        return
    if diagnosis.notes:
        _title(console, "Notes")
        for note in diagnosis.notes:
            _item(console, note)
    others = sorted(
        (finding for finding in findings if finding.rank > 1 and finding.follows is None),
        key=lambda finding: finding.rank,
    )
    if others:
        _title(console, "Also failed in this log")
        for finding in others[:_MOST_OTHERS]:
            _item(console, f"line {finding.position + 1}: {finding.diagnosis.headline}")
        _more(console, len(others) - _MOST_OTHERS)
    following = [finding for finding in findings if finding.follows is not None]
    if following:
        _title(console, "Follows from that")
        for finding in following[:_MOST_OTHERS]:
            _item(console, f"line {finding.position + 1}: {finding.diagnosis.headline}", style="dim")
        _more(console, len(following) - _MOST_OTHERS)


def groups(console: Console, read: Iterable[tuple[str, Diagnosis | None, Sequence[Match]]]) -> None:
    """Many logs, (file, root cause, matches) each: the bugs that they show, the most frequent first."""
    logs = list(read)
    bugs: dict[str, list[tuple[str, Diagnosis, Sequence[Match]]]] = {}
    for file, diagnosis, matches in logs:
        if diagnosis is not None:
            bugs.setdefault(diagnosis.signature, []).append((file, diagnosis, matches))
    clean = sum(diagnosis is None for _, diagnosis, _ in logs)
    counted = [_count(len(logs), "log"), _count(len(bugs), "bug"), *([f"{clean} without failure"] if clean else [])]
    console.print(Text(", ".join(counted), style="bold"))
    for group in sorted(bugs.values(), key=len, reverse=True):
        _, diagnosis, matches = group[0]
        console.print()
        console.print(
            Text(f"{len(group)}x ", style="bold") + Text(visible(diagnosis.headline), style="red"), soft_wrap=True
        )
        _item(console, diagnosis.signature, style="dim")
        for match in matches[:1]:
            _item(console, f"{match.title} ({match.id}, {match.confidence:.0%})")
        for file, _, _ in group[:_MOST_FILES]:
            _item(console, file)
        _more(console, len(group) - _MOST_FILES)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _title(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _item(console: Console, text: str, style: str = "") -> None:
    """A paragraph, indented; wrapped here, because rich would pad every line to the full width."""
    for line in Text(one_line(text), style=style).wrap(console, max(console.width - 2, 20)):
        line.rstrip()
        console.print(Text("  ") + line, soft_wrap=True)


def _more(console: Console, rest: int) -> None:
    if rest > 0:
        _item(console, f"… and {rest} more (--json)", style="dim")
