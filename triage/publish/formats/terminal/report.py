"""A report on the terminal: headline, failure, cause, suggestions and artifacts. Fits 80 columns."""

from rich.console import Console
from rich.text import Text

from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Resources
from triage.model.report import POISONED, Report, Suggestion
from triage.model.visible import visible
from triage.publish.diagnosis_words import in_pass
from triage.publish.formats.terminal.console import line, paragraph, section
from triage.publish.formats.terminal.diagnosis import failure
from triage.publish.words import best_change, but, change, configuration, ending, evidence, expectation, instead_title

_INDENT = 2
_MOST_SUGGESTIONS = 5


def report(console: Console, report: Report, asked: str) -> None:
    """Print one report; ``asked`` is the command that repeats it."""
    if report.diagnosis is None:
        _compiles(console, report)
        _instead(console, report)
        return
    paragraph(console, report.diagnosis.headline, style="bold red", indent=0)
    paragraph(console, configuration(report), style="dim", indent=0)
    if best := best_change(report):
        paragraph(console, best, style="bold green" if report.suggestions[0].verified else "bold yellow", indent=0)
    failure(console, report.diagnosis, report.matches, _ended(report.outcome, report.diagnosis), report.outcome.notes)
    _instead(console, report)
    if report.artifacts:
        _artifacts(console, report)
    console.print()
    line(console, f"Again: {asked}", style="dim")


def _ended(outcome: Outcome, diagnosis: Diagnosis) -> str:
    stage = f" at stage {outcome.stage.value}" if outcome.stage else ""
    done = ", ".join(time.stage.value for time in outcome.stages)
    return f"{ending(outcome)}{stage}{in_pass(diagnosis)}{f' (completed: {done})' if done else ''}"


def _compiles(console: Console, report: Report) -> None:
    outcome = report.outcome
    style = "bold yellow" if outcome.drawbacks else "bold green"
    paragraph(console, f"compiles in {outcome.duration_s:.2f} s{but(outcome)}", style=style, indent=0)
    paragraph(console, configuration(report), style="dim", indent=0)
    if outcome.resources is not None:
        paragraph(console, _resources(outcome.resources))
    for note in outcome.notes:
        paragraph(console, note)
    if best := best_change(report):
        paragraph(console, best, style="bold green", indent=0)


def _instead(console: Console, report: Report) -> None:
    if report.suggestions or report.searched:
        section(console, instead_title(report))
        _suggestions(console, report)


def _suggestions(console: Console, report: Report) -> None:
    paragraph(console, evidence(report), style="dim")
    for number, suggestion in enumerate(report.suggestions[:_MOST_SUGGESTIONS], start=1):
        _suggestion(console, number, suggestion)
    rest = len(report.suggestions) - _MOST_SUGGESTIONS
    if rest > 0:
        paragraph(console, f"… and {rest} more (--json)", style="dim")
    for note in (*report.learnt, *report.unmeasured):
        paragraph(console, note, style="dim", hanging=_INDENT)


def _suggestion(console: Console, number: int, suggestion: Suggestion) -> None:
    style, unsure = ("bold green", "") if suggestion.verified else ("bold yellow", " (not compiled: advice)")
    paragraph(console, f"{change(suggestion)}{unsure}", style=style, label=f"{number}. ")
    measured, checked = suggestion.measured, suggestion.memory_check
    notes = (
        ("", suggestion.why, ""),
        ("", suggestion.cost, ""),
        ("expected: ", expectation(suggestion), ""),
        ("measured: ", measured and measured.words(), "red" if measured and measured.agrees is False else "bold"),
        ("", checked and checked.words(), "red" if checked and checked.errors else ""),
        ("results may differ: ", suggestion.results, "yellow"),
        ("caution: ", suggestion.caution, "yellow"),
        ("the caller: ", suggestion.caller, ""),
    )
    for title, text, style in notes:
        if text:
            paragraph(console, f"{title}{text}", style=style, indent=_INDENT + 3)
    for changed in (suggestion.diff or "").splitlines()[2:]:
        style = {"+": "green", "-": "red"}.get(changed[:1], "dim")
        line(console, " " * (_INDENT + 3) + visible(changed), style=style)


def _artifacts(console: Console, report: Report) -> None:
    """Each folder of artifacts once, with the names of its files."""
    folders: dict[str, dict[str, None]] = {}
    for name, path in report.artifacts.items():
        if name != POISONED:  # Not triage's own file; a note names it.
            folders.setdefault(str(path.parent), {})[path.name] = None
    for folder, names in folders.items():
        console.print()
        # Never wrapped: the path is for copying.
        console.print(Text("Kept in ", style="bold") + Text(visible(folder), style="not bold"), soft_wrap=True)
        paragraph(console, "  ".join(names))


def _resources(resources: Resources) -> str:
    parts = [f"tensor cores: {resources.tensor_core.value}"]
    if resources.registers is not None:
        parts.append(f"{resources.registers} registers a thread")
    if resources.spill_bytes is not None:
        parts.append(f"{resources.spill_bytes} B spilled" if resources.spill_bytes else "no spills")
    parts.append(f"{resources.shared_bytes} B of shared memory")
    return ", ".join(parts)
