"""CuTe kernels compiled in isolation: each way to end, the stage, and what the compiled kernel uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from triage.cases.locate import locate
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case, frozen
from triage.model.compilers import CUTE
from triage.model.errors import InputError
from triage.model.language import Language
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.target import Target

NEWEST = "4.8.1"
KERNELS = Path(__file__).parent / "kernels"
TENSOR = "tensor<f32, (128):(1), align=16>"


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchains().managed(NEWEST, CUTE)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(jobs=2, keep=True) as engine:
        yield engine


def case(name: str, target: str = "cuda:90", options: dict[str, Any] | None = None, **constexprs: Any) -> Case:
    return Case(
        folder=KERNELS,
        file="store.py",
        name=name,
        signature=frozen({"tensor": TENSOR}),
        constexprs=frozen(constexprs),
        target=Target.parse(target),
        options=frozen(options),
        language=Language.CUTE,
    )


def run(engine: Engine, toolchain: Toolchain, *cases: Case, timeout_s: float = 60.0) -> list[Attempt]:
    action = FullCompile(keep=True, use_cache=False)
    requests = [Request(each, toolchain, Limits(timeout_s), action, tag) for tag, each in enumerate(cases)]
    return sorted(engine.run(requests), key=lambda attempt: attempt.request.tag)


def outcome(attempt: Attempt) -> Outcome:
    assert isinstance(attempt.result, Outcome), attempt.result
    return attempt.result


@pytest.mark.slow
def test_what_a_kernel_uses(engine: Engine, toolchain: Toolchain) -> None:
    small, over = run(engine, toolchain, case("shared", KIB=16), case("shared", KIB=300))
    compiled = outcome(small)
    assert compiled.status is Status.OK
    assert [time.stage for time in compiled.stages] == [
        Stage.TRACE, Stage.VERIFY, Stage.PASSES, Stage.PTX, Stage.CUBIN,
    ]  # fmt: skip
    used = compiled.resources
    assert used is not None
    assert (used.shared_bytes, used.threads, used.spill_bytes) == (16 * 1024, 32, 0)
    assert used.registers
    assert compiled.environment["cute"] == NEWEST
    # Only the launch would refuse it.
    assert (outcome(over).status, outcome(over).stage) == (Status.ERROR, Stage.LOAD)
    assert outcome(over).over_limit == f"shared memory: {300 * 1024} > 232448"


def test_each_stage_can_fail(engine: Engine, toolchain: Toolchain) -> None:
    raises = replace(case("raises"), constexprs=frozen())
    raising, barrier, dying = run(engine, toolchain, raises, case("barrier", ID=99), case("aborts"))
    # It uses all of its time.
    (hanging,) = run(engine, toolchain, case("endless"), timeout_s=1.0)
    assert (outcome(raising).status, outcome(raising).stage) == (Status.ERROR, Stage.TRACE)
    assert (outcome(barrier).status, outcome(barrier).stage) == (Status.ERROR, Stage.CUBIN)
    assert (outcome(dying).status, outcome(dying).signal) == (Status.CRASH, "SIGABRT")
    assert "in aborts" in outcome(dying).log, "the Python stack names the user's function"
    assert "cute" in outcome(barrier).artifacts["trace"].read_text()
    assert ".entry" in outcome(barrier).artifacts["ptx"].read_text()
    assert (outcome(hanging).status, outcome(hanging).stage) == (Status.TIMEOUT, Stage.TRACE)


def test_a_class_is_constructed_and_called(engine: Engine, toolchain: Toolchain) -> None:
    filler = replace(
        case("Filler"),
        signature=frozen({"tensor": TENSOR, "count": "i32", "stream": "stream"}),
        construct=frozen({"threads": 64}),
    )
    compiled, unknown = run(engine, toolchain, filler, replace(filler, construct=frozen({"thread": 64})))
    resources = outcome(compiled).resources
    assert resources is not None
    assert resources.threads == 64
    assert isinstance(unknown.result, Undecided)
    assert unknown.result.input_error
    assert unknown.result.reason == "thread is not an argument of Filler(threads, value)"


def test_constructor_arguments_are_told_from_those_of_the_call() -> None:
    stated = {"arg": [f"tensor={TENSOR}", "count=i32", "stream=stream"], "const": ["threads=64"], "target": "cuda:80"}
    located = locate(f"{KERNELS / 'store.py'}::Filler", stated)
    assert located.language is Language.CUTE
    assert (dict(located.construct), dict(located.constexprs)) == ({"threads": 64}, {})
    for name in (f"{KERNELS / 'store.py'}::host", "cute-cpasync-transposed-bf16"):
        with pytest.raises(InputError, match="CuTe DSL compiles for cuda:70 and newer, found hip:gfx942"):
            locate(name, {"target": "hip:gfx942"})


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"name": "missing"}, "no function 'missing'"),
        ({"signature": frozen()}, "argument tensor of host has no type (--arg tensor=TYPE)"),
        ({"constexprs": frozen()}, "argument THREADS of host has no value (--const THREADS=VALUE)"),
        ({"options": frozen({"num_warps": 4})}, "option num_warps is not known"),
        ({"construct": frozen({"a": 1})}, "host is a function: it takes no construct"),
    ],
)
def test_what_does_not_fit_the_kernel(
    engine: Engine, toolchain: Toolchain, changed: dict[str, Any], reason: str
) -> None:
    [attempt] = run(engine, toolchain, replace(case("host", THREADS=32), **changed))
    assert isinstance(attempt.result, Undecided)
    assert attempt.result.input_error
    assert reason in attempt.result.reason


def unspoken(name: str, signature: dict[str, str], **constexprs: Any) -> Case:
    return replace(case(name, **constexprs), file="unspoken.py", signature=frozen(signature))


def test_a_tensor_map_that_the_driver_will_not_encode(engine: Engine, toolchain: Toolchain) -> None:
    fits = unspoken("load_box", {"matrix": "tensor<f16, (512,512):(512,1), align=16>"}, BOX=[64, 64])
    narrow = replace(fits, constexprs=frozen({"BOX": [64, 6]}))
    odd = replace(fits, signature=frozen({"matrix": "tensor<f16, (512,510):(510,1), align=16>"}))
    # By columns: the contiguous axis is the first, and the box is 6 wide there.
    columns = replace(
        fits,
        signature=frozen({"matrix": "tensor<f16, (512,512):(1,512), align=16>"}),
        constexprs=frozen({"BOX": [6, 64]}),
    )
    attempts = run(engine, toolchain, fits, narrow, odd, columns)
    assert outcome(attempts[0]).status is Status.OK
    for attempt, reason in zip(attempts[1:], ("12 bytes", "510 x 16 bits = 1020 bytes", "12 bytes"), strict=True):
        assert (outcome(attempt).status, outcome(attempt).stage) == (Status.ERROR, Stage.LAUNCH)
        assert attempt.diagnosis is not None
        assert reason in attempt.diagnosis.headline
        assert attempt.diagnosis.source is not None
        assert "make_tiled_tma_atom" in str(attempt.diagnosis.source.text)


@pytest.mark.slow
def test_inline_ptx_that_kills_the_back_end_names_its_line(engine: Engine, toolchain: Toolchain) -> None:
    right = unspoken("inline", {"tensor": "tensor<i32, (32):(1), align=16>"}, CONSTRAINTS="=r,r")
    compiled, died = run(engine, toolchain, right, replace(right, constexprs=frozen({"CONSTRAINTS": "=r,=r,r"})))
    assert outcome(compiled).status is Status.OK
    # It reads beyond an array: what follows is a signal, most often.
    assert outcome(died).status in (Status.CRASH, Status.SUSPECT)
    assert outcome(died).stage is Stage.PASSES
    assert died.diagnosis is not None
    told = (*died.diagnosis.notes, died.diagnosis.headline)
    assert "Inline PTX states 2 outputs in its constraints, and 1 taken" in told
    assert died.diagnosis.source is not None
    assert "absolute(tensor[thread], constraints)" in str(died.diagnosis.source.text)


def test_another_architecture_by_option(engine: Engine, toolchain: Toolchain) -> None:
    [attempt] = run(engine, toolchain, case("host", "cuda:100", {"arch": "sm_100f"}, THREADS=32))
    assert outcome(attempt).status is Status.OK


@pytest.mark.slow
@pytest.mark.parametrize("release", ["4.0.0", "4.1.0", "4.2.1", "4.3.5", "4.4.2", "4.5.3", "4.6.3", "4.7.1", "4.8.1"])
def test_every_release(engine: Engine, release: str) -> None:
    toolchain = Toolchains().managed(release, CUTE)
    flat = case("shared", KIB=16)
    dynamic = replace(flat, signature=frozen({"tensor": "tensor<f32, (?{32}):(1), align=16>"}))
    attempts = run(engine, toolchain, flat, dynamic, case("barrier", ID=99), case("aborts"))
    for attempt in attempts[:2]:
        resources = outcome(attempt).resources
        assert resources is not None, outcome(attempt)
        assert resources.shared_bytes == 16 * 1024
        assert resources.registers
    assert outcome(attempts[3]).signal == "SIGABRT"
