"""A pass that failed without a message: there is only ``PassManager::run failed``, or the name of the pass.

``note: Pipeline failed while executing [`A` on 'builtin.module' operation, `B` on …]: reproducer…``: the
brackets go from the outermost pass manager in, so the last name is the pass that failed.
"""

from __future__ import annotations

import re

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

_PIPELINE = "Pipeline failed while executing "
_RUN = "PassManager::run failed"
# Not a quotation in prose.
_RAISED = re.compile(r"(?:^|: |\()['\"]?PassManager::run failed(?!`)")
_NAME = re.compile(r"`(\w{1,200})` on ")
_STATED = re.compile(r"Pipeline failed while executing (?P<name>\w{1,200}): (?P<text>\S.{0,2000})")


def failed_pass(line: str) -> str | None:
    """The innermost pass that a ``Pipeline failed`` line names."""
    rest = line.partition(_PIPELINE)[2]
    if not rest:
        return None
    if names := _NAME.findall(rest[:4000]):
        return str(names[-1])
    plain = re.match(r"\w{1,200}(?=:)", rest)
    return plain.group() if plain else None


def headline(name: str | None) -> str:
    """The headline of a pass that failed without a message."""
    return text.headline(f"The pass {name} failed without a message" if name else "A pass failed without a message")


def error_text(line: str) -> str | None:
    """The reason that some wrappers write into a ``Pipeline failed`` line, behind the pass."""
    stated = _STATED.search(line)
    return stated["text"] if stated else None


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if stated := _STATED.search(line):
        diagnosis = Diagnosis(
            kind=Kind.MLIR_DIAGNOSTIC,
            headline=text.headline(stated["text"]),
            message=text.message(line),
            pass_name=stated["name"],
        )
        return Finding(diagnosis, Specificity.DIAGNOSTIC, window.position)
    name = failed_pass(line)
    if name is None and _RAISED.search(line) is None:
        return None
    diagnosis = Diagnosis(
        kind=Kind.MLIR_DIAGNOSTIC,
        headline=headline(name),
        message=text.message(line),
        pass_name=name,
        exception="RuntimeError" if _RUN in line else None,
    )
    return Finding(diagnosis, Specificity.TAIL, window.position)


RECOGNISER = Recogniser(
    anchors=(_PIPELINE, _RUN),
    read=_read,
    examples={"RuntimeError: PassManager::run failed": Kind.MLIR_DIAGNOSTIC},
)
