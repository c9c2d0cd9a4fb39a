"""``tl.dot`` against the front end over shapes, types, targets and precisions; accumulators by whole compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import frontend
import pytest

from triage.harness.toolchains import Toolchain
from triage.legality import dot, dtypes
from triage.model.target import Target

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def plain(a_ptr, b_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.dot(a, b, input_precision=P)


@triton.jit
def batched(a_ptr, b_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    z = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + z * M * K + m[None, :, None] * K + k[None, None, :])
    b = tl.load(b_ptr + z * K * N + k[None, :, None] * N + n[None, None, :])
    tl.dot(a, b)


@triton.jit
def accumulated(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, C: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    c = tl.dot(a, b, tl.zeros((M, N), C), out_dtype=C)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)
"""
# A pointer to bool is read as int8 up to 3.1, so a bool operand is not to be had from memory there.
TYPES = [
    "fp16",
    "bf16",
    "fp32",
    "fp64",
    "fp8e4nv",
    "fp8e5",
    "fp8e4b8",
    "fp8e5b16",
    "fp8e4b15",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
]
FLOATS = ["fp16", "fp32", "fp64", "fp8e5", "fp8e4b15", "fp8e4nv", "i8"]
EIGHT_BITS = [name for name in TYPES if name.startswith("fp8")]
RELEASES = ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0")
Case = tuple[str, dict[str, Any]]


def pairs() -> Iterator[Case]:
    for target, a in product(frontend.TARGETS, TYPES):
        for b in dict.fromkeys((a, "fp16", "i8", *(EIGHT_BITS if a in EIGHT_BITS else ()))):
            yield target, {"a": a, "b": b, "m": 32, "n": 32, "k": 32}


def shapes() -> Iterator[Case]:
    sizes = (1, 2, 4, 8, 16, 32, 64)
    lines = [(m, n, k) for m, n, k in product(sizes, repeat=3) if (m, n, k).count(64) >= 2]
    corners = [*product((8, 16), (8, 16), (4, 8, 16)), (16, 16, 32), (24, 32, 32), (32, 48, 32), (32, 32, 40)]
    for target, a, (m, n, k) in product(frontend.TARGETS, FLOATS, [*lines, *corners]):
        yield target, {"a": a, "b": a, "m": m, "n": n, "k": k}
    for target, (m, n, k) in product(("cuda:90", "hip:gfx942"), [(1024, 16, 2048), (2048, 2048, 16), (1024, 1024, 16)]):
        yield target, {"a": "fp16", "b": "fp16", "m": m, "n": n, "k": k}


def precisions() -> Iterator[Case]:
    names = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6", "TF32", "fp32")
    for target, a, name in product(frontend.TARGETS, ("fp32", "fp16"), names):
        yield target, {"a": a, "b": a, "m": 32, "n": 32, "k": 32, "input_precision": name}


def batches() -> Iterator[Case]:
    for target, a, (m, k) in product(frontend.TARGETS[3::4], ("fp16", "i8"), product((8, 16, 32), repeat=2)):
        yield target, {"a": a, "b": a, "m": m, "n": 32, "k": k, "batch": 2}


def disagreements(listed: list[Case], python: str, release: str) -> list[object]:
    """Where rule and front end differ."""
    cases = []
    for target, asked in listed:
        kernel = "batched" if "batch" in asked else "plain"
        constants = {name.upper(): asked[name] for name in "mnk"}
        constants |= {"B": asked["batch"]} if "batch" in asked else {"P": asked.get("input_precision")}
        types = {"a_ptr": "*" + asked["a"], "b_ptr": "*" + asked["b"]}
        cases.append({"kernel": kernel, "target": target, "types": types, "constants": constants})
    found: list[object] = []
    for (target, asked), answer in zip(listed, frontend.answers(KERNELS, cases, python), strict=True):
        typed = {name: dtypes.parse(value) if name in "ab" else value for name, value in asked.items()}
        violations = dot.violations(target=Target.parse(target), triton=release, **typed)
        if (violations == []) != (answer["error"] is None):
            found.append((target, asked, answer["error"], [str(violation) for violation in violations]))
    return found


def test_rule_and_front_end_agree(release: Callable[[str], Toolchain]) -> None:
    newest = release("newest")
    listed = [*list(pairs())[::31], *list(shapes())[::47], *list(precisions())[::13], *list(batches())[::7]]
    assert disagreements(listed, str(newest.python), newest.release) == []


@pytest.mark.slow
@pytest.mark.parametrize("version", [*RELEASES, "newest"])
def test_rule_and_every_front_end_agree(release: Callable[[str], Toolchain], version: str) -> None:
    toolchain = release(version)
    listed = [*pairs(), *shapes(), *precisions(), *batches()]
    assert disagreements(listed, str(toolchain.python), toolchain.release) == []


def accumulator_disagreements(
    targets: tuple[str, ...], types: tuple[str, ...], python: str, release: str
) -> list[object]:
    """Where rule and whole compile differ: a wrong accumulator is often seen only where the result is stored."""
    listed = [
        (target, a, c)
        for target, a, c in product(targets, types, ("fp16", "bf16", "fp32", "fp64", "i32"))
        if dot.partners(dtypes.parse(a), Target.parse(target), release)
        # gfx1100 compiles this one, to no purpose; the rule refuses it.
        and not (target == "hip:gfx1100" and c == "i32" and a != "i8")
    ]
    cases = [
        {
            "kernel": "accumulated",
            "target": target,
            "types": {"a_ptr": f"*{a}", "b_ptr": f"*{a}", "c_ptr": f"*{c}"},
            "constants": {"M": 32, "N": 32, "K": 32, "C": f"dtype:{c}"},
        }
        for target, a, c in listed
    ]
    found: list[object] = []
    for (target, a, c), answer in zip(listed, frontend.answers(KERNELS, cases, python, whole=True), strict=True):
        violations = dot.violations(
            m=32, n=32, k=32, a=dtypes.parse(a), acc=dtypes.parse(c), target=Target.parse(target), triton=release
        )
        if (violations == []) != (answer["error"] is None):
            found.append((target, a, c, answer["error"]))
    return found


ACCUMULATED = ("fp16", "bf16", "fp32", "fp64", "fp8e5", "i8")
FEW, MOST = ("cuda:90",), ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100")


@pytest.mark.parametrize(
    ("targets", "types"), [(FEW, ("fp16", "i8")), pytest.param(MOST, ACCUMULATED, marks=pytest.mark.slow)]
)
def test_accumulators_agree_with_whole_compiles(
    release: Callable[[str], Toolchain], targets: tuple[str, ...], types: tuple[str, ...]
) -> None:
    newest = release("newest")
    assert accumulator_disagreements(targets, types, str(newest.python), newest.release) == []


@pytest.mark.parametrize(
    ("asked", "rule", "nearest"),
    [
        ({"m": 16, "n": 8, "k": 16, "triton": "3.4.0"}, "dot.n", (16,)),
        ({"m": 16, "n": 16, "k": 8}, "dot.k", (16,)),
        ({"m": 48, "n": 16, "k": 16}, "dot.m", (64, 32)),
        ({"m": 16, "n": 16, "k": 16, "a": "e4m3", "target": "cuda:80"}, "dot.a", ("e5m2", "f16")),
        ({"m": 16, "n": 16, "k": 16, "b": "bf16"}, "dot.b", ("f16",)),
        ({"m": 16, "n": 16, "k": 16, "acc": "bf16"}, "dot.acc", ("f32",)),
        (
            {"m": 16, "n": 16, "k": 16, "input_precision": "tf32", "target": "hip:gfx950"},
            "dot.input-precision",
            ("ieee",),
        ),
        ({"m": 16, "n": 16, "k": 16, "num_warps": 3}, "dot.num-warps", (4, 2)),
        ({"m": 2048, "n": 2048, "k": 16}, "dot.numel", (512,)),
    ],
)
def test_the_nearest_is_named(asked: dict[str, Any], rule: str, nearest: tuple[object, ...]) -> None:
    typed = {name: dtypes.parse(value) if name in ("a", "b", "acc") else value for name, value in asked.items()}
    target = Target.parse(typed.pop("target", "cuda:90"))
    typed.setdefault("a", dtypes.parse("fp16"))
    [violation] = dot.violations(target=target, **typed)
    assert (violation.rule, violation.nearest) == (rule, nearest)
    assert set(violation.nearest) <= set(violation.allowed)
