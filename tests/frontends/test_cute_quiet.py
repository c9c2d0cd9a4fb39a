"""What CuTe DSL compiles without a word: tiles that the matrix operation does not divide, registers in local memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cute_environments import CUTE_KERNELS, NEWEST_CUTE, OLDER_CUTE

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.harness.worker.cute import local_memory
from triage.model.case import Case, frozen
from triage.model.compilers import CUTE
from triage.model.language import Language
from triage.model.outcome import Outcome, Stage, Status
from triage.model.target import Target

RELEASES = [NEWEST_CUTE, pytest.param(OLDER_CUTE, marks=pytest.mark.slow)]
NUMBERS = "tensor<f32, (?):(1), align=16>"


@pytest.fixture(params=RELEASES)
def toolchain(request: pytest.FixtureRequest, toolchains: Toolchains) -> Toolchain:
    return toolchains.managed(request.param, CUTE)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(jobs=2) as engine:
        yield engine


def case(name: str, signature: dict[str, str], **constexprs: Any) -> Case:
    return Case(
        folder=CUTE_KERNELS,
        file="quiet.py",
        name=name,
        signature=frozen(signature),
        constexprs=frozen(constexprs),
        target=Target("cuda", "90"),
        language=Language.CUTE,
    )


def tiles(m: int, n: int, k: int, **constexprs: Any) -> Case:
    signature = {
        "a": f"tensor<f16, ({m},{k}):({k},1), align=16>",
        "b": f"tensor<f16, ({n},{k}):({k},1), align=16>",
        "c": f"tensor<f32, ({m},{n}):({n},1), align=16>",
    }
    return case("tiles", signature, **constexprs)


def run(engine: Engine, toolchain: Toolchain, *cases: Case) -> list[Attempt]:
    action = FullCompile(use_cache=False)
    requests = [Request(each, toolchain, Limits(60.0), action, tag) for tag, each in enumerate(cases)]
    attempts = sorted(engine.run(requests), key=lambda attempt: attempt.request.tag)
    assert all(isinstance(attempt.result, Outcome) for attempt in attempts), attempts
    return attempts


def outcome(attempt: Attempt) -> Outcome:
    assert isinstance(attempt.result, Outcome)
    return attempt.result


@pytest.mark.slow
def test_a_tile_is_a_multiple_of_its_operation(engine: Engine, toolchain: Toolchain) -> None:
    fits, in_k, in_m, predicated = run(
        engine,
        toolchain,
        tiles(64, 16, 32, WARPS=4),
        tiles(64, 16, 24, WARPS=4),
        tiles(64, 16, 32, WARPS=3),
        tiles(64, 16, 24, WARPS=4, PREDICATED=True),
    )
    assert (outcome(fits).status, outcome(fits).notes) == (Status.OK, ())
    assert (outcome(in_k).status, outcome(in_k).stage) == (Status.SUSPECT, Stage.VERIFY)
    assert in_k.diagnosis is not None
    assert "tile K=24 is not a multiple of the operation's 16" in in_k.diagnosis.headline
    assert in_k.diagnosis.source is not None
    assert "share.partition_A(a)" in str(in_k.diagnosis.source.text)
    # Rows that are too many may be left out as the result is stored.
    assert outcome(in_m).status is Status.OK
    assert "tile M=64 is not a multiple of the operation's 48 (quiet.py:15)" in " ".join(outcome(in_m).notes)
    assert outcome(predicated).status is Status.OK


@pytest.mark.slow
def test_registers_in_local_memory(engine: Engine, toolchain: Toolchain) -> None:
    dynamic, spilling, kept = run(
        engine,
        toolchain,
        case("sized", {"numbers": NUMBERS, "count": "i32"}),
        case("local", {"numbers": NUMBERS}, ARRAY=16, VALUES=280),
        case("local", {"numbers": NUMBERS}, ARRAY=16, VALUES=4),
    )
    assert (outcome(dynamic).status, outcome(dynamic).stage) == (Status.SUSPECT, Stage.VERIFY)
    assert dynamic.diagnosis is not None
    assert dynamic.diagnosis.source is not None
    assert "registers(cute.make_layout((count,))" in str(dynamic.diagnosis.source.text)
    resources = outcome(spilling).resources
    assert resources is not None
    if toolchain.release == NEWEST_CUTE:
        assert (resources.spill_bytes or 0) > 256
        assert any("64 B" in note and "quiet.py:52" in note for note in outcome(spilling).notes), outcome(spilling)
    else:
        # Without PTX, the array is not told from what is spilled.
        assert resources.spill_bytes is None
    # ptxas selects from 16 registers without a frame.
    assert outcome(kept).drawbacks == ()
    resources = outcome(kept).resources
    assert resources is not None
    assert resources.spill_bytes == 0


PTX = """
.visible .entry kernel() {
	.local .align 16 .b8 	__local_depot0[32];
	mov.b64 	%SPL, __local_depot0;
	add.u64 	%rd1, %SPL, 16;
	.loc	1 7 3
	st.local.b32 	[%rd1+4], %r1;
	add.s64 	%rd2, %rd1, %rd9;
	.loc	1 8 3
	ld.local.v2.b32 	{%r2, %r3}, [%rd2];
	ret;
}
	.file	1 "/home/user/kernel.py"
"""
SASS = """
		Function : kernel
        /*0010*/                   STL.128 [R1], R4 ;
        /*0020*/                   LDL R4, [R7] ;
        /*0030*/              @!P0 STL.64 [R1+0x20], R8 ;
        /*0040*/                   LDL.LU.64 R8, [R1+0x20] ;
        /*0050*/                   LDL.U16 R8, [R1+0x28] ;
"""


def test_arrays_are_told_from_what_is_spilled() -> None:
    arrays = local_memory.arrays(PTX)
    assert arrays == {"kernel": {"bytes": 32, "file": "/home/user/kernel.py", "line": 8}}
    assert local_memory.spilled(SASS, arrays) == 10
    assert local_memory.spilled(SASS, None) is None
    assert local_memory.spilled(SASS.replace("[R7]", "[R1+0x8]"), None) == 24
