"""What is bad about a compile that is legal, read from the lines of its IR. What real compilers do with such kernels is
in tests/harness/test_ways_to_die.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.target import Target
from triage.performance.drawbacks import SERIOUS_SPILL, Lowering, drawbacks

FINE = Resources(0, 64, 0, TensorCore.WGMMA)
SPILLS, IDLE = "spills 256 B a thread", "multiplies without tensor cores"
EMULATES, UNSPLIT = "emulates tl.dot_scaled", "is not warp-specialized"


def clauses(lowering: Lowering, target: str, resources: Resources = FINE) -> list[str]:
    return [drawback.clause for drawback in drawbacks(resources, lowering, Target.parse(target))]


@pytest.mark.parametrize(("spilled", "expected"), [(None, []), (SERIOUS_SPILL - 4, []), (SERIOUS_SPILL, [SPILLS])])
def test_spills_are_bad_from_where_they_reach_memory(spilled: int | None, expected: list[str]) -> None:
    assert clauses(Lowering(), "cuda:90", replace(FINE, spill_bytes=spilled)) == expected


def product(element: str, shape: tuple[int, int, int], precision: str = "", layout: str = "") -> str:
    m, n, k = shape
    attribute = f", inputPrecision = {precision}" if precision else ""
    result = f"tensor<{m}x{n}xf32{layout}>"
    return f"tt.dot %, %, %{attribute} : tensor<{m}x{k}x{element}> * tensor<{k}x{n}x{element}> -> {result}"


@pytest.mark.parametrize(
    ("element", "shape", "precision", "target", "expected"),
    [
        ("f16", (64, 64, 64), "tf32", "cuda:75", [IDLE]),
        ("i8", (64, 64, 64), "", "cuda:75", [IDLE]),
        # Turing's tensor cores take neither bf16 nor tf32; Volta's, no int8.
        ("bf16", (64, 64, 64), "", "cuda:75", []),
        ("f32", (64, 64, 64), "tf32", "cuda:75", []),
        ("i8", (64, 64, 64), "", "cuda:70", []),
        ("f32", (64, 64, 64), "tf32", "cuda:90", [IDLE]),
        ("f32", (64, 64, 64), "tf32x3", "cuda:90", [IDLE]),
        # IEEE precision is what the kernel asks for.
        ("f32", (64, 64, 64), "", "cuda:90", []),
        ("f64", (64, 64, 64), "", "cuda:80", [IDLE]),
        ("f64", (64, 64, 64), "", "cuda:86", []),
        ("f8E4M3FN", (64, 64, 64), "", "cuda:89", [IDLE]),
        ("f16", (64, 64, 64), "", "hip:gfx942", [IDLE]),
        ("f32", (64, 64, 64), "", "hip:gfx942", [IDLE]),
        ("f32", (64, 64, 64), "", "hip:gfx1100", []),
        # MFMA wants 16 rows, or 4 and 64 columns; WMMA pads.
        ("f16", (1, 16, 64), "", "hip:gfx942", []),
        ("f16", (16, 16, 8), "", "hip:gfx942", []),
        ("f16", (1, 16, 64), "", "hip:gfx1100", [IDLE]),
        ("f16", (64, 64, 64), "", "hip:gfx1030", []),
        ("unknown", (64, 64, 64), "", "cuda:90", []),
    ],
)
def test_tensor_cores_are_idle_where_they_take_the_product(
    element: str, shape: tuple[int, int, int], precision: str, target: str, expected: list[str]
) -> None:
    asked = product(element, shape, precision)
    scalar = product("f32", shape, precision, ", #blocked1")
    assert clauses(Lowering((asked,), (scalar,)), target) == expected
    assert clauses(Lowering((asked,), (product(element, shape, precision, ", #mma"),)), target) == []
    # wgmma, tcgen05: no tt.dot is left. One that was left has another shape.
    assert clauses(Lowering((asked,), ()), target) == []
    assert clauses(Lowering((asked,), (product("f32", (32, 32, 32), "", ", #blocked"),)), target) == []


def test_one_of_many_products_is_enough() -> None:
    asked = (product("f16", (64, 64, 64)), product("f64", (32, 32, 32)))
    lowered = (product("f64", (32, 32, 32), "", ", #blocked"),)
    (drawback,) = drawbacks(FINE, Lowering(asked, lowered), Target.parse("cuda:90"))
    assert drawback.note.startswith("tl.dot of 32x32x32 f64 became multiply-adds, though cuda:90 has wgmma")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("cuda:90", "which cuda:90 does not have"),
        ("cuda:100", "which was not used"),
        ("cuda:120", "which was not used"),
        ("hip:gfx942", "which hip:gfx942 does not have"),
        ("hip:gfx950", "which was not used"),
    ],
)
def test_a_block_scaled_product_is_emulated_without_its_instruction(target: str, reason: str) -> None:
    asked = Lowering(("tt.dot_scaled % scale %, % scale %, % lhs = e4m3 rhs = e4m3 : …",))
    (drawback,) = drawbacks(FINE, asked, Target.parse(target))
    assert drawback.clause == EMULATES
    assert reason in drawback.note
    assert clauses(replace(asked, block_scaled=True), target) == []


def test_warp_specialization_without_effect() -> None:
    asked = Lowering(("tt.warp_specialize}",))
    assert clauses(asked, "cuda:90") == [UNSPLIT]
    assert clauses(asked, "cuda:90", replace(FINE, warp_specialized=True)) == []
