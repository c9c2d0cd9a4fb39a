"""A report on the terminal: headline, failure, cause, suggestions and artifacts. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from triage.knowledge.advice import next_steps
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Resources
from triage.model.report import POISONED, Match, Report, Suggestion
from triage.publish.visible import shortened, visible
from triage.publish.words import change, ending, location

_INDENT = 2
_MOST_SUGGESTIONS = 5
_MOST_MESSAGE_LINES = 8


def report(console: Console, report: Report, asked: str) -> None:
    """Print one report; ``asked`` is the command that repeats it."""
    if report.diagnosis is None:
        _compiles(console, report)
        return
    diagnosis = report.diagnosis
    _line(console, visible(diagnosis.headline), style="bold red", indent=0)
    _line(console, _configuration(report), style="dim", indent=0)
    _section(console, "What failed")
    _what_failed(console, report.outcome, diagnosis)
    if report.matches:
        _section(console, "Cause")
        _cause(console, report.matches)
    else:
        _unknown(console, diagnosis, have_case=True)
    if report.suggestions or report.searched:
        _section(console, "What compiles instead")
        _suggestions(console, report)
    if report.artifacts:
        _kept(console, report)
    console.print()
    console.print(Text(f"Again: {visible(asked)}", style="dim"), soft_wrap=True)


def _compiles(console: Console, report: Report) -> None:
    outcome = report.outcome
    console.print(Text(f"compiles in {outcome.duration_s:.2f} s", style="bold green"))
    _line(console, _configuration(report), style="dim", indent=0)
    if outcome.resources is not None:
        _line(console, _resources(outcome.resources))
    for note in outcome.notes:
        _line(console, visible(note))


def _configuration(report: Report) -> str:
    case = report.case
    return visible(f"{case.name} for {case.target}, Triton {report.environment['triton']}: {case.settings()}")


def _what_failed(console: Console, outcome: Outcome, diagnosis: Diagnosis) -> None:
    _line(console, f"{ending(outcome)}{_where(outcome, diagnosis)}")
    _line(console, _named(diagnosis))
    lines = [line for line in visible(diagnosis.message).splitlines() if line.strip()]
    for line in lines[:_MOST_MESSAGE_LINES]:
        _line(console, shortened(line, 400), style="red")
    if len(lines) > _MOST_MESSAGE_LINES:
        _line(console, f"… {len(lines) - _MOST_MESSAGE_LINES} more lines in the log", style="dim")
    if diagnosis.source is not None:
        _source(console, diagnosis)
    for note in (*diagnosis.notes, *outcome.notes):
        _line(console, visible(note))


def _where(outcome: Outcome, diagnosis: Diagnosis) -> str:
    stage = f" at stage {outcome.stage.value}" if outcome.stage else ""
    inside = f", in pass {diagnosis.pass_name}" if diagnosis.pass_name else ""
    done = ", ".join(time.stage.value for time in outcome.stages)
    return f"{stage}{inside}{f' (completed: {done})' if done else ''}"


def _named(diagnosis: Diagnosis) -> str:
    named = ", ".join(part for part in (diagnosis.function, location(diagnosis)) if part)
    return f"{diagnosis.kind.value}{f' in {named}' if named else ''}"


def _source(console: Console, diagnosis: Diagnosis) -> None:
    source = diagnosis.source
    assert source is not None
    column = f":{source.column}" if source.column else ""
    _line(console, visible(f"{source.file}:{source.line}{column}"), style="cyan")
    if source.text:
        text = visible(source.text)
        stripped = text.strip()
        console.print(Text(" " * 2 * _INDENT + stripped), soft_wrap=True)
        caret = (source.column or 0) - 1 - (len(text) - len(text.lstrip()))
        if source.column and 0 <= caret < len(stripped):
            console.print(Text(" " * (2 * _INDENT + caret) + "^", style="red"), soft_wrap=True)


def _cause(console: Console, matches: Iterable[Match]) -> None:
    for match in list(matches)[:2]:
        fixed = f"; fixed in {match.fixed_in}" if match.fixed_in else ""
        _line(console, f"{match.title} ({match.id}, {match.confidence:.0%}{fixed})", style="bold")
        _line(console, match.cause)
        for advice in match.does_not_help:
            _line(console, f"does not help: {advice}")


def _suggestions(console: Console, report: Report) -> None:
    if not any(suggestion.verified for suggestion in report.suggestions):
        _line(console, f"none of {report.searched} neighbours compiled")
    for number, suggestion in enumerate(report.suggestions[:_MOST_SUGGESTIONS], start=1):
        _suggestion(console, number, suggestion)
    rest = len(report.suggestions) - _MOST_SUGGESTIONS
    if rest > 0:
        _line(console, f"… and {rest} more (--json)", style="dim")
    for line in report.learnt:
        _line(console, visible(line), style="dim", hanging=_INDENT)
    for line in report.unmeasured:
        _line(console, visible(line), style="dim", hanging=_INDENT)
    verified = sum(suggestion.verified for suggestion in report.suggestions)
    if verified:
        each = "each" if verified == len(report.suggestions) else "each verified one"
        elsewhere = any("target" in suggestion.changes for suggestion in report.suggestions)
        evidence = f"{each} was compiled for {report.case.target}{' unless it names another target' * elsewhere}"
        evidence += f"; {report.searched} neighbours were tried"
        _line(console, evidence, style="dim")


def _suggestion(console: Console, number: int, suggestion: Suggestion) -> None:
    style = "bold green" if suggestion.verified else "bold yellow"
    unsure = "" if suggestion.verified else " (not verified)"
    _line(console, f"{number}. {visible(change(suggestion))}{unsure}", style=style, hanging=3)
    for text in (suggestion.why, suggestion.cost):
        if text:
            _line(console, visible(text), indent=_INDENT + 3)
    if suggestion.measured:
        style = "red" if suggestion.measured.agrees is False else "bold"
        _line(console, visible(f"measured: {suggestion.measured.words()}"), style=style, indent=_INDENT + 3)
    if suggestion.results:
        _line(console, visible(f"results may differ: {suggestion.results}"), style="yellow", indent=_INDENT + 3)
    if suggestion.caution:
        _line(console, visible(f"caution: {suggestion.caution}"), style="yellow", indent=_INDENT + 3)
    if suggestion.caller:
        _line(console, visible(f"the caller: {suggestion.caller}"), indent=_INDENT + 3)
    for line in (suggestion.diff or "").splitlines()[2:]:
        style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        console.print(Text(" " * (_INDENT + 3) + visible(line), style=style), soft_wrap=True)


def _kept(console: Console, report: Report) -> None:
    """Each folder of artifacts once, with the names of its files."""
    folders: dict[str, list[str]] = {}
    for name, path in report.artifacts.items():
        if name == POISONED:
            continue  # Not triage's own file; a note names it.
        names = folders.setdefault(str(path.parent), [])
        if path.name not in names:
            names.append(path.name)
    for folder, names in folders.items():
        console.print()
        # Never wrapped: the path is for copying.
        console.print(Text("Kept in ", style="bold") + Text(visible(folder), style="not bold"), soft_wrap=True)
        _line(console, visible("  ".join(names)))


def _resources(resources: Resources) -> str:
    parts = [f"tensor cores: {resources.tensor_core.value}"]
    if resources.registers is not None:
        parts.append(f"{resources.registers} registers a thread")
    if resources.spill_bytes is not None:
        parts.append(f"{resources.spill_bytes} B spilled" if resources.spill_bytes else "no spills")
    parts.append(f"{resources.shared_bytes} B of shared memory")
    return ", ".join(parts)


def _section(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _line(console: Console, text: str, style: str = "", indent: int = _INDENT, hanging: int = 0) -> None:
    """A paragraph, wrapped and indented, all but its first line by ``hanging`` more; wrapped here, because rich would
    pad every line to the full width."""
    width = max(console.width - indent - hanging, 20)
    for number, line in enumerate(Text(text, style=style).wrap(console, width)):
        line.rstrip()
        console.print(Text(" " * (indent + (hanging if number else 0))) + line, soft_wrap=True)


def diagnosis(console: Console, diagnosis: Diagnosis | None, matches: Iterable[Match]) -> None:
    """Print the diagnosis of a log. Without a case, nothing was compiled."""
    if diagnosis is None:
        console.print(Text("no failure found", style="bold green"))
        return
    _line(console, visible(diagnosis.headline), style="bold red", indent=0)
    _section(console, "What failed")
    _line(console, f"{_named(diagnosis)}{f', in pass {diagnosis.pass_name}' if diagnosis.pass_name else ''}")
    for line in [line for line in visible(diagnosis.message).splitlines() if line.strip()][:_MOST_MESSAGE_LINES]:
        _line(console, shortened(line, 400), style="red")
    if diagnosis.source is not None:
        _source(console, diagnosis)
    listed = list(matches)
    if listed:
        _section(console, "Cause")
        _cause(console, listed)
    else:
        _unknown(console, diagnosis, have_case=False)


def _unknown(console: Console, diagnosis: Diagnosis, have_case: bool) -> None:
    steps = next_steps(diagnosis, have_case)
    if steps:
        _section(console, "Not in the knowledge base; what says more")
    for step in steps:
        _line(console, visible(step))
