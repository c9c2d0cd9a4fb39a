"""Annotations of GitHub Actions, which are workflow commands, one a line, that no text of a log can end or begin.

Source of the form and its escapes: docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, and
the runner's ActionCommand, which also takes ``##[command]`` anywhere in a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triage.publish.ci.checked import Checked, Failure, Verdict

_MOST_TITLE, _MOST_TEXT = 200, 2_000
"""Characters that are read beside a line of code; the whole is in the log above and in the summary."""


def commands(checked: Iterable[Checked]) -> Iterator[str]:
    """An error for each failure, a warning for what could not be told."""
    for one in checked:
        if one.verdict is Verdict.UNKNOWN:
            yield _command("warning", {"title": f"triage could not tell: {one.name}"}, one.about)
        for failure in one.failures:
            yield _command("error", _properties(failure), _text(one, failure))


def _properties(failure: Failure) -> dict[str, str]:
    properties = {"title": failure.headline[:_MOST_TITLE]}
    place = next((place for place in failure.places if place.inside), None)
    if place is None:
        return properties
    column = {"col": str(place.column)} if place.column else {}
    return {"file": place.uri, "line": str(place.line), **column, **properties}


def _text(one: Checked, failure: Failure) -> str:
    where = " in ".join(part for part in (failure.stage, failure.pass_name) if part)
    lines = [failure.headline, " | ".join(part for part in (one.name, one.about, where) if part)]
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
