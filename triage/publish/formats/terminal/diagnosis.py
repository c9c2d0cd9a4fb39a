"""What failed and why, on the terminal: of a log, and of a report."""

from collections.abc import Sequence

from rich.console import Console

from triage.knowledge.advice import next_steps
from triage.model.diagnosis import Diagnosis, SourceLocation
from triage.model.match import Match
from triage.model.visible import shortened, visible
from triage.publish.diagnosis_words import in_pass, location, standing, telling
from triage.publish.formats.terminal.console import line, paragraph, section

_INDENT = 2
_MOST_MESSAGE_LINES = 8


def diagnosis(console: Console, diagnosis: Diagnosis | None, matches: Sequence[Match]) -> None:
    """Print the diagnosis of a log. Without a case, nothing was compiled."""
    if diagnosis is None:
        line(console, "no failure found", style="bold green")
        return
    paragraph(console, diagnosis.headline, style="bold red", indent=0)
    failure(console, diagnosis, matches)


def failure(
    console: Console, diagnosis: Diagnosis, matches: Sequence[Match], ended: str = "", notes: Sequence[str] = ()
) -> None:
    """What failed, and the cause. ``ended`` tells how the compile of a case ended, with ``notes`` on it; a log has
    neither."""
    section(console, "What failed")
    named = ", ".join(part for part in (diagnosis.function, location(diagnosis)) if part)
    kind = f"{diagnosis.kind.value}{f' in {named}' if named else ''}"
    if ended:
        paragraph(console, ended)
    paragraph(console, kind if ended else f"{kind}{in_pass(diagnosis)}")
    lines = [text for text in visible(diagnosis.message).splitlines() if text.strip()]
    for text in lines[:_MOST_MESSAGE_LINES]:
        paragraph(console, shortened(text, 400), style="red")
    if len(lines) > _MOST_MESSAGE_LINES:
        paragraph(console, f"… {len(lines) - _MOST_MESSAGE_LINES} more lines in the log", style="dim")
    if diagnosis.source is not None:
        _source(console, diagnosis.source)
    for note in (*diagnosis.notes, *notes):
        if note not in diagnosis.message:
            paragraph(console, note)
    if matches:
        section(console, "Cause")
        # Of a case, what helps is compiled for the user's own kernel, and shown as a suggestion.
        _cause(console, matches, show_helps=not ended)
    if all(match.generic for match in matches) and (steps := next_steps(diagnosis, have_case=bool(ended))):
        section(console, "Next steps" if matches else "Not in the knowledge base; next steps")
        for step in steps:
            paragraph(console, step)


def _source(console: Console, source: SourceLocation) -> None:
    column = f":{source.column}" if source.column else ""
    paragraph(console, f"{source.file}:{source.line}{column}", style="cyan")
    if source.text:
        text = visible(source.text)
        stripped = text.strip()
        line(console, " " * 2 * _INDENT + stripped)
        caret = (source.column or 0) - 1 - (len(text) - len(text.lstrip()))
        if source.column and 0 <= caret < len(stripped):
            line(console, " " * (2 * _INDENT + caret) + "^", style="red")


def _cause(console: Console, matches: Sequence[Match], show_helps: bool) -> None:
    for match in telling(matches, 2):
        paragraph(console, f"{match.title} ({match.id}, {standing(match)})", style="bold")
        paragraph(console, match.cause)
        for title, texts in (
            ("helped where it was tried", match.helps if show_helps else ()),
            ("did not help where it was tried", match.does_not_help),
            ("to tell the causes apart" if match.generic else "next", match.next_steps),
        ):
            for text in texts:
                paragraph(console, f"{title}: {text}")
