"""The public failures and the measured cases, where the corpus is at hand (TRIAGE_SHARED names its folder)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Kind

SHARED = os.environ.get("TRIAGE_SHARED")
pytestmark = pytest.mark.skipif(SHARED is None, reason="TRIAGE_SHARED names no corpus")
ROOT = Path(SHARED or ".")

#: How a case was seen to end, and the kinds its key line may be.
KINDS: dict[str, set[Kind]] = {
    "abort:assert": {Kind.ASSERTION},
    "recovered:assert": {Kind.ASSERTION},
    "abort:unreachable": {Kind.UNREACHABLE},
    "recovered:unreachable": {Kind.UNREACHABLE},
    "abort:llvm_error": {Kind.LLVM_FATAL},
    "recovered:llvm_error": {Kind.LLVM_FATAL},
    "mlir_diag": {Kind.MLIR_DIAGNOSTIC, Kind.ASSEMBLER},
    "mlir_verifier": {Kind.MLIR_DIAGNOSTIC},
    "mlir_silent": {Kind.MLIR_DIAGNOSTIC},
    "assembler": {Kind.ASSEMBLER},
    "out_of_resource": {Kind.OUT_OF_RESOURCES},
    # The innermost exception alone, or a front-end error without a cause.
    "py:CompilationError": {Kind.PYTHON_EXCEPTION, Kind.FRONTEND_ERROR},
    "py:UnsupportedLanguageConstruct": {Kind.FRONTEND_ERROR},
}
#: The beginnings of messages that can be of one kind only.
CERTAIN = [
    ("Assertion ", Kind.ASSERTION),
    ("UNREACHABLE", Kind.UNREACHABLE),
    ("LLVM ERROR: ", Kind.LLVM_FATAL),
    ("out of resource", Kind.OUT_OF_RESOURCES),
    ("OutOfResources", Kind.OUT_OF_RESOURCES),
    ("ptxas ", Kind.PTXAS),
    ("error   : ", Kind.PTXAS),
    ("Triton Error [", Kind.LAUNCH_ERROR),
    ("triton.compiler.errors.CompilationError", Kind.FRONTEND_ERROR),
]


def corpus() -> list[dict[str, Any]]:
    path = ROOT / "corpus" / "failures.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def releases() -> list[tuple[str, str, dict[str, str]]]:
    return [
        (path.parent.name, release, seen)
        for path in sorted(ROOT.glob("cases/*/known.json"))
        for release, seen in json.loads(path.read_text())["per_release"].items()
    ]


def test_messages_of_a_certain_kind() -> None:
    wrong = []
    for entry in corpus():
        message = entry["message"] or ""
        kind = next((kind for beginning, kind in CERTAIN if message.startswith(beginning)), None)
        found = diagnose_text(message)
        if kind and (found is None or found.kind is not kind):
            wrong.append((entry["id"], message, found and found.kind))
    assert wrong == []


def test_key_lines_of_the_cases() -> None:
    wrong = []
    for case, release, seen in releases():
        if seen["how"].endswith(":assert") and "Assertion `" not in seen["key_line"]:
            continue  # cut off before it says what it is
        found = diagnose_text(seen["key_line"])
        if seen["how"] in KINDS and (found is None or found.kind not in KINDS[seen["how"]]):
            wrong.append((case, release, seen["key_line"], found and found.kind))
    assert wrong == []
