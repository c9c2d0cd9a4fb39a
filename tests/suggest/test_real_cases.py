"""The shared folder of real failing kernels: how many of them find a legal neighbour within the budget of a search.

Set TRIAGE_SHARED to the folder; without it these tests are skipped. Nothing is compiled: ``known.json`` says which
changes are legal.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from triage.frontends import documents
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.suggest.neighbours import LIMIT, neighbours

BUDGET = 40
"""Compiles that a search may spend on one case."""

_KINDS = {
    "assert": Kind.ASSERTION,
    "unreachable": Kind.UNREACHABLE,
    "llvm_error": Kind.LLVM_FATAL,
    "segfault": Kind.SEGFAULT,
    "mlir_diag": Kind.MLIR_DIAGNOSTIC,
    "mlir_verifier": Kind.MLIR_DIAGNOSTIC,
    "mlir_silent": Kind.MLIR_DIAGNOSTIC,
    "assembler": Kind.ASSEMBLER,
    "ptxas": Kind.PTXAS,
    "out_of_resource": Kind.OUT_OF_RESOURCES,
    "hang": Kind.TIMEOUT,
}
_STAGES = {"frontend": "source", "load_kernel": "source", "launch": "load"}


@dataclass(frozen=True)
class Known:
    """A failing case with what is known about it."""

    name: str
    case: Case
    source: str
    diagnosis: Diagnosis
    legal: list[dict[str, Any]]
    fails: list[dict[str, Any]]


def folder() -> Path | None:
    """The folder with the cases, where there is one."""
    root = os.environ.get("TRIAGE_SHARED")
    return Path(root) / "cases" if root else None


def known_cases() -> Iterator[Known]:
    """Every case, with a diagnosis made of no more than its key line: a real one says as much or more."""
    root = folder()
    for path in sorted(root.iterdir()) if root else []:
        known = json.loads((path / "known.json").read_text(encoding="utf-8"))
        case = documents.load(path)
        yield Known(
            path.name,
            case,
            case.path.read_text(encoding="utf-8"),
            _diagnosis(known),
            known["legal_neighbours"],
            known["still_fails"],
        )


def _diagnosis(known: Mapping[str, Any]) -> Diagnosis:
    message = known["key_line"]
    kind = _KINDS.get(known["how_it_ended"].rsplit(":", 1)[-1], Kind.FRONTEND_ERROR)
    place = re.search(r"([\w./-]+\.py)\"?:(\d+):(\d+)", message)
    source = SourceLocation(place[1], int(place[2]), int(place[3])) if place else None
    stage = _STAGES.get(known["stage"], known["stage"])
    return Diagnosis(kind, message, message, source=source, stage=stage)


def normal(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes with layouts in one spelling."""
    return {name: _spelling(value) for name, value in changes.items()}


def _spelling(value: Any) -> Any:
    if isinstance(value, str) and "(" in value:
        return ast.unparse(ast.parse(value, mode="eval"))
    return value


def covers(candidate: Mapping[str, Any], legal: Mapping[str, Any]) -> bool:
    """The candidate makes all the changes of a neighbour known to compile."""
    return normal(legal).items() <= normal(candidate).items()


needs_cases = pytest.mark.skipif(folder() is None, reason="TRIAGE_SHARED does not name a folder of cases")


@needs_cases
@pytest.mark.parametrize("known", [*known_cases()], ids=lambda known: known.name)
def test_every_neighbour_applies_once_and_changes_something(known: Known) -> None:
    found = [normal(candidate.changes) for candidate in neighbours(known.case, known.source, known.diagnosis)]
    assert 0 < len(found) <= LIMIT
    for position, changes in enumerate(found):
        assert changes not in found[:position]
        assert known.case.with_changes(changes).to_json() != known.case.to_json()


@needs_cases
@pytest.mark.parametrize("informed", [True, False], ids=["with the message", "knowing nothing of the failure"])
def test_a_legal_neighbour_is_among_those_tried(informed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """At least four of five cases that have a legal neighbour get one."""
    cases = [known for known in known_cases() if known.legal]
    missed = []
    for known in cases:
        diagnosis = known.diagnosis if informed else Diagnosis(Kind.UNKNOWN, "", "")
        tried = [found.changes for found in neighbours(known.case, known.source, diagnosis)][:BUDGET]
        if not any(covers(changes, legal) for changes in tried for legal in known.legal):
            missed.append(known)
    with capsys.disabled():
        print(f"\nlegal neighbour within {BUDGET}: {len(cases) - len(missed)} of {len(cases)}")
        for known in missed:
            print(f"  missed {known.name}: {known.legal}")
    assert len(missed) <= 0.2 * len(cases)
