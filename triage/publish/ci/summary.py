"""The job summary of GitHub Actions: how many of what, a line for each case, then the failures at length.

Source of the limit: docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, 1 MiB a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.publish.ci.checked import Checked, Failure, Verdict
from triage.publish.formats.markdown import code, escaped, fenced

_MOST_BYTES = 1 << 20
_RESERVED = 512
"""Bytes for the lines that say what was left out."""
_SIGNS = {Verdict.PASSED: "✅ passed", Verdict.FAILED: "❌ failed", Verdict.UNKNOWN: "❔ could not tell"}


def summary(checked: Sequence[Checked], command: str, used: int, reports: Mapping[int, str]) -> str:
    """The Markdown. ``used``: bytes that the step's summary has already; ``reports``: by the place of a case, its own
    report in Markdown. What does not fit is left out and said to be."""
    room = _MOST_BYTES - used - _RESERVED
    counted = [f"{sum(one.verdict is verdict for one in checked)} {verdict.value}" for verdict in Verdict]
    head = f"## {escaped(f'triage {command}')}: {', '.join(counted)}\n\n| | case | |\n| --- | --- | --- |\n"
    text, missing = _filled(head, [_row(one) for one in checked], room)
    text += f"\n… and {missing} more\n" if missing else ""
    failed = [(place, one) for place, one in enumerate(checked) if one.failures]
    text, missing = _filled(text, [_details(one, reports.get(place)) for place, one in failed], room)
    text += f"\n{missing} of {len(failed)} reports are left out: GitHub takes 1 MiB a step\n" if missing else ""
    return f"{text}\n" if room > 0 else ""


def _filled(text: str, parts: Sequence[str], room: int) -> tuple[str, int]:
    """The text with the parts that fit, in their order, and how many did not."""
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


def _row(one: Checked) -> str:
    first = one.failures[0] if one.failures else None
    what = f"**{escaped(first.headline)}**" if first and first.headline else escaped(one.about)
    return f"| {_SIGNS[one.verdict]} | {escaped(one.name)} | {what} |\n"


def _details(one: Checked, report: str | None) -> str:
    body = report if report is not None else "\n\n".join(_told(failure) for failure in one.failures)
    title = f"{escaped(one.name)}: {escaped(one.failures[0].headline)}"
    return f"\n<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"


def _told(failure: Failure) -> str:
    parts = [f"**{escaped(failure.headline)}**"] if failure.headline else []
    where = " in ".join(part for part in (failure.stage, failure.pass_name) if part)
    parts += [f"- at {code(f'{place.uri}:{place.line}')}" for place in failure.places]
    parts += [f"- stage: {escaped(where)}"] if where else []
    parts += [f"- signature: {code(failure.signature)}"] if failure.signature else []
    if failure.known:
        parts.append(f"- cause: {escaped(f'{failure.known.title} ({failure.known.id}): {failure.known.cause}')}")
    return "\n".join(parts) + "\n\n" + fenced(failure.message)
