"""What logs say, for people: one log with its causes and consequences, or many grouped by bug."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from triage.logs import Finding
from triage.model.diagnosis import Diagnosis
from triage.model.report import Match
from triage.publish.formats.terminal import report as render
from triage.publish.visible import one_line, visible

#: Of what stands beside the root cause, and of the files that show one bug, so many are named.
_MOST_OTHERS = 8
_MOST_FILES = 5


def log(console: Console, found: Diagnosis | None, matches: Sequence[Match], findings: Sequence[Finding]) -> None:
    """One log: its root cause as a report shows it, then the other causes, then how much merely follows."""
    render.diagnosis(console, found, matches)
    if found is None:
        return
    if found.notes:
        _title(console, "Notes")
        for note in found.notes:
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
    for file, found, matches in logs:
        if found is not None:
            bugs.setdefault(found.signature, []).append((file, found, matches))
    clean = sum(found is None for _, found, _ in logs)
    counted = [_count(len(logs), "log"), _count(len(bugs), "bug"), *([f"{clean} without failure"] if clean else [])]
    console.print(Text(", ".join(counted), style="bold"))
    for group in sorted(bugs.values(), key=len, reverse=True):
        _, found, matches = group[0]
        console.print()
        console.print(
            Text(f"{len(group)}x ", style="bold") + Text(visible(found.headline), style="red"), soft_wrap=True
        )
        _item(console, found.signature, style="dim")
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
