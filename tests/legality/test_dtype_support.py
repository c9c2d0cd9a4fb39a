"""Types by target and use against whole compiles: to a cubin on cuda, to assembly on hip."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import frontend
import pytest

from triage.harness.toolchains import Toolchain
from triage.legality import dtype_support, dtypes
from triage.legality.release import series
from triage.model.target import Target

_ATOMIC = """

@triton.jit
def atomic_{name}(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    tl.atomic_{name}(x_ptr + i, tl.load(y_ptr + i))
"""
KERNELS = """
import triton
import triton.language as tl


@triton.jit
def load(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    tl.store(y_ptr + i, tl.load(x_ptr + i))


@triton.jit
def arithmetic(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x * tl.load(y_ptr + i) + x)


@triton.jit
def to_float32(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    tl.store(y_ptr + i, tl.load(x_ptr + i).to(tl.float32))


@triton.jit
def from_float32(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    tl.store(x_ptr + i, tl.load(y_ptr + i).to(x_ptr.dtype.element_ty))


@triton.jit
def dot(x_ptr, y_ptr):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    tl.store(y_ptr + i, tl.dot(tl.load(x_ptr + i), tl.load(x_ptr + 1024 + i)))


@triton.jit
def atomic_cas(x_ptr, y_ptr):
    i = tl.arange(0, 128)
    tl.atomic_cas(x_ptr + i, tl.load(y_ptr + i), tl.load(y_ptr + 128 + i))
""" + "".join(_ATOMIC.format(name=name) for name in ("add", "max", "min", "and", "or", "xor", "xchg"))
RESULT = {"i8": "i32", "fp64": "fp64"}
"""What a dot of a type is stored as, where that is not float32."""


def disagreements(python: str, release: str, step: int) -> list[object]:
    """Where table and compiler differ."""
    number = series(release)
    listed = []
    for target, use, name in product(frontend.TARGETS, dtype_support.USES, dtype_support.TYPES):
        if number < (3, 3) and target in ("cuda:100", "cuda:120", "hip:gfx950", "hip:gfx1200"):
            continue  # not known to these releases
        if use == "dot" and name == "b1" and number < (3, 2):
            continue  # read as int8
        listed.append((target, use, name))
    listed = listed[::step]
    cases = []
    for target, use, name in listed:
        spelled = dtypes.parse(name).triton
        other = "fp32" if "float32" in use else RESULT.get(spelled, "fp32") if use == "dot" else spelled
        if other == "fp64" and use == "dot" and number < (3, 2):
            other = "fp32"  # the result's type is out_dtype
        cases.append({"kernel": use, "target": target, "types": {"x_ptr": f"*{spelled}", "y_ptr": f"*{other}"}})
    found: list[object] = []
    for (target, use, name), answer in zip(listed, frontend.answers(KERNELS, cases, python, whole=True), strict=True):
        violations = dtype_support.violations(
            dtype=dtypes.parse(name), target=Target.parse(target), use=use, triton=release
        )
        if (violations == []) != (answer["error"] is None):
            found.append((target, use, name, answer["error"], [str(violation) for violation in violations]))
    return found


@pytest.mark.parametrize("step", [101, pytest.param(1, marks=pytest.mark.slow)])
def test_table_and_compiler_agree(release: Callable[[str], Toolchain], step: int) -> None:
    newest = release("newest")
    assert disagreements(str(newest.python), newest.release, step) == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("version", ["3.0.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0"])
def test_table_and_older_compilers_agree(release: Callable[[str], Toolchain], version: str) -> None:
    assert disagreements(str(release(version).python), version, 1) == []


@pytest.mark.parametrize(
    ("name", "target", "use", "triton", "rule", "nearest"),
    [
        ("e4m3", "cuda:80", "load", None, "dtype.fp8", ("e5m2", "e4m3b15")),
        ("e4m3", "hip:gfx942", "load", "3.2.0", "dtype.fp8", ("e5m2", "e4m3fnuz")),
        ("e4m3", "cuda:90", "arithmetic", None, "dtype.arithmetic", ("f16", "bf16")),
        ("s8", "cuda:75", "dot", None, "dtype.dot", ()),
        ("bf16", "cuda:75", "arithmetic", "3.2.0", "dtype.arithmetic", ("f16", "f32")),
        ("f16", "cuda:90", "atomic_max", None, "dtype.atomic-max", ("f32", "f64")),
        ("s16", "cuda:90", "atomic_add", None, "dtype.atomic-add", ("s32", "u32")),
    ],
)
def test_the_nearest_is_named(
    name: str, target: str, use: str, triton: str | None, rule: str, nearest: tuple[str, ...]
) -> None:
    [violation] = dtype_support.violations(
        dtype=dtypes.parse(name), target=Target.parse(target), use=use, triton=triton
    )
    assert (violation.rule, violation.nearest) == (rule, nearest)
    assert set(violation.nearest) <= set(violation.allowed)


def test_bf16_conversions_on_turing_are_gone_up_to_3_2() -> None:
    turing = Target("cuda", "75")
    for triton, legal in (("3.2.0", False), ("3.4.0", True)):
        found = dtype_support.violations(dtype=dtypes.parse("bf16"), target=turing, use="to_float32", triton=triton)
        assert (found == []) == legal
