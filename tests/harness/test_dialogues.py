"""Dialogues with the engine: several under way at a time, each with its own answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from commands import KERNELS

from triage.harness.dialogues import Dialogue, converse, together
from triage.harness.engine import Engine
from triage.harness.request import PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Stage

ADD = Case(
    KERNELS.parent,
    KERNELS.name,
    "add",
    frozen({"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}),
    frozen({"BLOCK": 60}),
)


@pytest.fixture
def toolchain(release: Callable[[str], Toolchain]) -> Toolchain:
    return release("newest")


def until_it_compiles(case: Case, toolchain: Toolchain) -> Dialogue[tuple[int, object]]:
    """Take a larger block until one is a power of two."""
    while True:
        attempt = yield Request(case, toolchain, action=PartialCompile(Stage.TTIR), tag="own")
        assert isinstance(attempt.result, Outcome)
        if not attempt.result.failed:
            return case.constexprs["BLOCK"], attempt.request.tag
        case = replace(case, constexprs=frozen({"BLOCK": case.constexprs["BLOCK"] + 2}))


def silent(result: int) -> Dialogue[tuple[int, object]]:
    """Ends without a request."""
    return result, None
    yield


@pytest.mark.slow
def test_each_dialogue_goes_its_own_way(engine: Engine, toolchain: Toolchain) -> None:
    larger = replace(ADD, constexprs=frozen({"BLOCK": 124}))
    dialogues = (until_it_compiles(ADD, toolchain), silent(1), until_it_compiles(larger, toolchain), silent(2))
    assert sorted(converse(engine, dialogues)) == [(1, None), (2, None), (64, "own"), (128, "own")]


def test_a_dialogue_waits_for_several(engine: Engine, toolchain: Toolchain) -> None:
    def several() -> Dialogue[list[tuple[int, object]]]:
        larger = replace(ADD, constexprs=frozen({"BLOCK": 124}))
        none = yield from together([])
        assert none == []
        return (
            yield from together([until_it_compiles(larger, toolchain), silent(1), until_it_compiles(ADD, toolchain)])
        )

    assert list(converse(engine, [several()])) == [[(128, "own"), (1, None), (64, "own")]]


@pytest.mark.slow
def test_no_dialogue_is_begun_before_there_is_room(engine: Engine, toolchain: Toolchain) -> None:
    begun: list[int] = []

    def dialogue(number: int) -> Dialogue[int]:
        begun.append(number)
        yield Request(replace(ADD, constexprs=frozen({"BLOCK": 64})), toolchain, action=PartialCompile(Stage.TTIR))
        return number

    results = converse(engine, map(dialogue, range(9)))
    next(results)
    assert len(begun) <= engine.jobs + 1
    results.close()  # type: ignore[attr-defined]


def test_an_interrupt_comes_after_the_results(engine: Engine, toolchain: Toolchain) -> None:
    def interrupted() -> Dialogue[tuple[int, object]]:
        raise KeyboardInterrupt
        yield

    results = converse(engine, (silent(1), interrupted()))
    assert next(results) == (1, None)
    with pytest.raises(KeyboardInterrupt):
        next(results)
