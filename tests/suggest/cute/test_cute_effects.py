"""What a change of a CuTe case means for its results and its caller."""

from __future__ import annotations

from pathlib import Path

from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.suggest.cute.effects import effects
from triage.suggest.cute.flow import SourceFlow

SOURCE = """
from cutlass import cute
import cutlass


@cute.jit
def host(x: cute.Tensor, ORDER: cutlass.Constexpr, ADD: cutlass.Constexpr, TYPE: cutlass.Constexpr):
    if cutlass.const_expr(ORDER == "rows"):
        layout = cute.make_layout((8, 8), stride=(8, 1))
    else:
        layout = cute.make_layout((8, 8))
    if cutlass.const_expr(ADD):
        x[0] = x[0] + TYPE(1)
"""
FLOW = SourceFlow.of(SOURCE, "host")
CASE = Case(
    folder=Path(),
    file="kernel.py",
    name="host",
    signature=frozen({"x": "tensor<bf16, (64,8):(8,1), align=2>"}),
    constexprs=frozen({"ORDER": "rows", "ADD": False, "TYPE": "cutlass.Float32"}),
    language=Language.CUTE,
)


def test_where_values_lie_changes_no_results() -> None:
    assert effects(CASE, FLOW, {"ORDER": "columns"}).results == ""
    assert effects(CASE, FLOW, {"ADD": True}).results.startswith("algorithm: ADD")


def test_what_an_argument_states_is_for_the_caller() -> None:
    aligned = "tensor<bf16, (64,8):(8,1), align=16>"
    meant = effects(CASE, FLOW, {"x": aligned})
    assert (meant.results, meant.caller) == ("", f"pass x as {aligned}")
    assert effects(CASE, FLOW, {"x": "tensor<bf16, (64,8):(1,64), align=2>"}).results == (
        "data: x is (64,8):(1,64) in place of (64,8):(8,1)"
    )


def test_types_that_lose_say_so() -> None:
    wider = effects(CASE, FLOW, {"x": "tensor<f32, (64,8):(8,1), align=2>"})
    assert wider.results == "data: x holds f32 in place of bf16"
    assert "lossy" in effects(CASE, FLOW, {"TYPE": "cutlass.Float16"}).results
