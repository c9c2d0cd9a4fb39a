"""Drafts that are compiled: corrected where the front end refuses a guess, and judged with care where it still does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from triage.cases.stated import StatedValues
from triage.drafts.drafting import Settled, Tally, Which, settle
from triage.drafts.model import Basis, JitFunction, Parameter, Value
from triage.drafts.plans import SurveySettings, kernel, plans
from triage.harness.dialogues import converse
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, PartialCompile
from triage.harness.toolchains import Toolchain
from triage.model.language import Language
from triage.model.outcome import Stage
from triage.model.progress import Progress
from triage.model.target import Target

FILE = Path(__file__).parent / "refused.py"
Draft = Callable[..., list[Settled]]


def function(name: str, file: Path = FILE, **values: Any) -> JitFunction:
    """A kernel with what would be found in its source: parameters in capitals are constexprs, a tuple has a parameter's
    candidates, and ``(value, basis)`` is a value that somebody states."""
    parameters = []
    for parameter, candidates in values.items():
        listed = candidates if isinstance(candidates, list) else [candidates]
        pairs = [item if isinstance(item, tuple) else (item, Basis.USE) for item in listed]
        texts = tuple(Value(value, basis, f"{basis.value} of {parameter}") for value, basis in pairs)
        parameters.append(Parameter(parameter, parameter.isupper(), texts))
    is_tuned = name == "tuned"
    decorated = {"configs": ("…",), "heuristics": ("EVEN",)} if is_tuned else {}
    return JitFunction(file, name, 1, Language.TRITON, True, tuple(parameters), **decorated)


@pytest.fixture(scope="module")
def drafted(shared_engine: Engine, release: Callable[[str], Toolchain]) -> Draft:
    """Settle a kernel for cuda:90."""

    def drafted(
        kernel: JitFunction,
        which: str = "first",
        given: Mapping[str, Any] | None = None,
        targets: Sequence[str] = ("90",),
        until: Stage | None = None,
    ) -> list[Settled]:
        settings = SurveySettings(
            StatedValues(**(given or {})),
            [Target("cuda", target) for target in targets],
            [release("newest")],
            Limits(timeout_s=60, memory_bytes=4 << 30),
            FullCompile() if until is None else PartialCompile(until),
            Which(which),
        )
        tally = Tally(Progress(), 1)
        groups = converse(shared_engine, (settle(plan, tally) for plan in plans([kernel], settings)))
        return [each for group in groups for each in group]

    return drafted


def signature(settled: Settled) -> dict[str, Any]:
    return dict(settled.case.signature)


@pytest.mark.slow
def test_a_pointer_that_is_an_index_is_corrected(drafted: Draft) -> None:
    kernel = function("gather", index=["*fp32", "*i64"], values="*fp32", out="*fp32", n="i32", BLOCK=64)
    (settled,) = drafted(kernel)
    assert (settled.unclear, settled.attempt and settled.attempt.diagnosis) == (None, None)
    assert signature(settled)["index"] == "*i64"
    assert "corrected: " in settled.case.origin["drafted"]["index"]


def test_what_one_target_taught_another_takes(drafted: Draft) -> None:
    kernel = function("gather", index=["*fp32", "*i64"], values="*fp32", out="*fp32", n="i32", BLOCK=64)
    first, second = drafted(kernel, targets=("90", "80"))
    assert signature(first) == signature(second)
    assert {first.case.target.arch, second.case.target.arch} == {"80", "90"}


def test_operands_of_a_dot_get_the_same_type(drafted: Draft) -> None:
    (settled,) = drafted(function("product", a_ptr="*fp16", b_ptr="*fp32", c_ptr="*fp32", BLOCK=16))
    assert settled.unclear is None
    assert len({signature(settled)[name] for name in ("a_ptr", "b_ptr")}) == 1


def test_a_variable_keeps_the_type_that_it_has_before_a_loop(drafted: Draft) -> None:
    (settled,) = drafted(function("total", x_ptr="*fp16", out_ptr="*fp32", n="i32", BLOCK=64))
    assert settled.unclear is None
    assert signature(settled)["x_ptr"] == "*fp32"


def test_a_variable_keeps_its_type_in_a_branch(drafted: Draft) -> None:
    kernel = function(
        "momentum", state_ptr=("*fp16", Basis.ASSUMED), grad_ptr="*fp16", step="i32", rate="fp32", BLOCK=64
    )
    (settled,) = drafted(kernel)
    assert settled.unclear is None
    assert signature(settled)["state_ptr"] == "*fp32"


def test_what_is_shifted_is_an_integer(drafted: Draft) -> None:
    (settled,) = drafted(function("unpacked", packed_ptr="*fp16", out_ptr="*fp16", BLOCK=64))
    assert settled.unclear is None
    assert signature(settled) == {"packed_ptr": "*i32", "out_ptr": "*fp16"}


def test_an_option_of_other_back_ends_is_left_out(drafted: Draft) -> None:
    options = {"waves_per_eu": Value(2, Basis.LAUNCH, "launch"), "num_warps": Value(2, Basis.LAUNCH, "launch")}
    (settled,) = drafted(replace(function("unpacked", packed_ptr="*i32", out_ptr="*fp16", BLOCK=64), options=options))
    assert settled.unclear is None
    assert dict(settled.case.options) == {"num_warps": 2}
    given = {"options": {"waves_per_eu": 2}}
    (refused,) = drafted(function("unpacked", packed_ptr="*i32", out_ptr="*fp16", BLOCK=64), given=given)
    assert refused.unclear is not None and "waves_per_eu" in refused.unclear


def test_a_decorator_that_triton_refuses_is_the_kernels_failure(drafted: Draft) -> None:
    kernel = function("keyed", FILE.with_name("refused_decorator.py"), x_ptr="*fp32", BLOCK=64)
    (settled,) = drafted(replace(kernel, configs=("…",)))
    assert settled.unclear is None
    assert settled.attempt is not None and settled.attempt.diagnosis is not None
    assert "COLUMNS" in settled.attempt.diagnosis.headline


def test_a_variable_keeps_the_type_that_it_has_before_a_branch(drafted: Draft) -> None:
    """It is refused at the condition, which names neither of the pointers."""
    (settled,) = drafted(function("branches", state_ptr="*fp32", x_ptr="*fp16", step=("i32", Basis.LAUNCH), BLOCK=64))
    assert settled.unclear is None
    assert len(set(signature(settled).values())) == 2  # a type of pointers, and that of the step


def test_a_branch_that_no_launch_takes_says_nothing_of_the_kernel(drafted: Draft) -> None:
    modes = [(0, Basis.LAUNCH), (5, Basis.LAUNCH)]
    (settled,) = drafted(function("modes", x_ptr="*fp32", MODE=modes, BLOCK=64))
    assert settled.case.constexprs["MODE"] == 5
    (settled,) = drafted(function("modes", x_ptr="*fp32", MODE=modes[:1] * 2, BLOCK=64))
    assert settled.unclear is not None


def test_what_a_launch_leaves_to_a_wrapper_is_no_failure(drafted: Draft) -> None:
    absent = [(None, Basis.LAUNCH), (16, Basis.NAME)]
    (settled,) = drafted(function("filled_in_by_a_wrapper", x_ptr="*fp32", ROWS=absent, COLUMNS=absent))
    assert (settled.unclear, dict(settled.case.constexprs)) == (None, {"ROWS": 16, "COLUMNS": 16})


def test_a_condition_counts_for_what_it_leads_to(drafted: Draft) -> None:
    stated = {"x_ptr": ("*fp32", Basis.LAUNCH), "WITH_B": (True, Basis.LAUNCH)}
    (settled,) = drafted(function("asserts_in_a_branch", WITH_A=[True, False], **stated))
    assert (settled.unclear, settled.case.constexprs["WITH_A"]) == (None, False)
    (settled,) = drafted(function("asserts_in_a_branch", WITH_A=(True, Basis.CONFIG), **stated))
    assert settled.attempt is not None and settled.attempt.diagnosis is not None


def test_a_project_s_own_folder_named_triton_is_not_triton(drafted: Draft) -> None:
    (settled,) = drafted(function("fill", FILE.parent / "triton" / "fails_at_import.py", x_ptr="*fp32"))
    assert settled.unclear is not None
    assert settled.unclear.startswith("importing it fails: ")


def test_a_drafted_size_is_changed(drafted: Draft) -> None:
    (settled,) = drafted(function("product", a_ptr="*fp16", b_ptr="*fp16", c_ptr="*fp16", BLOCK=12))
    assert settled.unclear is None
    assert settled.case.constexprs["BLOCK"] == 16


def test_sizes_that_do_not_fit_each_other_say_nothing_of_the_kernel(drafted: Draft) -> None:
    (settled,) = drafted(function("two_sizes", x_ptr="*fp32", ROWS=64, HALF=64))
    assert settled.unclear is not None
    assert settled.unclear.startswith("drafted arguments were refused: ")


def test_what_sources_state_is_the_kernels_failure(drafted: Draft) -> None:
    stated = function("two_sizes", x_ptr="*fp32", ROWS=(64, Basis.LAUNCH), HALF=(64, Basis.CONFIG))
    (settled,) = drafted(stated)
    assert settled.unclear is None
    assert settled.attempt is not None and settled.attempt.diagnosis is not None
    assert settled.attempt.diagnosis.exception == "CompileTimeAssertionFailure"


@pytest.mark.parametrize(("kernel", "text"), [("reads_a_global", "global variable"), ("names_nothing", "nowhere")])
def test_what_no_argument_changes_is_the_kernels_failure(drafted: Draft, kernel: str, text: str) -> None:
    (settled,) = drafted(function(kernel, x_ptr="*fp32", BLOCK=64))
    assert settled.unclear is None
    assert settled.attempt is not None and settled.attempt.diagnosis is not None
    assert text in settled.attempt.diagnosis.headline


def test_an_autotuned_kernel_passes_over_what_its_autotuner_does(drafted: Draft) -> None:
    stated = ("*fp32", Basis.LAUNCH)
    kernel = function("tuned", a_ptr=stated, b_ptr=stated, BLOCK=1, EVEN=False)
    (first,) = drafted(kernel)
    assert (first.case.constexprs["BLOCK"], first.case.constexprs["EVEN"]) == (64, True)
    assert first.case.origin["drafted"]["BLOCK"] == "64, autotune configuration 2 of 3"
    largest, *others = drafted(kernel, "all")
    assert [each.case.constexprs["BLOCK"] for each in (largest, *others)] == [256, 64, 32]
    assert largest.draft is not None and largest.draft.configuration == "BLOCK=256 EVEN=True num_warps=8"
    assert largest.attempt is not None and largest.attempt.diagnosis is not None
    assert largest.unclear is None  # its configuration states the size
    assert [each.attempt.diagnosis for each in others if each.attempt] == [None, None]
    (third,) = drafted(kernel, "3")
    assert third.case.constexprs["BLOCK"] == 32


def test_one_compile_to_ttir_serves_configurations_that_differ_only_later(drafted: Draft) -> None:
    kernel = function("staged", x_ptr="*fp32", out_ptr="*fp32", SIZE=32, BLOCK=1)
    kernel = replace(kernel, configs=("…",))
    settled = drafted(kernel, "all", until=Stage.TTIR)
    options = [(each.case.constexprs["BLOCK"], *each.case.options.values()) for each in settled]
    assert options == [(block, warps, 3) for warps in (4, 8) for block in (64, 128)]
    assert [(each.unclear, each.case.constexprs["SIZE"]) for each in settled] == [(None, 64), (None, 128)] * 2
    assert len({id(each.attempt) for each in settled}) == 2


def test_autotuners_of_a_kernel_under_other_names(drafted: Draft) -> None:
    wrapped = kernel(FILE, "wrapped")
    assert wrapped is not None
    assert wrapped.tuners == ("tuned_small", "tuned_large")
    values = [(each.case.constexprs["BLOCK"], each.case.constexprs["EVEN"]) for each in drafted(wrapped, "all")]
    assert values == [(32, False), (64, True)]


def test_what_is_given_wins(drafted: Draft) -> None:
    given = {"signature": {"a_ptr": "*bf16"}, "constexprs": {"BLOCK": 32}, "options": {"num_warps": 2}}
    kernel = function("tuned", a_ptr="*fp32", b_ptr="*fp32", BLOCK=1, EVEN=False)
    only = drafted(kernel, "all", given)
    assert len(only) == 2  # three configurations, of which EVEN=True and EVEN=False are left
    assert {each.case.constexprs["BLOCK"] for each in only} == {32}
    assert {each.case.options["num_warps"] for each in only} == {2}
    assert set(only[0].case.origin["drafted"]) == {"b_ptr", "EVEN", "num_stages"}


def test_the_bound_of_a_loop_is_an_integer_whatever_fails(drafted: Draft) -> None:
    stated = {"x_ptr": ("*fp16", Basis.LAUNCH), "out_ptr": ("*fp32", Basis.LAUNCH), "BLOCK": (64, Basis.CONFIG)}
    (settled,) = drafted(function("total", n="i32", **stated))
    assert settled.unclear is None
    assert settled.attempt is not None and settled.attempt.diagnosis is not None
    assert "sums" in settled.attempt.diagnosis.headline
    (settled,) = drafted(function("total", n=("i32", Basis.NAME), **stated))
    assert settled.unclear is not None
