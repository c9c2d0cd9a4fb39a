"""The field ``inputs``: its errors, and its values in a configuration."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from golden_files import Golden

from triage.model import inputs
from triage.model import launch_plan as plan
from triage.model.errors import InputError
from triage.model.launch_plan import BadInputs, LaunchPlan

SIGNATURE = {"a_ptr": "*fp16", "b": "tensordesc<fp16[64, 32]>", "c_ptr": "*fp32", "M": "i32", "stride": "i32",
             "scale": "fp32", "index": "*i8", "flag": "i1"}  # fmt: skip
CONSTEXPRS = {"BLOCK": 64, "DTYPE": "tl.float16", "FAST": True}
DIVISORS = {"stride": 16, "a_ptr": 16}
GOOD: dict[str, Any] = {
    "sizes": {"M": 256, "N": 128, "K": 32},
    "arguments": {
        "a_ptr": {"shape": ["M", "K"]},
        "b": {"shape": ["N", "K"], "fill": "uniform", "low": -1, "high": 1, "transposed": True},
        "c_ptr": {"shape": ["M", "N"], "fill": "zeros"},
        "stride": "K",
        "scale": 0.5,
        "index": {"shape": [16], "high": "BLOCK"},
        "flag": True,
    },
    "grid": ["cdiv(M, BLOCK)", "cdiv(N, BLOCK)"],
    "outputs": ["c_ptr"],
    "tolerance": 0.01,
    "flops": "2 * M * N * K",
}
GONE = object()


def changed(path: str, value: Any) -> dict[str, Any]:
    """The good document with one value put in place, or taken away."""
    document = copy.deepcopy(GOOD)
    *above, last = path.split(".")
    place = document
    for name in above:
        place = place[name]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return document


def check(document: Any, constexprs: dict[str, Any] = CONSTEXPRS) -> dict[str, Any]:
    return inputs.check(document, SIGNATURE, constexprs, DIVISORS, lambda f, p: InputError(f"{f}: {p}"))


def resolve(document: dict[str, Any], signature: dict[str, str] = SIGNATURE, **constexprs: Any) -> LaunchPlan:
    return plan.resolve(document, signature, {**CONSTEXPRS, **constexprs}, DIVISORS)


def test_a_good_document_is_kept_as_it_is() -> None:
    assert check(GOOD) == GOOD


def test_what_it_comes_to() -> None:
    found = resolve(GOOD)
    a, b, c, index = found.tensors
    assert (a.name, a.element, a.shape, a.fill, a.transposed, a.block) == (
        "a_ptr",
        "fp16",
        (256, 32),
        "normal",
        False,
        (),
    )
    assert (b.shape, b.fill, b.transposed, b.block, b.low, b.high) == ((128, 32), "uniform", True, (64, 32), -1, 1)
    assert (c.element, c.shape, c.fill) == ("fp32", (256, 128), "zeros")
    assert (index.element, index.fill, index.low, index.high) == ("i8", "randint", 0, 64)
    assert found.scalars == {"M": 256, "stride": 32, "scale": 0.5, "flag": 1}
    assert (found.grid, found.outputs, found.tolerance, found.flops) == ((4, 2, 1), ("c_ptr",), 0.01, 2097152)


def test_another_configuration_has_another_grid_and_the_same_problem() -> None:
    assert resolve(GOOD, BLOCK=32).grid == (8, 4, 1)
    other = resolve(changed("arguments.b.transposed", False), {**SIGNATURE, "a_ptr": "*bf16"}, BLOCK=32)
    assert other.problem() == {**resolve(GOOD).problem(), "index": "16 randint 0 to 32"}
    assert resolve(changed("sizes.K", 64)).problem() != resolve(GOOD).problem()


@pytest.mark.parametrize(
    ("types", "tolerance"),
    [({"c_ptr": "*fp32", "a_ptr": "*fp32"}, 2.0**-8), ({"a_ptr": "*bf16"}, 2.0**-5), ({"a_ptr": "*fp8e5"}, 0.1),
     ({"a_ptr": "*fp64", "c_ptr": "*fp64"}, 2.0**-38), ({"a_ptr": "*i32", "c_ptr": "*i64"}, 0.0)],
)  # fmt: skip
def test_the_tolerance_follows_the_coarsest_type(types: dict[str, str], tolerance: float) -> None:
    document = {"arguments": {name: {"shape": [4]} for name in types}, "grid": [1]}
    assert resolve(document, types).tolerance == tolerance


REFUSED: dict[str, tuple[str, Any]] = {
    "unknown field": ("shape", []),
    "sizes": ("sizes", [1]),
    "size": ("sizes.M", "256"),
    "size true": ("sizes.M", True),
    "huge size": ("sizes.M", 1 << 41),
    "size no name": ("sizes.a b", 1),
    "size constexpr": ("sizes.BLOCK", 1),
    "no argument": ("arguments.x", 1),
    "constexpr": ("arguments.BLOCK", 1),
    "missing pointer": ("arguments.a_ptr", GONE),
    "missing scalar": ("arguments.scale", GONE),
    "pointer number": ("arguments.a_ptr", 3),
    "pointer field": ("arguments.a_ptr.dtype", "fp16"),
    "no shape": ("arguments.a_ptr.shape", GONE),
    "shape": ("arguments.a_ptr.shape", "M"),
    "empty shape": ("arguments.a_ptr.shape", []),
    "shape float": ("arguments.a_ptr.shape", [1.5]),
    "shape syntax": ("arguments.a_ptr.shape", ["M/2"]),
    "shape name": ("arguments.a_ptr.shape", ["Q"]),
    "shape dtype": ("arguments.a_ptr.shape", ["DTYPE"]),
    "shape pointer": ("arguments.a_ptr.shape", ["c_ptr"]),
    "zero shape": ("arguments.a_ptr.shape", ["M - M"]),
    "rank": ("arguments.b.shape", ["N"]),
    "too large": ("sizes.M", 1 << 33),
    "too many bytes": ("arguments.a_ptr.shape", ["M", 1 << 26]),
    "transposed": ("arguments.b.transposed", 1),
    "transposed vector": ("arguments.index", {"shape": [4], "transposed": True}),
    "fill": ("arguments.a_ptr.fill", "gauss"),
    "normal integers": ("arguments.index.fill", "normal"),
    "bounds": ("arguments.c_ptr.low", 1),
    "bound text": ("arguments.b.low", "x"),
    "bounds order": ("arguments.b.low", 1),
    "bound too large": ("arguments.index.high", 200),
    "bound too small": ("arguments.index.low", -129),
    "arange": ("arguments.index", {"shape": [129], "fill": "arange"}),
    "scalar text": ("arguments.stride", "K +"),
    "scalar float": ("arguments.stride", 1.0),
    "scalar true": ("arguments.stride", True),
    "infinite": ("arguments.scale", float("inf")),
    "one bit": ("arguments.flag", 2),
    "divisor": ("arguments.stride", "K + 1"),
    "no end": ("arguments.stride", "stride + 1"),
    "no grid": ("grid", GONE),
    "grid": ("grid", [1, 1, 1, 1]),
    "empty grid": ("grid", ["M // 1000"]),
    "grid y": ("grid", [1, 65536]),
    "outputs": ("outputs", "c_ptr"),
    "output scalar": ("outputs", ["M"]),
    "output unknown": ("outputs", ["z"]),
    "output twice": ("outputs", ["c_ptr", "c_ptr"]),
    "tolerance": ("tolerance", -1),
    "flops": ("flops", "M ** 3"),
    "no flops": ("flops", 0),
}  # fmt: skip


@pytest.mark.parametrize(("path", "value"), REFUSED.values(), ids=REFUSED.keys())
def test_errors(golden: Golden, path: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        check(changed(path, value))
    golden(str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["**fp32", "nvTmaDesc", "*fp8e4b15", "tensordesc_im2col<fp16[64, 64],input_rank=4>"])
def test_types_whose_values_cannot_be_made(text: str) -> None:
    with pytest.raises(InputError, match=r"values of type .* cannot be made"):
        inputs.check({"arguments": {"x": 1}, "grid": [1]}, {"x": text}, {}, {}, lambda f, p: InputError(f"{f}: {p}"))


def test_arguments_may_be_expressions_over_one_another() -> None:
    document = changed("arguments.stride", "M")
    document["arguments"]["M"] = "N * 2"
    assert resolve(document).scalars["stride"] == 256
    document["arguments"]["M"] = "stride"
    with pytest.raises(BadInputs, match=r"M → stride → M has no end|stride → M → stride has no end"):
        resolve(document)


FITS_NOT: dict[str, tuple[Callable[[], LaunchPlan], str]] = {
    "a new argument": (lambda: resolve(GOOD, {**SIGNATURE, "d_ptr": "*fp16"}), "inputs.arguments.d_ptr: missing"),
    "a scalar made a pointer": (lambda: resolve(GOOD, {**SIGNATURE, "M": "*i32"}), "inputs.arguments.M: missing"),
    "no pointer any more": (lambda: resolve(GOOD, {**SIGNATURE, "a_ptr": "i32"}), "inputs.arguments.a_ptr: missing"),
    "no integer": (lambda: resolve(GOOD, BLOCK=None), "inputs.arguments.index.high: 'BLOCK' is not a known integer"),
    "a tile of another rank": (lambda: resolve(GOOD, {**SIGNATURE, "b": "tensordesc<fp16[64]>"}),
                               "inputs.arguments.b.shape: 2 dimensions, the descriptor's tile has 1"),
    "integers": (lambda: resolve(GOOD, {**SIGNATURE, "b": "*i8"}), "inputs.arguments.b.fill: 'uniform'"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "told"), FITS_NOT.values(), ids=FITS_NOT.keys())
def test_inputs_that_do_not_fit_a_neighbour(make: Callable[[], LaunchPlan], told: str) -> None:
    with pytest.raises(BadInputs) as caught:
        make()
    assert str(caught.value).startswith(told)


def test_an_operand_that_is_stored_the_other_way_round() -> None:
    once = inputs.stored_transposed(GOOD, "a_ptr")
    assert once["arguments"]["a_ptr"] == {"shape": ["M", "K"], "transposed": True}
    assert "transposed" not in GOOD["arguments"]["a_ptr"]
    assert inputs.stored_transposed(GOOD, "b")["arguments"]["b"]["transposed"] is False
    assert resolve(once).problem() == resolve(GOOD).problem()
