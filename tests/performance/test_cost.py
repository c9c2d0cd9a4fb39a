"""The order of suggestions that compile: the fast path first, then spills, then what the user must change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.report import Suggestion, SuggestionKind
from triage.model.target import Target
from triage.performance.cost import FastPath, change_penalty, fast_path, note, order


def suggestion(
    changes: dict[str, Any],
    core: TensorCore = TensorCore.WGMMA,
    spills: int | None = 0,
    *,
    distance: float = 1,
    kind: SuggestionKind = SuggestionKind.CONFIG,
    registers: int | None = 100,
) -> Suggestion:
    return Suggestion(changes, kind, distance, Resources(0, registers, spills, core), "")


KEEPS = replace(suggestion({"B_K_MAJOR": True}, distance=2), results="algorithm: another branch")
DROPS = suggestion({"num_warps": 2}, TensorCore.MMA_SYNC, 10240)
CHEAP = suggestion({"num_warps": 8})
SPILLS = suggestion({"num_warps": 8}, spills=512)
DATA = suggestion({"a_ptr": "*fp16"}, distance=4)
ELSEWHERE = suggestion({"target": "cuda:100"}, TensorCore.TCGEN05, distance=6)
NEWER = suggestion({"triton": "3.9.0"}, distance=5, kind=SuggestionKind.TOOLCHAIN)
MENDED = suggestion({"line": "b.T"}, distance=1, kind=SuggestionKind.SOURCE)


@pytest.mark.parametrize(
    ("given", "expected_core", "best_first"),
    [
        ([DROPS, KEEPS], TensorCore.WGMMA, [KEEPS, DROPS]),
        ([DROPS, KEEPS], None, [KEEPS, DROPS]),
        ([SPILLS, KEEPS, CHEAP], TensorCore.WGMMA, [CHEAP, KEEPS, SPILLS]),
        ([DROPS, DATA], TensorCore.WGMMA, [DATA, DROPS]),
        ([NEWER, DROPS], TensorCore.WGMMA, [NEWER, DROPS]),
        ([ELSEWHERE, NEWER, DATA, CHEAP], TensorCore.WGMMA, [CHEAP, NEWER, DATA, ELSEWHERE]),
        ([ELSEWHERE, CHEAP], None, [CHEAP, ELSEWHERE]),
        ([KEEPS, MENDED, CHEAP], TensorCore.WGMMA, [CHEAP, MENDED, KEEPS]),
        ([], TensorCore.WGMMA, []),
    ],
)
def test_order(given: list[Suggestion], expected_core: TensorCore | None, best_first: list[Suggestion]) -> None:
    assert order(given, FastPath(expected_core)) == best_first


def with_resources(found: Suggestion, **changed: Any) -> Suggestion:
    assert found.resources is not None
    return replace(found, resources=replace(found.resources, **changed))


def test_of_equal_estimates_what_they_do_not_see_decides_then_the_nearest_change() -> None:
    meant = FastPath(TensorCore.WGMMA, warp_specialized=True)
    specialized = with_resources(MENDED, warp_specialized=True)
    near, copies = suggestion({"WS": False}), with_resources(CHEAP, register_copies=1)
    faster = suggestion({"BLOCK_M": 64}, distance=3)
    seconds = {id(near): 1.01, id(copies): 1.0, id(specialized): 1.02, id(faster): 0.5}
    best = [faster, specialized, near, copies]
    assert order([copies, near, specialized, faster], meant, lambda one: seconds[id(one)]) == best
    # Without warp specialization meant, the nearest change.
    assert order([specialized, near], FastPath(TensorCore.WGMMA), lambda one: seconds[id(one)])[0] is near


def test_what_waits_for_data_comes_behind_what_does_not() -> None:
    """All keep wgmma and spill nothing, and all but the last leave it waiting, in one way or another."""
    meant = FastPath(TensorCore.WGMMA, stages=3, warp_specialized=True)
    specialized = with_resources(MENDED, warp_specialized=True)
    copies = with_resources(CHEAP, warp_specialized=True, register_copies=1)
    plain = suggestion({"WS": False})
    unpipelined = with_resources(suggestion({"num_stages": 1}), register_copies=1)
    best, *between, worst = order([unpipelined, plain, copies, specialized], meant)
    assert (best, worst) == (specialized, unpipelined)
    assert between == [plain, copies]


def test_what_may_change_results_comes_behind_what_cannot() -> None:
    doubtful = replace(CHEAP, results="algorithm: FLAG may choose another branch of the kernel")
    assert order([doubtful, NEWER], FastPath(TensorCore.WGMMA)) == [NEWER, doubtful]
    assert order([DROPS, doubtful], FastPath(TensorCore.WGMMA)) == [doubtful, DROPS]


def test_a_flag_that_only_steers_the_compiler_is_as_near_as_an_option() -> None:
    assert change_penalty(suggestion({"WS": False})) == change_penalty(suggestion({"num_warps": 8}))


def test_spills_are_compared_by_the_block() -> None:
    """Measured on an H200 (fp32 matmul of 4096, 128x128x32): one warp 32.6 ms, two warps 41.7 ms."""
    one = with_resources(suggestion({"num_warps": 1}, TensorCore.MMA_SYNC, 17604), threads=32)
    two = with_resources(suggestion({"num_warps": 2}, TensorCore.MMA_SYNC, 10404), threads=64)
    assert order([two, one], FastPath(TensorCore.WGMMA)) == [one, two]


def test_advice_comes_last() -> None:
    advice = Suggestion({"source": "load it transposed"}, SuggestionKind.SOURCE, 2, None, "", verified=False)
    assert order([advice, DROPS, ELSEWHERE], FastPath(TensorCore.WGMMA))[-1] is advice


def test_the_fast_path_is_read_from_the_ir() -> None:
    product = "tensor<128x32xf32> * tensor<32x128xf32> -> tensor<128x128xf32>"
    ir = f"%d = tt.dot %a, %b, %c, inputPrecision = tf32 : {product}\n}} {{tt.warp_specialize}}"
    assert fast_path(ir, Target("cuda", "90"), 3) == FastPath(TensorCore.WGMMA, 3, True)
    assert fast_path("", Target("cuda", "90"), 2) == FastPath(None, 2, False)


def test_kinds_of_change_from_near_to_far() -> None:
    near_to_far: list[dict[str, Any]] = [
        {"num_stages": 2},
        {"BLOCK_K": 32},
        {"FLAG": True},
        {"ACC": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])"},
        {"DTYPE": "tl.float32"},
        {"x_ptr": "*fp32"},
        {"target": "cuda:80"},
    ]
    # As far as anybody can tell, all but the options change results.
    doubtful = [replace(suggestion(changes), results="algorithm") for changes in near_to_far]
    penalties = [change_penalty(one) for one in doubtful]
    assert penalties == sorted(set(penalties))


def test_the_dearest_change_decides() -> None:
    assert change_penalty(suggestion({"num_warps": 8, "x_ptr": "*fp32"})) == change_penalty(DATA)


@st.composite
def suggestions(draw: st.DrawFn) -> Suggestion:
    changes = draw(
        st.sampled_from([{"num_warps": 8}, {"BLOCK": 32}, {"F": False}, {"x": "*fp16"}, {"target": "cuda:80"}])
    )
    return suggestion(
        dict(changes),
        draw(st.sampled_from(TensorCore)),
        draw(st.none() | st.integers(0, 1 << 16)),
        distance=draw(st.floats(0, 10)),
        registers=draw(st.none() | st.integers(0, 255)),
    )


@given(st.lists(suggestions()), st.none() | st.sampled_from(TensorCore))
def test_order_keeps_all_and_is_stable(found: list[Suggestion], core: TensorCore | None) -> None:
    once = order(found, FastPath(core))
    assert sorted(map(id, once)) == sorted(map(id, found))
    assert order(once, FastPath(core)) == once


@pytest.mark.parametrize(
    ("resources", "core", "text"),
    [
        (Resources(0, None, 0, TensorCore.WGMMA), TensorCore.WGMMA, "keeps wgmma, no spills"),
        (
            Resources(0, 255, 10240, TensorCore.MMA_SYNC),
            TensorCore.WGMMA,
            "drops from wgmma to mma.sync and spills 10240 B a thread: expect a large slowdown; 255 registers a thread",
        ),
        (
            Resources(49152, 168, 0, TensorCore.WGMMA),
            TensorCore.WGMMA,
            "keeps wgmma, no spills; 168 registers a thread, 49152 B of shared memory",
        ),
        (
            Resources(0, None, None, TensorCore.NONE),
            TensorCore.MFMA,
            "drops from mfma to no matrix instruction: expect a large slowdown",
        ),
        (Resources(0, None, 0, TensorCore.NONE), TensorCore.NONE, "no spills"),
        (Resources(0, None, 8, TensorCore.NONE), None, "spills 8 B a thread"),
        (Resources(0, None, 0, TensorCore.TCGEN05), TensorCore.WGMMA, "uses tcgen05 in place of wgmma, no spills"),
        (Resources(0, 32, None, TensorCore.NONE), None, "32 registers a thread"),
    ],
)
def test_note(resources: Resources, core: TensorCore | None, text: str) -> None:
    assert note(resources, FastPath(core), Target("cuda", "90")) == text
