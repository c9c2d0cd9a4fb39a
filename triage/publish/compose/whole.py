"""The whole document of a finished triage. Its texts are made visible and scrubbed first."""

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage._version import __version__
from triage.model.report import Report
from triage.model.visible import shortened, visible
from triage.publish.compose import advice, evidence, failure, releases
from triage.publish.compose.excerpts import joined
from triage.publish.document import Document
from triage.publish.finished import REPORT, FinishedTriage, mapped
from triage.publish.privacy import Scrubber
from triage.publish.words import best_change, ending

_MOST_TITLE, _MOST_HEADLINE = 200, 400
"""Characters: GitHub takes 256 for an issue's title; a headline is one line, even if a document has more."""
_IMPRINT = "What is stated was run as stated; no GPU was used where none is named."


def scrubber_for(finished: FinishedTriage) -> Scrubber:
    """The scrubber of this machine for a triage: its folders are projects, its kernel's names are not private."""
    report, case, reduction = finished.report, finished.case, finished.reduction
    kernels = (finished.kernel, *finished.beside.values(), reduction.kernel if reduction else None)
    keep = {name for kernel in kernels if kernel for name in _names(kernel.head)}
    keep |= {case.name, *case.signature, *case.constexprs} if case else set()
    keep |= set(report.environment.values()) if report else set()
    keep |= {report.diagnosis.pass_name or ""} if report and report.diagnosis else set()
    matches = report.matches if report else ()
    public = [text for match in matches for text in (match.title, match.cause, *match.upstream)]
    return Scrubber.here(*finished.folders, keep=keep, public=public)


def _names(text: str) -> Iterator[str]:
    """The names in a kernel's code; not those in comments and strings."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for field in ("id", "arg", "attr", "name"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def compose(finished: FinishedTriage, scrubber: Scrubber | None = None) -> Document:
    """The document of a finished triage. ``scrubber`` None: nothing private is taken out; for the user alone."""
    finished = cleaned(finished, scrubber)
    report, case = finished.report, finished.case
    compiled = f"{report.case.name}: {ending(report.outcome)}" if report else "no failure"
    headline = shortened(finished.headline or compiled, _MOST_HEADLINE)
    release = report.release if report else case and case.release
    parts = (case.compiler.label(release) if case and release else "", str(case.target) if case else "")
    on = f" ({', '.join(filter(None, parts))})" if any(parts) else ""
    version = (report and report.environment.get("triage")) or __version__
    sections = (
        failure.describe(finished),
        evidence.environment(finished),
        releases.releases(finished),
        advice.cause(finished),
        advice.instead(finished),
        evidence.ir(finished),
        evidence.log(finished),
        evidence.reproduce(finished),
    )
    return Document(
        title=shortened(headline, _MOST_TITLE - len(on)) + on,
        headline=headline,
        signature=finished.signature,
        sections=tuple(section for section in sections if section is not None),
        imprint=f"Made by triton-triage {version}. {_IMPRINT}",
        removed=dict(scrubber.removed) if scrubber else {},
        best=best_change(report) if report else "",
    )


def cleaned(finished: FinishedTriage, scrubber: Scrubber | None = None) -> FinishedTriage:
    """The same with all of its texts visible, and without what is private where there is a scrubber."""
    finished = mapped(finished, visible, lambda value: _each_text(value, visible))
    if scrubber is None:
        return finished
    # The headline may have a user's name that only the last line of the log shows to be one, by a home folder.
    mapped(finished, scrubber.learn, lambda value: _each_text(value, scrubber.learn))
    return mapped(finished, scrubber.text, scrubber.document)


def files(finished: FinishedTriage, scrubber: Scrubber) -> dict[str, str]:
    """The long artifacts as files by name, scrubbed."""
    finished = cleaned(finished, scrubber)
    texts: dict[str, str] = {}
    if finished.report is not None:
        texts[REPORT] = json.dumps(shared(finished.report).to_json(), indent=2) + "\n"
    if finished.reduction is not None:
        texts[finished.reduction.script_name] = joined(finished.reduction.script)
        if finished.reduction.ir is not None:
            texts[finished.reduction.ir_name] = joined(finished.reduction.ir)
    names = {
        "log": "log.txt",
        "ir": "pass-input.mlir",
        "python_stack": "python-stack.txt",
        "ttir": "kernel.ttir",
        "ttgir": "kernel.ttgir",
    }
    texts |= {names[name]: joined(excerpt) for name, excerpt in finished.texts.items() if name in names}
    return {name: text for name, text in texts.items() if text.strip()}


def shared(report: Report) -> Report:
    """A report for others: its artifacts by file name alone."""
    return replace(report, artifacts={name: Path(path.name) for name, path in report.artifacts.items()})


def _each_text(value: Any, function: Callable[[str], str]) -> Any:
    """A JSON value with every text in it put through a function, names of fields included."""
    match value:
        case str():
            return function(value)
        case dict():
            return {function(str(name)): _each_text(item, function) for name, item in value.items()}
        case list():
            return [_each_text(item, function) for item in value]
    return value
