"""What is proposed for failing CuTe kernels, compiled: configurations, and rewrites of the source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.model.report import Report, SuggestionKind
from triage.model.target import Target
from triage.pipeline import Options, Session
from triage.suggest.budget import Budget

NEWEST = "4.8.1"
KERNELS = Path(__file__).parent / "kernels"
ROW = "tensor<f32, (128):(1), align=16>"
FLOW = {"x": ROW, "n": "i32"}


def check(file: str, name: str, signature: dict[str, str], compiles: int, **values: Any) -> Report:
    """The report on a kernel with so many neighbours. ``values`` are constexprs, or ``construct`` and ``target``."""
    case = Case(
        folder=KERNELS,
        file=f"{file}.py",
        name=name,
        signature=frozen(signature),
        target=Target.parse(values.pop("target", "cuda:90")),
        construct=frozen(values.pop("construct", None)),
        constexprs=frozen(values),
        language=Language.CUTE,
        cute=NEWEST,
    )
    with Session(Options(cache=False, budget=Budget(compiles=compiles))) as session:
        return session.check(case)


def first_tried(report: Report) -> dict[str, Any]:
    """The changes of the first neighbour that was tried, which has to compile."""
    assert report.tried[0].compiled, report.tried
    return dict(report.tried[0].changes)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("early_return", "guard the rest of the body in place of the early return"),
        pytest.param("left_loop", "carry a flag in place of break", marks=pytest.mark.slow),
        pytest.param("born_in_if", "define value, count before the block that sets it", marks=pytest.mark.slow),
        ("list_index", "hold weights in registers"),
        pytest.param("missing_argument", "pass n to scale", marks=pytest.mark.slow),
    ],
)
def test_the_source_is_rewritten_first(name: str, change: str) -> None:
    report = check("control_flow", name, FLOW, 1)
    assert first_tried(report) == {"source": change}
    (suggestion,) = report.suggestions
    assert suggestion.verified
    assert suggestion.kind is SuggestionKind.SOURCE
    assert suggestion.diff


def test_a_number_becomes_what_the_message_asks_for() -> None:
    assert first_tried(check("barrier", "parameter", {"x": ROW}, 1, BARRIER=20)) == {"BARRIER": 15}
    assert first_tried(check("barrier", "literal", {"x": ROW}, 1)) == {"source": "15 in place of 20"}


def test_all_remedies_of_a_transposed_copy() -> None:
    report = check(
        "transposed", "transposed", {"matrix": "tensor<bf16, (64,128):(128,1), align=16>"}, 3, target="cuda:80"
    )
    laid_out, staged, single = report.suggestions
    assert [suggestion.changes["source"] for suggestion in report.suggestions] == [
        "lay out shared memory as the source",
        "copy through registers",
        "copy f32 element by element",
    ]
    assert "stride=(1, n)" in (laid_out.diff or "")
    assert not laid_out.results
    assert not staged.results
    assert "autovec_copy" in (staged.diff or "")
    assert single.changes["matrix"] == "tensor<f32, (64,128):(128,1), align=16>"
    assert single.results.startswith("data:")
    assert "pass matrix" in single.caller
    unhelpful = " ".join(report.learnt)
    assert "32 or 64 bits do not help" in unhelpful
    assert "16 bits do not exist" in unhelpful
    assert "align=" in unhelpful


@pytest.mark.slow
def test_what_a_class_is_constructed_with() -> None:
    construct = {"threads": 128, "stages": 10, "layout": "rows"}
    report = check("loader", "Loader", {"x": ROW}, 3, construct=construct)
    # 10 stages of 32 KiB are asked for, and an H100 has 227.
    assert any(suggestion.changes == {"stages": 7} for suggestion in report.suggestions)


def test_what_is_known_of_strides() -> None:
    dynamic = "tensor<f16, (64,128):(?,1), align=16>"
    report = check("loader", "vectors", {"x": dynamic, "y": dynamic}, 4)
    divided = "tensor<f16, (64,128):(?{8},1), align=16>"
    # Narrow requests compile as well, and lose the fast path.
    assert report.suggestions[0].changes == {"x": divided, "y": divided}
    assert not report.suggestions[0].results


@pytest.mark.slow
def test_a_failure_behind_another() -> None:
    report = check("two_failures", "numbers", {"x": ROW}, 12, REGISTERS=100, BARRIER=20)
    assert report.suggestions[0].changes == {"REGISTERS": 104, "BARRIER": 15}
    report = check("two_failures", "texts", FLOW, 24)
    suggestion = report.suggestions[0]
    assert suggestion.changes == {
        "source": "guard the rest of the body in place of the early return; hold weights in registers"
    }
    assert "+    if thread < n:" in (suggestion.diff or "")
    assert "+        weights[1] = 2.0" in (suggestion.diff or "")
