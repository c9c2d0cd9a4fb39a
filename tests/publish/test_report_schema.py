"""The published schema: it takes every real report, and refuses what is none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import DATA, Run, Triage
from jsonschema import Draft202012Validator
from report_schema import SCHEMA, problems
from samples import FINISHED, scrubber

from triage.cases import reproducers
from triage.cases.locate import locate
from triage.frontends.documents import load
from triage.harness.toolchains import Toolchains
from triage.model.diagnosis import Kind
from triage.model.gpus import TensorCore
from triage.model.outcome import Stage, Status
from triage.model.report import SuggestionKind
from triage.pipeline import Options, Session
from triage.publish.finished import read
from triage.publish.render import document

REPORT = json.loads((FINISHED / "check" / "report.json").read_text())


def test_the_schema_is_one_of_draft_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_its_lists_are_the_program_s() -> None:
    defined = SCHEMA["$defs"]
    for enum in (Kind, Status, Stage, TensorCore, SuggestionKind):
        name = enum.__name__[0].lower() + enum.__name__[1:]
        assert set(defined[name]["enum"]) == {one.value for one in enum}


def test_every_field_of_a_report_is_in_it() -> None:
    assert set(REPORT) <= set(SCHEMA["properties"])
    for name in ("outcome", "diagnosis", "case"):
        assert set(REPORT[name]) <= set(SCHEMA["$defs"][name]["properties"])
    assert set(REPORT["suggestions"][0]) == set(SCHEMA["$defs"]["suggestion"]["properties"])
    assert set(REPORT["tried"][0]) == set(SCHEMA["$defs"]["tried"]["properties"])
    assert set(REPORT["matches"][0]) == set(SCHEMA["$defs"]["match"]["properties"])


def test_what_report_prints_is_a_report() -> None:
    whole = document(read(FINISHED), scrubber())
    assert problems(whole) == []
    assert {"minimized", "matrix"} <= set(whole)


def test_what_check_prints_is_a_report(reproduced: Run) -> None:
    assert problems(reproduced.document) == []


def test_every_way_to_end_is_a_report(check: Triage) -> None:
    names = ("ok", "undefined-name", "printed-error")
    documents = check(*(DATA / f"{name}.json" for name in names), "--json", "--no-suggest").documents
    assert {name: problems(one) for name, one in zip(names, documents, strict=True)} == {name: [] for name in names}


def _put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        *way, last = path.split(".")
        place: Any = whole
        for step in way:
            place = place[int(step)] if step.isdigit() else place[step]
        place[last] = value

    return change


def _drop(path: str) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        *way, last = path.split(".")
        place: Any = whole
        for step in way:
            place = place[int(step)] if step.isdigit() else place[step]
        del place[last]

    return change


WRONG = {
    "another schema": _put("schema", "triton-triage/report/2"),
    "no case": _drop("case"),
    "no outcome": _drop("outcome"),
    "no diagnosis field": _drop("diagnosis"),
    "a failure without a diagnosis": _put("diagnosis", None),
    "a diagnosis of what compiles": _put("outcome.status", "ok"),
    "an unknown status": _put("outcome.status", "broken"),
    "an unknown stage": _put("outcome.stage", "link"),
    "a stage that is no list": _put("outcome.stages_completed", "ttir"),
    "a signal by number": _put("outcome.signal", 6),
    "a crash by nothing": _put("outcome.signal", None),
    "an unknown kind": _put("diagnosis.kind", "crash"),
    "no headline": _put("diagnosis.headline", ""),
    "no signature": _put("diagnosis.signature", None),
    "a file with its path": _put("diagnosis.file", "/project/lib/X.cpp"),
    "a line as text": _put("diagnosis.line", "528"),
    "a truth value for a number": _put("diagnosis.line", True),
    "more than sure": _put("matches.0.confidence", 1.5),
    "an address that is none": _put("matches.0.upstream", ["see the issue"]),
    "nothing changed": _put("suggestions.0.changes", {}),
    "verified without resources": _put("suggestions.0.resources", None),
    "an unknown instruction": _put("suggestions.0.resources.tensor_core", "tensor"),
    "bytes below zero": _put("suggestions.0.resources.shared_bytes", -1),
    "half a register": _put("suggestions.0.resources.registers", 0.5),
    "a target without its kind": _put("case.target", "sm_90"),
    "a case of another schema": _put("case.schema", "triton-triage/case/9"),
    "a type that is no text": _put("case.signature.a_ptr", 16),
    "divisible by three": _put("case.divisible.a_ptr", 3),
    "no version": _drop("environment.triton"),
    "artifacts as a list": _put("artifacts", []),
    "half a reduction": _put("minimized", {"schema": "triton-triage/minimized/1"}),
    "a matrix without rows": _put("matrix", {"schema": "triton-triage/matrix/1", "cells": []}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_report_is_refused(name: str) -> None:
    whole = copy.deepcopy(REPORT)
    assert problems(whole) == []
    WRONG[name](whole)
    assert problems(whole) != []


@pytest.mark.slow
@pytest.mark.parametrize("name", reproducers.names())
def test_every_reproducer_s_report_fits(own_cache: Path, name: str, tmp_path: Path) -> None:
    """As checked, and as it leaves the machine: nothing of it is private but paths."""
    folder = reproducers.folder(name)
    assert folder is not None
    release = load(folder).triton
    python = str(Toolchains().managed(release).python) if release else None
    with Session(Options(python=python, suggest=False)) as session:
        report = session.check(locate(name))
    from triage.publish.finished import of_report

    made = scrubber()
    whole = document(of_report(report), made)
    assert problems(report.to_json()) == problems(whole) == []
    assert set(made.removed) <= {"path"}
    before = report.to_json()
    assert whole["diagnosis"]["signature"] == before["diagnosis"]["signature"]
    for part in ("kind", "function", "file", "line", "pass", "headline"):
        assert whole["diagnosis"][part] == before["diagnosis"][part]
    assert (whole["case"]["signature"], whole["suggestions"]) == (before["case"]["signature"], before["suggestions"])
