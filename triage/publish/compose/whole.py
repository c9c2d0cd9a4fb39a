"""The whole document from a finished triage: everything is made visible and scrubbed first, then told."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from triage._version import __version__
from triage.publish.compose import advice, evidence, failure, setting
from triage.publish.compose.words import ending, joined, kernel_name
from triage.publish.document import Document
from triage.publish.fields import Fields
from triage.publish.finished import MATRIX, MINIMIZED, REPORT, Finished, mapped
from triage.publish.privacy import Scrubber
from triage.publish.visible import one_line, visible

_MOST_TITLE, _MOST_HEADLINE = 200, 400
"""Characters: GitHub takes 256 for an issue's title; a headline is a line, whatever a document holds in its place."""


def scrubber_for(found: Finished) -> Scrubber:
    """The scrubber of this machine for a triage: its folders are projects, its kernel's names are no private values."""
    case = Fields(found.report or found.matrix, REPORT).inside("case")
    kernels = (found.kernel, *found.beside.values(), found.minimized.kernel if found.minimized else None)
    texts = [one.head for one in kernels if one]
    keep = {name for text in texts for name in _names(text)}
    keep |= {kernel_name(case), *case.inside("signature").plain(), *case.inside("constexprs").plain()}
    keep |= {str(value) for value in Fields(found.report, REPORT).inside("environment").plain().values()}
    keep |= {str(one.maybe("pass")) for one in [Fields(found.report, REPORT).inside("diagnosis")] if one}
    matches = Fields(found.report, REPORT).each("matches")
    public = [text for one in matches for text in (one.text("title"), one.text("cause"), *one.texts("upstream"))]
    return Scrubber.here(*found.folders, keep=keep, public=public)


def _names(text: str) -> Iterator[str]:
    """The names in a kernel's code; what comments and strings say is none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for field in ("id", "arg", "attr", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def compose(found: Finished, scrubber: Scrubber | None = None) -> Document:
    """The document of a finished triage. ``scrubber`` None: nothing private is taken out; for the user alone. Raises
    InputError where a document is not what it says."""
    found = cleaned(found, scrubber)
    report = Fields(found.report, REPORT)
    headline = _headline(found)
    case = report.inside("case") or Fields(found.matrix, MATRIX).inside("case")
    release = report.inside("environment").maybe("triton") or case.inside("toolchain").maybe("triton")
    target = case.maybe("target")
    on = ", ".join(part for part in (f"Triton {release}" if release else "", target) if part)
    parts = (
        failure.describe(found),
        setting.environment(found),
        setting.releases(found),
        advice.cause(found),
        advice.instead(found),
        evidence.ir(found),
        evidence.log(found),
        evidence.reproduce(found),
    )
    return Document(
        title=_title(headline, f" ({on})" if on else ""),
        headline=headline,
        signature=found.signature,
        sections=tuple(part for part in parts if part is not None),
        made=_made(report),
        removed=dict(scrubber.removed) if scrubber else {},
    )


def cleaned(found: Finished, scrubber: Scrubber | None = None) -> Finished:
    """The same with all of its texts visible, and without what is private where there is a scrubber."""
    found = _with_texts(found, visible)
    if scrubber is None:
        return found
    # Whose home folder the last line of a log names, that one's name goes from the headline as well.
    _with_texts(found, scrubber.learn)
    return mapped(found, scrubber.text, scrubber.document)


def files(found: Finished, scrubber: Scrubber) -> dict[str, str]:
    """The long artifacts as files by name, scrubbed: for what has room for them."""
    found = cleaned(found, scrubber)
    made: dict[str, str] = {}
    if found.report:
        made[REPORT] = json.dumps(shared(found.report), indent=2) + "\n"
    if found.minimized is not None:
        made[found.minimized.script_name] = joined(found.minimized.script)
        if found.minimized.ir is not None:
            made[found.minimized.ir_name] = joined(found.minimized.ir)
    names = {
        "log": "log.txt",
        "ir": "pass-input.mlir",
        "python_stack": "python-stack.txt",
        "ttir": "kernel.ttir",
        "ttgir": "kernel.ttgir",
    }
    made |= {names[name]: joined(one) for name, one in found.texts.items() if name in names}
    return {name: text for name, text in made.items() if text.strip()}


def shared(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report document for others: where its artifacts lay on the machine means nothing there, so their names do."""
    artifacts = {name: str(path).rpartition("/")[2] for name, path in report.get("artifacts", {}).items()}
    return {**report, "artifacts": artifacts}


def _with_texts(found: Finished, function: Callable[[str], str]) -> Finished:
    """The same with every text in it put through a function, those of documents with their fields' names."""

    def document(value: Any) -> Any:
        match value:
            case str():
                return function(value)
            case dict():
                return {function(str(name)): document(one) for name, one in value.items()}
            case list():
                return [document(one) for one in value]
        return value

    return mapped(found, function, document)


def _headline(found: Finished) -> str:
    for document in (
        Fields(found.report, REPORT).inside("diagnosis"),
        Fields(found.minimized.document if found.minimized else {}, MINIMIZED),
        *Fields(found.matrix, MATRIX).each("failures"),
    ):
        if document and (headline := document.maybe("headline")):
            line = one_line(headline)
            return line if len(line) <= _MOST_HEADLINE else f"{line[: _MOST_HEADLINE - 1]}\u2026"
    outcome = Fields(found.report, REPORT).inside("outcome")
    return f"{kernel_name(Fields(found.report, REPORT).inside('case'))}: {ending(outcome)}" if outcome else "no failure"


def _title(headline: str, on: str) -> str:
    room = _MOST_TITLE - len(on)
    return (headline if len(headline) <= room else f"{headline[: room - 1]}\u2026") + on


def _made(report: Fields) -> str:
    version = report.inside("environment").maybe("triage") or __version__
    return f"Made by triton-triage {version}. What is stated was run as stated; no GPU was used where none is named."
