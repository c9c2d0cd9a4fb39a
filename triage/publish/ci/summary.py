"""The GitHub Actions job summary: counts, one line for each case, then failures in detail.

Source of the limit: docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, 1 MiB a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.publish.ci.checked import Checked, CheckedFailure, CheckVerdict
from triage.publish.formats.markdown import code, escaped, fenced

_MOST_BYTES = 1 << 20
_RESERVED = 512
"""Bytes reserved for the lines that state what was left out."""
_CODE = ("at", "signature")
_SIGNS = {CheckVerdict.PASSED: "✅ passed", CheckVerdict.FAILED: "❌ failed", CheckVerdict.UNKNOWN: "❔ could not tell"}


def summary(checked: Sequence[Checked], command: str, used: int, reports: Mapping[int, str]) -> str:
    """The Markdown. ``used``: bytes already in the step's summary; ``reports``: Markdown reports by index of the case.
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
