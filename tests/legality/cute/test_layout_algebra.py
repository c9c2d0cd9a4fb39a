"""The layout algebra: every result is what CuTe DSL prints, and refused where CuTe refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cute_environment import ask, newest
from layout_questions import questions

from triage.legality import tiling
from triage.legality.algebra import operations
from triage.legality.algebra.layout import compact, read
from triage.legality.algebra.operations import NotDivisible
from triage.legality.algebra.partition import whole
from triage.model.errors import InputError

RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("layout_algebra.json").read_text())
"""Answers of CuTe DSL 4.8.1."""


def computed(question: dict[str, Any]) -> str | None:
    """The layout as printed; None where the operation is refused."""
    try:
        if question["ask"] == "tile_to_shape":
            block, shape, order = read(question["layout"]), tuple(question["shape"]), tuple(question["order"])
            return str(operations.tile_to_shape(block, shape, order))
        if question["ask"] == "divide":
            layout, tiler = read(question["layout"]), question["tiler"]
            divided = operations.zipped_divide(layout, tuple(map(whole, tiler)))
            assert tiling.division(layout, tiler) == []
            return str(divided)
        function = getattr(operations, question["function"])
        return str(function(*map(read, question["layouts"])))
    except NotDivisible:
        return None


def test_recorded_layouts() -> None:
    assert len(RECORDED) >= 200
    wrong = [row for row in RECORDED if computed(row["question"]) != row["answer"].get("layout")]
    assert wrong == []


@pytest.mark.slow
def test_layouts_as_cute_prints_them() -> None:
    asked = list(questions(3000, seed=1))
    answers = ask(newest(), asked)
    pairs = zip(asked, answers, strict=True)
    assert [(question, answer) for question, answer in pairs if computed(question) != answer.get("layout")] == []


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(64,128):(128,1)", "(64,128):(128,1)"),
        ("((_64,_2),(_8,_8),_3):((_1,_512),(_64,_1024),_8192)", "((64,2),(8,8),3):((1,512),(64,1024),8192)"),
        ("(?,64):(?{8},1)", "(?,64):(?{div=8},1)"),
        ("(4,(2,3))", "(4,(2,3)):(1,(4,8))"),
    ],
)
def test_layouts_are_read_and_written(text: str, printed: str) -> None:
    assert str(read(text)) == printed


@pytest.mark.parametrize("text", ["", "(4,", "(4,5):1", "(4;5)", "4:1)", "a:1"])
def test_what_is_no_layout_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_division_by_tiles_that_do_not_divide() -> None:
    divided = operations.zipped_divide(compact((100, 60)), (read("32:1"), read("16:1")))
    assert str(divided) == "((32,16),(4,4)):((1,100),(32,1600))"
    with pytest.raises(NotDivisible, match="a tiler of 3 modes on a layout of 2"):
        operations.zipped_divide(compact((100, 60)), (read("8:1"),) * 3)
