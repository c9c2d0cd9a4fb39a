"""Shapes and operations against the front end itself: what it accepts, the rule finds legal, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product
from typing import Any

import frontend
import pytest

from triage.harness.toolchains import Toolchain
from triage.legality import dtypes, language
from triage.legality.release import series
from triage.model.errors import InputError

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def tensor(S: tl.constexpr):
    tl.zeros(S, tl.int32) + 1


@triton.jit
def arange(START: tl.constexpr, END: tl.constexpr):
    tl.arange(START, END) + 1


@triton.jit
def reshape(S: tl.constexpr, T: tl.constexpr):
    tl.reshape(tl.zeros(S, tl.int32), T) + 1


@triton.jit
def broadcast(S: tl.constexpr, T: tl.constexpr):
    tl.broadcast_to(tl.zeros(S, tl.int32), T) + 1


@triton.jit
def binary(S: tl.constexpr, T: tl.constexpr):
    tl.zeros(S, tl.int32) + tl.zeros(T, tl.int32)


@triton.jit
def permute1(S: tl.constexpr, A: tl.constexpr):
    tl.permute(tl.zeros(S, tl.int32), (A,)) + 1


@triton.jit
def permute2(S: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    tl.permute(tl.zeros(S, tl.int32), (A, B)) + 1


@triton.jit
def permute3(S: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    tl.permute(tl.zeros(S, tl.int32), (A, B, C)) + 1


@triton.jit
def join(S: tl.constexpr, T: tl.constexpr):
    tl.join(tl.zeros(S, tl.int32), tl.zeros(T, tl.int32)) + 1


@triton.jit
def split(S: tl.constexpr):
    a, b = tl.split(tl.zeros(S, tl.int32))
    a + b


@triton.jit
def cat(S: tl.constexpr, T: tl.constexpr):
    tl.cat(tl.zeros(S, tl.int32), tl.zeros(T, tl.int32), can_reorder=True) + 1


@triton.jit
def reduce(S: tl.constexpr, AXIS: tl.constexpr):
    tl.sum(tl.zeros(S, tl.int32), AXIS) + 1


@triton.jit
def scan(S: tl.constexpr, AXIS: tl.constexpr):
    tl.cumsum(tl.zeros(S, tl.int32), AXIS) + 1


@triton.jit
def gather(S: tl.constexpr, T: tl.constexpr, AXIS: tl.constexpr):
    tl.gather(tl.zeros(S, tl.int32), tl.zeros(T, tl.int32), AXIS) + 1


@triton.jit
def histogram(S: tl.constexpr, BINS: tl.constexpr):
    tl.histogram(tl.zeros(S, tl.int32), BINS) + 1


@triton.jit
def sort(S: tl.constexpr, AXIS: tl.constexpr):
    tl.sort(tl.zeros(S, tl.int32), AXIS) + 1


@triton.jit
def topk(S: tl.constexpr, K: tl.constexpr):
    tl.topk(tl.zeros(S, tl.int32), K) + 1


@triton.jit
def descriptor1(ptr, A: tl.constexpr):
    tl.make_tensor_descriptor(ptr, [1024], [1], [A])


@triton.jit
def descriptor2(ptr, A: tl.constexpr, B: tl.constexpr):
    tl.make_tensor_descriptor(ptr, [1024, 1024], [1024, 1], [A, B])


@triton.jit
def descriptor3(ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    tl.make_tensor_descriptor(ptr, [1024, 1024, 1024], [1048576, 1024, 1], [A, B, C])


@triton.jit
def descriptor5(ptr, A: tl.constexpr):
    tl.make_tensor_descriptor(ptr, [16, 16, 16, 16, 16], [65536, 4096, 256, 16, 1], [1, 1, 1, 1, A])


@triton.jit
def descriptor6(ptr, A: tl.constexpr):
    tl.make_tensor_descriptor(
        ptr, [16, 16, 16, 16, 16, 16], [1048576, 65536, 4096, 256, 16, 1], [1, 1, 1, 1, 1, A]
    )
"""
SIZES = (1, 2, 3, 4, 8, 24)
SHAPES = [*product(SIZES), *product(SIZES, repeat=2), (2, 4, 2), (2, 4, 8), (4, 1, 2), (2, 2, 2, 2)]
LEGAL = [shape for shape in SHAPES if set(shape) <= {1, 2, 4, 8}]


def asked() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Operation, arguments as the rule takes them, constants as its kernel takes them."""
    large = [
        (1 << 20,),
        (1 << 21,),
        (1048575,),
        (1024, 1024),
        (1024, 2048),
        (2, 1 << 20),
        (64, 128, 128),
        (64, 128, 256),
    ]
    for shape in [*SHAPES, *large, (0,), (4, 0)]:
        yield "tensor", {"shape": shape}, {"S": shape}
    edges = [(0, 1 << 20), (0, 1 << 21), (5, 5), (8, 4), (1 << 31, (1 << 31) + 64), ((1 << 32) - 64, 1 << 32)]
    edges.append(((1 << 31) - 65, (1 << 31) - 1))
    for start, end in [*product((0, 1, 3, 64), (0, 1, 2, 3, 4, 5, 64, 67, 96, 128, 192)), *edges]:
        yield "arange", {"shape": (start, end)}, {"START": start, "END": end}
    for shape, to in product(LEGAL[::2], [*SHAPES[::3], (16,), (8, 8), (3, 5)]):
        for op in ("reshape", "broadcast", "binary", "join", "cat"):
            yield op, {"shape": shape, "to": to}, {"S": shape, "T": to}
    for op in ("binary", "join"):
        yield op, {"shape": (2048, 1), "to": (1, 1024)}, {"S": (2048, 1), "T": (1, 1024)}
        yield op, {"shape": (1024, 1), "to": (1, 1024)}, {"S": (1024, 1), "T": (1, 1024)}
        yield op, {"shape": (1024, 1), "to": (1, 512)}, {"S": (1024, 1), "T": (1, 512)}
    for shape in ((4, 8), (2, 4, 8)):
        for order in [*permutations(range(len(shape))), (0,), (0, 0), (1, 2), (0, 1, 3)]:
            constants = dict(zip("ABC", order, strict=False))
            yield "permute", {"shape": shape, "to": order}, {"S": shape, **constants}
    for shape in LEGAL:
        yield "split", {"shape": shape}, {"S": shape}
        for axis in range(4):
            for op in ("reduce", "scan", "sort"):
                yield op, {"shape": shape, "axis": axis}, {"S": shape, "AXIS": axis}
    for shape, to, axis in product([(8,), (4, 8), (2, 4)], [(8,), (4,), (4, 8), (2, 8), (4, 2)], (0, 1, 2)):
        yield "gather", {"shape": shape, "to": to, "axis": axis}, {"S": shape, "T": to, "AXIS": axis}
    for shape, number in product([(8,), (1,), (4, 8)], (1, 2, 3, 4, 8, 10, 16)):
        yield "histogram", {"shape": shape, "to": (number,)}, {"S": shape, "BINS": number}
        yield "topk", {"shape": shape, "to": (number,)}, {"S": shape, "K": number}
    for shape in [*SHAPES, (16,), (32,), (8, 16), (8, 32), (1, 1, 1, 1, 16), (1, 1, 1, 1, 4), (1, 1, 1, 1, 1, 16)]:
        if len(shape) != 4:
            for name in ("i8", "fp16", "fp32", "fp64"):
                arguments = {"shape": shape, "dtype": dtypes.parse(name)}
                constants = dict(zip("ABC", shape if len(shape) < 4 else shape[-1:], strict=False))
                yield "descriptor", arguments, {"ptr": name, **constants}


def let_pass(op: str, arguments: dict[str, Any], release: str) -> bool:
    """What an older front end accepts although it fails later, or does something else: see the rule's docstring."""
    shape, (to, *_) = arguments["shape"], arguments.get("to") or (0,)
    number = series(release)
    match op:
        case "tensor":
            return number < (3, 8) and 0 in shape
        case "cat":
            total = shape[0] + to
            return number < (3, 2) and len(shape) == len(arguments["to"]) == 1 and total & (total - 1) > 0
        case "histogram":
            return number < (3, 2) and to & (to - 1) > 0
        case "topk":
            return (3, 4) <= number < (3, 9) and (to & (to - 1) > 0 or to > shape[-1])
    return False


def disagreements(python: str, release: str, step: int = 1) -> list[object]:
    """Where rule and front end differ."""
    listed = list(asked())[::step]
    cases = []
    for op, arguments, constants in listed:
        by_rank = {"permute": arguments.get("to", ()), "descriptor": arguments["shape"]}
        kernel = f"{op}{len(by_rank[op])}" if op in by_rank else op
        types = {"ptr": "*" + constants["ptr"]} if "ptr" in constants else {}
        values = {name: value for name, value in constants.items() if name != "ptr"}
        cases.append({"kernel": kernel, "target": "cuda:90", "types": types, "constants": values})
    found: list[object] = []
    for (op, arguments, _), answer in zip(listed, frontend.answers(KERNELS, cases, python), strict=True):
        violations = language.violations(op=op, release=release, **arguments)
        if let_pass(op, arguments, release):
            assert violations, (op, arguments)
        elif (violations == []) != (answer["error"] is None):
            found.append((op, arguments, answer["error"], [str(violation) for violation in violations]))
    return found


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_rule_and_front_end_agree(release: Callable[[str], Toolchain], step: int) -> None:
    newest = release("newest")
    assert disagreements(str(newest.python), newest.release, step) == []


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.0.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0"])
def test_rule_and_older_front_ends_agree(release: Callable[[str], Toolchain], version: str) -> None:
    assert disagreements(str(release(version).python), version) == []


def test_the_nearest_is_named() -> None:
    [violation] = language.violations(shape=(96, 64))
    assert (violation.rule, violation.given, violation.nearest) == ("language.power-of-two", 96, (128, 64))
    [violation] = language.violations(shape=(1024, 2048))
    assert (violation.rule, violation.given) == ("language.numel", 1 << 21)
    [violation] = language.violations(op="topk", shape=(64,), to=(128,))
    assert violation.nearest == (64,)


def test_missing_arguments_are_named() -> None:
    for op, missing in (("reshape", "--to"), ("descriptor", "--dtype"), ("sortt", "operation 'sortt'")):
        with pytest.raises(InputError, match=missing):
            language.violations(op=op, shape=(64,))
