"""GitHub Actions annotations: workflow commands, one a line, that log text can neither start nor end.

Source of the form and its escapes: docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, and
the runner's ActionCommand, which also accepts ``##[command]`` anywhere in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triage.publish.ci.checked import Checked, CheckedFailure, CheckVerdict

_MOST_TITLE, _MOST_TEXT = 200, 2_000
"""Characters that are read beside a line of code; the whole is in the log above and in the summary."""


def commands(checked: Iterable[Checked]) -> Iterator[str]:
    """An error for each failure, a warning for each case about which triage could not tell."""
    for checked_ in checked:
        if checked_.verdict is CheckVerdict.UNKNOWN:
            yield _command("warning", {"title": f"triage could not tell: {checked_.name}"}, checked_.about)
        for failure in checked_.failures:
            yield _command("error", _properties(failure), _text(checked_, failure))


def _properties(failure: CheckedFailure) -> dict[str, str]:
    properties = {"title": failure.headline[:_MOST_TITLE]}
    place = next((place for place in failure.places if place.inside), None)
    if place is None:
        return properties
    column = {"col": str(place.column)} if place.column else {}
    return {"file": place.uri, "line": str(place.line), **column, **properties}


def _text(checked: Checked, failure: CheckedFailure) -> str:
    lines = [failure.headline, " | ".join(part for part in (checked.name, checked.about, failure.where) if part)]
    lines += [f"Cause: {failure.known.title} ({failure.known.id})"] if failure.known else []
    lines += [f"Compiles instead: {failure.instead[0]}"] if failure.instead else []
    return "\n".join(lines)[:_MOST_TEXT]


def _command(name: str, properties: dict[str, str], text: str) -> str:
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
