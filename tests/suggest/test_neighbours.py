"""Neighbours: what is proposed, in which order, for which failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.language import Language
from triage.model.target import Target
from triage.suggest.neighbours import LIMIT, neighbours
from triage.suggest.proposal import Proposal

MATMUL = """
@triton.jit
def epilogue(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "gelu":
        x = x * tl.sigmoid(x)
    elif ACTIVATION == "relu":
        x = tl.maximum(x, 0)
    return x


@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
           B_K_MAJOR: tl.constexpr, WS: tl.constexpr, PRECISION: tl.constexpr, ACT: tl.constexpr, OUT: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for k in tl.range(0, K, BLOCK_K, warp_specialize=WS):
        a = tl.load(a_ptr + rm[:, None] * K + k + rk[None, :])
        if B_K_MAJOR:
            b = tl.load(b_ptr + rn[None, :] * K + k + rk[:, None])
        else:
            b = tl.load(b_ptr + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    acc = epilogue(acc, ACT)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(OUT))
"""
CONSTEXPRS = {
    "BLOCK_M": 128,
    "BLOCK_N": 128,
    "BLOCK_K": 64,
    "B_K_MAJOR": True,
    "WS": False,
    "PRECISION": "tf32",
    "ACT": "gelu",
    "OUT": "tl.float16",
}


def a_case(
    target: str = "cuda:90",
    options: dict[str, Any] | None = None,
    signature: dict[str, str] | None = None,
    language: Language = Language.TRITON,
    **constexprs: Any,
) -> Case:
    return Case(
        Path(),
        "kernel.py",
        "kernel",
        signature or {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"},
        constexprs or CONSTEXPRS,
        target=Target.parse(target),
        options=options or {"num_warps": 4, "num_stages": 3},
        language=language,
    )


def failure(message: str = "", kind: Kind = Kind.UNKNOWN, stage: str | None = None, line: int = 0) -> Diagnosis:
    source = SourceLocation("kernel.py", line) if line else None
    return Diagnosis(kind, message, message, stage=stage, source=source)


def front(case: Case, diagnosis: Diagnosis, source: str = MATMUL, count: int = 6) -> list[dict[str, Any]]:
    """The first few proposals."""
    return [dict(found.changes) for found in neighbours(case, source, diagnosis)][:count]


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(MATMUL.splitlines(), 1) if text in line)


OUT_OF_SHARED = failure(
    "out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes may help.",
    Kind.OUT_OF_RESOURCES,
    "load",
)


def test_a_cluster_is_undone_first() -> None:
    case = a_case(options={"num_warps": 4, "num_ctas": 2})
    crash = failure("Assertion `block == 0' failed", Kind.ASSERTION, "llir")
    assert front(case, crash)[0] == {"num_ctas": 1}


def test_out_of_shared_memory_takes_stages_then_the_k_tile_then_the_others() -> None:
    case = a_case("cuda:86", {"num_warps": 8, "num_stages": 5})
    changes = front(case, OUT_OF_SHARED, count=8)
    assert changes[0] == {"num_stages": 4}, "98304 bytes: five stages are four buffers"
    order = [{"num_stages": 4}, {"num_stages": 3}, {"BLOCK_K": 32}, {"BLOCK_M": 64}]
    places = [changes.index(change) for change in order]
    assert places == sorted(places)


def test_ptxas_says_out_of_shared_memory_in_its_own_words() -> None:
    said = failure(
        "ptxas error: Entry function 'kernel' uses too much shared data (0x20000 bytes)", Kind.PTXAS, "cubin"
    )
    assert front(a_case(), said)[0] == {"num_stages": 2}


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Input shapes should have M >= 1, N >= 1 and K >= 32", {"BLOCK_K": 32}),
        (
            "Input shapes should have M >= 16, N >= 16 and K >= 16",
            {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16},
        ),
        ("must have at least 16 bytes in the last dimension, but got 4 * 2 = 8 bytes", {"BLOCK_N": 8}),
        ("WGMMA result M dimension must be divisible by 64", {"BLOCK_M": 64}),
        ("first shape ['8', '8'] and second shape ['16', '4']: (8) must be equal to (16)", {"BLOCK_K": 16}),
    ],
)
def test_a_tile_takes_the_value_that_the_message_asks_for(message: str, wanted: dict[str, int]) -> None:
    given = {"BLOCK_M": 8, "BLOCK_N": 4, "BLOCK_K": 8}
    if "(16)" in message:
        given = {"BLOCK_M": 8, "BLOCK_N": 4, "BLOCK_K": 8, "BLOCK_B": 16}
    case = a_case(**given)
    assert wanted in front(case, failure(message, Kind.FRONTEND_ERROR, "source"), count=8)


def test_a_size_that_is_no_power_of_two_goes_to_the_nearest() -> None:
    refused = failure("arange's range must be a power of 2", Kind.FRONTEND_ERROR, "source")
    assert front(a_case(BLOCK_M=96), refused, count=2) == [{"BLOCK_M": 128}, {"BLOCK_M": 64}]


def test_num_warps_a_multiple_of_four() -> None:
    refused = failure(
        "warp-specialized kernels requires num_warps to be a multiple of 4", Kind.MLIR_DIAGNOSTIC, "ttgir"
    )
    changes = front(a_case(options={"num_warps": 1}), refused, count=40)
    assert changes.index({"num_warps": 4}) < changes.index({"num_warps": 2})
    assert changes.index({"num_warps": 4}) < 2


def test_the_flag_around_the_failing_line_is_flipped_first() -> None:
    refused = failure("something is wrong", Kind.FRONTEND_ERROR, "source", line_of("rn[None, :] * K"))
    assert front(a_case(), refused)[0] == {"B_K_MAJOR": False}


def test_a_flag_is_found_through_a_call() -> None:
    refused = failure("something is wrong", Kind.FRONTEND_ERROR, "source", line_of("tl.sigmoid"))
    assert front(a_case(), refused, count=2) == [{"ACT": "relu"}, {"ACT": "none"}]


def test_warp_specialization_goes_off_early() -> None:
    crash = failure("UNREACHABLE executed at WSDataPartition.cpp:775!", Kind.UNREACHABLE, "ttgir")
    changes = front(a_case(**{**CONSTEXPRS, "WS": True}), crash)
    assert changes[0] == {"WS": False}
    assert {"num_warps": 8} in changes
    assert {"num_stages": 1} in changes


def test_values_that_the_message_offers_come_first() -> None:
    said = "input_precision must be one of ('bf16x3', 'bf16x6', 'ieee'). Got tf32"
    changes = front(a_case("hip:gfx942"), failure(said, Kind.FRONTEND_ERROR, "source"), count=3)
    assert {name for change in changes for name in change} == {"PRECISION"}
    assert {change["PRECISION"] for change in changes} == {"bf16x3", "bf16x6", "ieee"}


def test_fp8_that_the_target_lacks_becomes_what_holds_it_before_the_fp8_that_the_target_has() -> None:
    said = "type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')"
    signature = {"a_ptr": "*fp8e4nv", "b_ptr": "*fp8e4nv", "c_ptr": "*fp16"}
    refused = failure(said, Kind.FRONTEND_ERROR, "source")
    changes = front(a_case("cuda:80", signature=signature), refused, count=60)
    types = ("fp16", "bf16", "fp32", "fp8e5")
    places = [changes.index({"a_ptr": f"*{type_}", "b_ptr": f"*{type_}"}) for type_ in types]
    assert places == sorted(places)
    assert places[0] < 3


def test_a_compile_without_end_gets_much_less_work() -> None:
    first = front(a_case(BLOCK_M=1 << 20), failure("no result", Kind.TIMEOUT, "llir"), count=3)
    assert all(change["BLOCK_M"] <= 1 << 16 for change in first)


def test_back_end_assertions_try_options_before_tiles() -> None:
    message = 'Assertion `supported && "WGMMA type or shape is not supported"\' failed.'
    changes = front(a_case(), failure(message, Kind.ASSERTION, "llir"), count=40)
    tiles = [place for place, change in enumerate(changes) if any(name.startswith("BLOCK") for name in change)]
    assert changes.index({"num_warps": 8}) < min(tiles)
    assert changes.index({"B_K_MAJOR": False}) < min(tiles)


def test_another_target_is_the_last_resort_and_says_so() -> None:
    found = list(neighbours(a_case(), MATMUL, failure()))
    places = [place for place, candidate in enumerate(found) if "target" in candidate.changes]
    assert places
    assert min(places) > 15
    assert all(dict(found[place].changes)["target"].startswith("cuda:") for place in places)


def test_data_changes_say_so() -> None:
    for candidate in neighbours(a_case(), MATMUL, failure()):
        if any(name in a_case().signature for name in candidate.changes):
            assert "changes the data the caller passes" in candidate.why


ASM = """
def kernel(a_ptr, b_ptr, o_ptr, CONSTRAINTS):
    r = tl.inline_asm_elementwise("add.f32 $0, $1, $2;", CONSTRAINTS, [a, b], dtype=tl.float32, is_pure=True, pack=1)
"""


@pytest.mark.parametrize(
    ("written", "corrected"),
    [("=f,f", "=f,f,f"), ("=f,f,f,f", "=f,f,f"), ("=r,r,~{memory}", "=r,r,r,~{memory}"), ("=f, f", "=f,f,f")],
)
def test_one_constraint_a_tensor(written: str, corrected: str) -> None:
    assert front(a_case(CONSTRAINTS=written), failure(), ASM)[0] == {"CONSTRAINTS": corrected}


GLUON = """
def kernel(a_ptr, b_ptr, M, N, K, LOAD, SMEM_A, SMEM_B, ACC):
    am = gl.arange(0, M, layout=gl.SliceLayout(1, LOAD))
    a = gl.load(a_ptr + am)
    smem_a = gl.allocate_shared_memory(a.dtype, [M, K], SMEM_A, a)
    smem_b = gl.allocate_shared_memory(b.dtype, [K, N], SMEM_B, b)
    acc = gl.zeros([M, N], gl.float32, layout=ACC)
"""
GLUON_CONSTEXPRS = {
    "M": 64,
    "N": 64,
    "K": 64,
    "LOAD": "gl.BlockedLayout([1, 8],[4, 8],[4, 1],[1, 0])",
    "SMEM_A": "gl.NVMMASharedLayout(128, 16, 2)",
    "SMEM_B": "gl.NVMMASharedLayout(128, 16, 2)",
    "ACC": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])",
}


def gluon(options: dict[str, Any] | None = None, **changed: Any) -> Case:
    return a_case(
        options=options,
        language=Language.GLUON,
        signature={"a_ptr": "*fp16", "b_ptr": "*fp16"},
        **{**GLUON_CONSTEXPRS, **changed},
    )


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"SMEM_B": "gl.SwizzledSharedLayout(8, 1, 8, [1, 0])"}, {"SMEM_B": "gl.NVMMASharedLayout(128, 16, 2)"}),
        (
            {"ACC": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 8])"},
            {"ACC": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])"},
        ),
        (
            {"ACC": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 256, 16])"},
            {"ACC": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])"},
        ),
        ({"K": 16}, {"SMEM_A": "gl.NVMMASharedLayout(32, 16, 2)"}),
        ({"SMEM_B": "gl.NVMMASharedLayout(128, 32, 2)"}, {"SMEM_B": "gl.NVMMASharedLayout(128, 16, 2)"}),
    ],
)
def test_a_gluon_layout_is_made_to_fit(changed: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert wanted in front(gluon(**changed), failure(), GLUON)


def test_gluon_layouts_follow_the_warps() -> None:
    joint = {
        "num_warps": 8,
        "LOAD": "gl.BlockedLayout([1, 8], [4, 8], [8, 1], [1, 0])",
        "ACC": "gl.NVMMADistributedLayout([3, 0], [8, 1], [16, 64, 16])",
    }
    assert joint in front(gluon(), failure(), GLUON, 20)


def test_the_warps_follow_gluon_layouts() -> None:
    assert {"num_warps": 4} in front(gluon({"num_warps": 8}), failure(), GLUON)


def properties(case: Case, found: list[Proposal]) -> None:
    """What holds for every list of neighbours."""
    changes = [dict(candidate.changes) for candidate in found]
    assert len(found) <= LIMIT
    for position, change in enumerate(changes):
        assert change not in changes[:position], "no duplicates"
        assert case.with_changes(change).to_json() != case.to_json(), "each differs from the case"
        assert found[position].distance > 0
        assert found[position].why
        assert case.with_changes(change).options.get("num_warps", 4) * case.target.warp_size <= 1024


names = st.sampled_from(
    ["BLOCK_M", "BN", "K", "GROUP", "NUM_STAGES", "MODE", "USE_WS", "ACC", "DTYPE", "SMEM_A", "SMEM_B"]
)
values = st.one_of(
    st.integers(-4, 1 << 21),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False),
    st.sampled_from(
        [*GLUON_CONSTEXPRS.values(), "tl.float16", "gl.float8e5", "sum", "gl.SliceLayout(1, gl.AutoLayout())"]
    ),
    st.text(max_size=12),
)
types = st.sampled_from(
    ["*fp16", "*fp8e5", "*i1", "i64", "fp64", "*u8", "tensordesc<fp16[128, 64]>", "*x", "nvTmaDesc"]
)
messages = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "must be one of ('a', 'b')",
            "one of [[16, 16], [32, 32]",
            "at least 0",
            "M >= 16 and N >= 99999999",
            "divisible by 0, multiple of 7",
            "got 4 * 0 = 0 bytes at least 16 bytes",
            "at least 16 bytes in it, but got 4 * 2 = 8 bytes, at most 0, on sm_999 and gfx9ff",
        ]
    ),
)


@st.composite
def any_case(draw: st.DrawFn) -> Case:
    return Case(
        Path(),
        "kernel.py",
        "kernel",
        draw(st.dictionaries(st.sampled_from(["a_ptr", "b_ptr", "out_ptr", "n"]), types, min_size=1)),
        draw(st.dictionaries(names, values, min_size=1, max_size=6)),
        target=Target.parse(
            draw(st.sampled_from(["cuda:75", "cuda:90", "cuda:103", "hip:gfx942", "hip:gfx1100", "cuda:160"]))
        ),
        options=draw(
            st.fixed_dictionaries(
                {}, optional={"num_warps": st.sampled_from([1, 4, 8]), "num_stages": st.integers(0, 6)}
            )
        ),
    )


any_failure = st.builds(
    failure, messages, st.sampled_from(Kind), st.sampled_from([None, "source", "ttgir", "cubin", "load"]), st.just(3)
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(any_case(), any_failure, st.sampled_from([MATMUL, GLUON, ASM, "", "def kernel(:", "def kernel(): pass"]))
def test_whatever_comes_in(case: Case, diagnosis: Diagnosis, source: str) -> None:
    found = list(neighbours(case, source, diagnosis, "kernel.py:7:3: error"))
    properties(case, found)
    assert found == list(neighbours(case, source, diagnosis, "kernel.py:7:3: error")), "deterministic"


@pytest.mark.parametrize("message", ["Required: 196608, Hardware limit: 101376", "arange's range must be a power of 2"])
@pytest.mark.parametrize("width", [96, 256])
def test_a_size_of_the_problem_is_never_offered(message: str, width: int) -> None:
    source = """
@triton.jit
def kernel(q, k, o, T, SPAN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, SPAN)
    x = tl.load(q + m[:, None] * SPAN + d[None, :])
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, T, BN):
        n = start + tl.arange(0, BN)
        acc += tl.dot(x, tl.load(k + n[None, :] * SPAN + d[:, None]))
    tl.store(o + m[:, None], acc)
"""
    signature = {"q": "*fp16", "k": "*fp16", "o": "*fp32", "T": "i32"}
    case = a_case(signature=signature, SPAN=width, BM=128, BN=128)
    refused = failure(f"out of resource: shared memory, {message}", Kind.OUT_OF_RESOURCES, "load")
    proposals = list(neighbours(case, source, refused))
    assert proposals
    assert [found for found in proposals if "SPAN" in found.changes] == []


def test_a_block_that_covers_a_masked_row_is_rounded_up_alone() -> None:
    source = """
@triton.jit
def kernel(x, y, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + c, mask=c < n, other=0.0)
    tl.store(y + tl.program_id(0) * n + c, v / tl.sum(v, 0), mask=c < n)
"""
    case = a_case(signature={"x": "*fp32", "y": "*fp32", "n": "i32"}, B=96)
    refused = failure("arange's range must be a power of 2", Kind.FRONTEND_ERROR, "source")
    found = {
        proposal.changes["B"]: proposal.why for proposal in neighbours(case, source, refused) if "B" in proposal.changes
    }
    assert set(found) == {128}
    assert "masked by n" in found[128]


def test_another_program_is_no_repair_of_a_resource_that_lacks() -> None:
    case = a_case("cuda:86", {"num_warps": 8, "num_stages": 5})
    proposals = list(neighbours(case, MATMUL, OUT_OF_SHARED))
    changed = {name for proposal in proposals for name in proposal.changes}
    assert {"num_stages", "num_warps", "BLOCK_K"} <= changed
    assert not changed & {"B_K_MAJOR", "ACT", "OUT", "PRECISION", "a_ptr"}
