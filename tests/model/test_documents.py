"""Values from documents and back: nothing is lost, and what is not of the type is one line that names the field."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from triage.model.errors import InputError
from triage.model.outcome import Outcome, Stage, StageTime, Status
from triage.model.report import Report, Suggestion, SuggestionKind, Tried

SAMPLE = Path(__file__).parents[1] / "publish" / "finished" / "check" / "report.json"
REPORT = json.loads(SAMPLE.read_text())


def test_a_report_is_its_document_again() -> None:
    report = Report.from_json(REPORT, "report.json")
    assert report.to_json() == REPORT
    assert Report.from_json(report.to_json()) == report
    assert report.suggestions[0].kind is SuggestionKind.SOURCE
    assert [done.stage for done in report.outcome.stages] == [Stage.TTIR, Stage.TTGIR]


def test_a_part_alone_is_its_document_again() -> None:
    outcome = Outcome(Status.OK, stages=(StageTime(Stage.TTIR, 0.25),), exit_code=0, duration_s=1.5)
    tried = Tried({"num_warps": 8}, SuggestionKind.CONFIG, False, "v2|x", "x", True)
    advice = Suggestion({"num_warps": 8}, SuggestionKind.CONFIG, 1.0, None, "", verified=False, results="order of sums")
    slow = Outcome(Status.OK, exit_code=0, notes=("512 B …",), drawbacks=("spills 512 B a thread",))
    for value in (outcome, slow, tried, advice):
        assert type(value).from_json(value.to_json()) == value


def test_numbers_are_rounded_and_empty_texts_are_null() -> None:
    document = Suggestion({"FLAG": True}, SuggestionKind.CONFIG, 1.23456, None, "", verified=False).to_json()
    assert (document["distance"], document["results"], document["why"]) == (1.23, None, "")
    assert Outcome(Status.OK, Stage.CUBIN, duration_s=0.12345).to_json()["duration_s"] == 0.123


def test_where_it_ended_is_null_when_it_compiles() -> None:
    assert Outcome(Status.OK, Stage.CUBIN).to_json()["stage"] is None
    assert Outcome(Status.CRASH, Stage.CUBIN).to_json()["stage"] == "cubin"


def test_fields_that_came_later_may_be_missing() -> None:
    document = copy.deepcopy(REPORT)
    for name in ("neighbours_compiled", "tried", "learnt", "unmeasured"):
        del document[name]
    del document["outcome"]["stage_seconds"], document["suggestions"][0]["caution"]
    report = Report.from_json(document)
    assert (report.tried, report.suggestions[0].caution) == ((), "")
    assert report.outcome.stages_completed == (Stage.TTIR, Stage.TTGIR)


MISSING = object()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("", [], "expected an object, found list"),
        (
            "schema",
            "triton-triage/report/2",
            "schema: expected 'triton-triage/report/1', found 'triton-triage/report/2'",
        ),
        ("case", MISSING, "case: expected an object, found nothing"),
        ("case.kernel.name", 3, "case.kernel.name: expected the name of a function, found int"),
        ("case.kernel", [], "case.kernel: expected an object, found list"),
        ("case.kernel.file", MISSING, "case.kernel.file: expected the name of the kernel"),
        ("case.target", "sm_90", "case: target 'sm_90': write cuda:NN"),
        ("diagnosis", 3, "diagnosis: expected an object, found int"),
        ("diagnosis.line", "528", "diagnosis.line: expected an integer, found str"),
        ("diagnosis.line", True, "diagnosis.line: expected an integer, found bool"),
        ("diagnosis.line", 1.5, "diagnosis.line: expected an integer, found float"),
        ("diagnosis.kind", "crash", "diagnosis.kind: 'crash' is not one of assertion, unreachable, "),
        ("outcome.stages_completed", "ttir", "outcome.stages_completed: expected a list, found str"),
        ("outcome.stages_completed.0", "link", "outcome.stages_completed[0]: 'link' is not one of source, trace, "),
        ("outcome.duration_s", None, "outcome.duration_s: expected a number, found nothing"),
        ("matches.0.upstream.0", 7, "matches[0].upstream[0]: expected a text, found int"),
        ("suggestions.0.verified", 1, "suggestions[0].verified: expected true or false, found int"),
        ("environment.triton", 3.2, "environment.triton: expected a text, found float"),
        ("artifacts", [], "artifacts: expected an object, found list"),
    ],
)
def test_what_is_not_of_the_type_is_one_line(path: str, value: Any, message: str) -> None:
    document = copy.deepcopy(REPORT)
    *way, last = path.split(".")
    inner: Any = document
    for step in way:
        inner = inner[int(step)] if step.isdigit() else inner[step]
    if not path:
        document = value
    elif value is MISSING:
        del inner[last]
    else:
        inner[int(last) if last.isdigit() else last] = value
    with pytest.raises(InputError) as error:
        Report.from_json(document, "report.json")
    assert str(error.value).startswith(f"report.json: {message}")
    assert "\n" not in str(error.value)
