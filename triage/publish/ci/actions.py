"""GitHub Actions: annotations, which are workflow commands, one a line, and the job summary.

Source of forms, escapes and limits: docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands;
the runner's ActionCommand, which also accepts ``##[command]`` anywhere in a line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from triage.publish.ci.checked import Checked, CheckedFailure, CheckVerdict
from triage.publish.formats.markdown import code, escaped, fenced

_MOST_TITLE, _MOST_TEXT = 200, 2_000
"""Characters that are read beside a line of code; the whole is in the log above and in the summary."""
_MOST_BYTES = 1 << 20
"""Of the summaries of a step."""
_RESERVED = 512
"""Bytes reserved for the lines that state what was left out."""
_CODE = ("at", "signature")
_SIGNS = {CheckVerdict.PASSED: "✅ passed", CheckVerdict.FAILED: "❌ failed", CheckVerdict.UNKNOWN: "❔ could not tell"}


def commands(checked: Iterable[Checked]) -> Iterator[str]:
    """An error for each failure, a warning for each case about which triage could not tell.

    Log text can neither start nor end a command."""
    for checked_ in checked:
        if checked_.verdict is CheckVerdict.UNKNOWN:
            yield _command("warning", {"title": f"triage could not tell: {checked_.name}"}, checked_.about)
        for failure in checked_.failures:
            yield _command("error", _properties(failure), _text(checked_, failure))


def _properties(failure: CheckedFailure) -> dict[str, str]:
    properties = {"title": failure.headline[:_MOST_TITLE]}
    position = next((position for position in failure.positions if position.inside), None)
    if position is None:
        return properties
    column = {"col": str(position.column)} if position.column else {}
    return {"file": position.uri, "line": str(position.line), **column, **properties}


def _text(checked: Checked, failure: CheckedFailure) -> str:
    lines = [failure.headline, " | ".join(part for part in (checked.name, checked.about, failure.where) if part)]
    lines += [f"Cause: {failure.known.title} ({failure.known.id})"] if failure.known else []
    lines += [f"Compiles instead: {failure.instead[0]}"] if failure.instead else []
    return "\n".join(lines)[:_MOST_TEXT]


def _command(name: str, properties: dict[str, str], text: str) -> str:
    values = {key: _data(value).replace(":", "%3A").replace(",", "%2C") for key, value in properties.items()}
    listed = ",".join(f"{key}={value}" for key, value in values.items())
    return f"::{name} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def summary(checked: Sequence[Checked], command: str, used: int, reports: Mapping[int, str]) -> str:
    """The job summary: counts, one line for each case, then failures in detail.

    ``used``: bytes already in the step's summary; ``reports``: Markdown reports by index of the case.
    What does not fit is left out, with a note."""
    room = _MOST_BYTES - used - _RESERVED
    counted = [
        f"{sum(checked_.verdict is verdict for checked_ in checked)} {verdict.value}" for verdict in CheckVerdict
    ]
    head = f"## {escaped(f'triage {command}')}: {', '.join(counted)}\n\n| | case | |\n| --- | --- | --- |\n"
    text, missing = _filled(head, [_row(checked_) for checked_ in checked], room)
    text += f"\n… and {missing} more\n" if missing else ""
    failed = [(index, checked_) for index, checked_ in enumerate(checked) if checked_.failures]
    text, missing = _filled(text, [_details(checked_, reports.get(index)) for index, checked_ in failed], room)
    text += f"\n{missing} of {len(failed)} reports are left out: GitHub takes 1 MiB a step\n" if missing else ""
    return f"{text}\n" if room > 0 else ""


def _filled(text: str, parts: Sequence[str], room: int) -> tuple[str, int]:
    """The text with the parts that fit, in order, and the number of parts left out."""
    missing, size = 0, len(text.encode())
    fitting = []
    for part in parts:
        length = len(part.encode())
        if size + length > room:
            missing += 1
            continue
        size += length
        fitting.append(part)
    return text + "".join(fitting), missing


def _row(checked: Checked) -> str:
    first = checked.failures[0] if checked.failures else None
    what = f"**{escaped(first.headline)}**" if first and first.headline else escaped(checked.about)
    return f"| {_SIGNS[checked.verdict]} | {escaped(checked.name)} | {what} |\n"


def _details(checked: Checked, report: str | None) -> str:
    body = report if report is not None else "\n\n".join(_described(failure) for failure in checked.failures)
    title = f"{escaped(checked.name)}: {escaped(checked.failures[0].headline)}"
    return f"\n<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"


def _described(failure: CheckedFailure) -> str:
    parts = [f"**{escaped(failure.headline)}**"] if failure.headline else []
    parts += [f"- {name}: {code(text) if name in _CODE else escaped(text)}" for name, text in failure.facts()]
    return "\n".join(parts) + "\n\n" + fenced(failure.message)
