"""``mma.sync``: the table against the assemblers, and Triton's choice against what it compiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

import pytest
from compiled import compile_all
from ptx_assembler import errors
from rows import one_in

from triage.legality import dtypes, mma
from triage.legality.mma import fragment, triton
from triage.legality.mma.check import MmaInstruction, legal
from triage.legality.mma.forms import KINDS
from triage.legality.violation import Violation
from triage.model.target import Target

DECLARATIONS = ".reg .b32 r<64>; .reg .f32 f<64>; .reg .f64 d<64>; .reg .b16 h<4>;"
TYPES = ["f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "s8", "u8", "s4", "u4", "b1"]
FLOAT8 = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "f16", "s8"]
ACCUMULATORS = ["f16", "bf16", "f32", "f64", "s32"]
SHAPES = [(8, 8, k) for k in (4, 16, 32, 128)] + [(16, 8, k) for k in (4, 8, 16, 32, 64, 128, 256)]
LAYOUTS = list(product(("row", "col"), repeat=2))
TARGETS = (75, 80, 86, 89, 90, 100, 120)
QUICK = (75, 89, 120)
OTHERS = (70, 72, 87, 103, 110, 121)


class Asked(NamedTuple):
    """One instruction, as ``violations`` is asked for it and as PTX. A hundred thousand of them are made."""

    a: str
    b: str
    d: str
    c: str
    shape: tuple[int, int, int]
    layouts: tuple[str, str] = ("row", "col")
    op: str | None = None
    sparse: bool = False
    kind: str | None = None
    scale: str | None = None
    scale_vec: int | None = None

    def legal(self, capability: int) -> bool:
        return not self.violations(capability)

    def violations(self, capability: int) -> list[Violation]:
        m, n, k = self.shape
        parse = dtypes.parse
        return mma.violations(
            a=parse(self.a),
            b=parse(self.b),
            c=parse(self.c),
            d=parse(self.d),
            m=m,
            n=n,
            k=k,
            a_layout=self.layouts[0],
            b_layout=self.layouts[1],
            sparse=self.sparse,
            kind=self.kind,
            scale=parse(self.scale) if self.scale else None,
            scale_vec=self.scale_vec,
            op=self.op,
            target=Target("cuda", str(capability)),
        )

    def in_table(self, capability: int) -> bool:
        """What ``violations`` asks first: an enumeration of a hundred thousand needs no messages."""
        (m, n, k), (a_layout, b_layout) = self.shape, self.layouts
        names = (self.sparse, self.a, self.b, self.kind or "none", self.scale or "none", self.scale_vec or 0)
        asked = MmaInstruction(*names, m, n, k, self.d, self.c, a_layout, b_layout, self.op or "none")
        return legal(asked, capability)

    def ptx(self, sparse: str = "sp::ordered_metadata") -> str:
        (m, n, k), (a_layout, b_layout) = self.shape, self.layouts
        name = f"mma{'.' + sparse if self.sparse else ''}.sync.aligned.m{m}n{n}k{k}.{a_layout}.{b_layout}"
        name += f".kind::{self.kind}" if self.kind else ""
        name += ".block_scale" if self.scale else ""
        name += f".scale_vec::{self.scale_vec}X" if self.scale_vec else ""
        name += f".{self.d}.{self.a}.{self.b}.{self.c}"
        name += f".{self.scale}" if self.scale else ""
        name += f".{self.op}.popc" if self.op else ""
        each = (("accumulator", self.d), ("a", self.a), ("b", self.b), ("accumulator", self.c))
        operands = [_registers(which, name, self.shape, self.a, self.sparse, self.kind) for which, name in each]
        operands += ["r9", "0x0"] if self.sparse else []
        operands += ["r10", "{h0, h1}", "r11", "{h2, h3}"] if self.scale else []
        return f"{name} {', '.join(operands)};"


@cache
def _registers(which: str, name: str, shape: tuple[int, int, int], a: str, sparse: bool, kind: str | None) -> str:
    """An operand of an instruction whose left one has the type ``a``."""
    m, n, k = shape
    rows, columns = {"accumulator": (m, n), "a": (m, k // 2 if sparse else k), "b": (k, n)}[which]
    bits = dtypes.parse(name).bits
    if which != "accumulator":
        bits = fragment.stored_bits(dtypes.parse(name), kind)
    count = fragment.registers(rows, columns, bits)
    if shape == (8, 8, 4) and a != "f64":
        count = rows * columns * bits // 256  # a quarter of a warp holds each of its four products
    # Any other number of registers is refused for itself, and nothing is learnt of shape and types.
    count = next(legal for legal in (1, 2, 4, 8) if legal >= min(count, 8))
    register = {"f64": "d", "f32": "f"}.get(name, "r") if which == "accumulator" or name == "f64" else "r"
    return "{" + ", ".join(f"{register}{place}" for place in range(count)) + "}"


def dense(layouts: bool) -> Iterator[Asked]:
    for a, b, (d, c), shape in product(TYPES, TYPES, product(ACCUMULATORS, ACCUMULATORS), SHAPES):
        ops = (None, "xor", "and") if "b1" in (a, b) else (None,)
        for op, pair in product(ops, LAYOUTS if layouts else LAYOUTS[1:2]):
            yield Asked(a, b, d, c, shape, pair, op)


def layouts_of_matching_types() -> Iterator[Asked]:
    for a, d, shape, pair in product(TYPES, ACCUMULATORS, SHAPES, LAYOUTS):
        yield Asked(a, a, d, d, shape, pair, "xor" if a == "b1" else None)


def sparse() -> Iterator[Asked]:
    pairs = [(d, d) for d in ACCUMULATORS] + [("f32", "f16"), ("f16", "f32")]
    for a, b, (d, c), shape in product(TYPES, TYPES, pairs, SHAPES):
        yield Asked(a, b, d, c, shape, op="xor" if a == b == "b1" else None, sparse=True)


def kinds() -> Iterator[Asked]:
    pairs = [("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("s32", "s32")]
    for kind, a, b, (d, c), k, sp in product(KINDS, FLOAT8, FLOAT8, pairs, (16, 32, 64, 128), (False, True)):
        yield Asked(a, b, d, c, (16, 8, k), sparse=sp, kind=kind)
        for scale, vec in product(("ue8m0", "ue4m3"), (None, 1, 2, 4)):
            yield Asked(a, b, d, c, (16, 8, k), sparse=sp, kind=kind, scale=scale, scale_vec=vec)


def assert_agreement(asked: list[Asked], capability: int, judged: Callable[[Asked, int], bool] = Asked.in_table) -> int:
    refused = errors([one.ptx() for one in asked], DECLARATIONS, capability)
    wrong = [
        (one, refused.get(place, "taken"))
        for place, one in enumerate(asked)
        if judged(one, capability) != (place not in refused)
    ]
    assert wrong == [], f"{len(wrong)} of {len(asked)} disagree"
    return len(asked) - len(refused)


@pytest.mark.parametrize("capability", one_in(2, (89, 75, 120)))
def test_layouts_of_every_shape_and_type(capability: int) -> None:
    asked = list(layouts_of_matching_types())[::3]
    assert assert_agreement(asked, capability, Asked.legal if capability == 89 else Asked.in_table) > 3


@pytest.mark.parametrize("capability", one_in(3, QUICK[::-1]))
def test_scales_and_kinds(capability: int) -> None:
    asked = [one for one in kinds() if one.a in ("e4m3", "e2m1") and one.b in ("e5m2", "e2m1")]
    assert (assert_agreement(asked, capability) > 0) == (capability >= 100)


@pytest.mark.parametrize("capability", one_in(2, QUICK))
def test_sparse_forms_of_matching_types(capability: int) -> None:
    asked = [one for one in sparse() if one.a == one.b]
    assert (assert_agreement(asked, capability) > 0) == (capability >= 80)


@pytest.mark.slow
@pytest.mark.parametrize("capability", [*TARGETS, *OTHERS])
@pytest.mark.parametrize("asked", [layouts_of_matching_types, sparse, kinds], ids=lambda one: one.__name__)
def test_every_form_on_every_target(capability: int, asked: Callable[[], Iterator[Asked]]) -> None:
    assert_agreement(list(asked()), capability)


@pytest.mark.slow
@pytest.mark.parametrize("capability", [*TARGETS, *OTHERS])
def test_every_type_by_every_type_in_every_shape(capability: int) -> None:
    assert assert_agreement(list(dense(layouts=False)), capability) > 2


def test_plain_sparse_has_all_but_what_the_table_says() -> None:
    for capability in (80, 120):
        asked = [one for one in sparse() if one.in_table(capability)]
        refused = errors([one.ptx("sp") for one in asked], DECLARATIONS, capability)
        lost = {(asked[place].a, asked[place].d) for place in refused}
        assert lost == ({("e4m3", "f16"), ("e5m2", "f16")} if capability == 120 else set())


def test_what_is_illegal_is_explained() -> None:
    asked = [*dense(layouts=False), *sparse(), *kinds()]
    for place, one in enumerate(asked[::397]):
        capability = TARGETS[place % len(TARGETS)]
        found = one.violations(capability)
        assert (found == []) == one.in_table(capability)
        for violation in found:
            assert violation.parameter in violation.rule.replace("-", "_")
            assert set(violation.nearest) <= set(violation.allowed)


@pytest.mark.parametrize(
    ("asked", "capability", "parameter", "allowed"),
    [
        (Asked("f16", "f16", "f32", "f32", (16, 8, 16)), 75, "k", (8,)),
        (Asked("f16", "f16", "f32", "f32", (16, 8, 12)), 80, "k", (8, 16)),
        (Asked("f16", "f16", "f32", "f32", (16, 16, 16)), 80, "n", (8,)),
        (Asked("bf16", "bf16", "f32", "f32", (16, 8, 16)), 75, "a", ()),
        (Asked("f16", "bf16", "f32", "f32", (16, 8, 16)), 80, "b", ("f16",)),
        (Asked("bf16", "bf16", "f16", "f16", (16, 8, 16)), 80, "d", ()),
        (Asked("f16", "f16", "f32", "f16", (16, 8, 16)), 80, "c", ("f32",)),
        (Asked("f16", "f16", "f32", "f32", (16, 8, 16), ("row", "row")), 80, "b_layout", ("col",)),
        (Asked("b1", "b1", "s32", "s32", (8, 8, 128), op="and"), 75, "op", ("xor",)),
        (Asked("e2m1", "e2m1", "f32", "f32", (16, 8, 32)), 120, "kind", ("f8f6f4",)),
    ],
    ids=str,
)
def test_the_parameter_to_blame(asked: Asked, capability: int, parameter: str, allowed: tuple[object, ...]) -> None:
    first = asked.violations(capability)[0]
    assert (first.parameter, first.allowed) == (parameter, allowed)
    assert set(first.nearest) <= set(first.allowed)
    assert first.source


def test_types_that_are_left_out_follow_a() -> None:
    shape = {"m": 16, "n": 8, "k": 16, "target": Target("cuda", "80")}
    assert mma.violations(a=dtypes.parse("bf16"), **shape) == []
    [violation] = mma.violations(a=dtypes.parse("f32"), **shape)
    assert violation.parameter == "a"
    assert violation.allowed == ("bf16", "f16", "s8", "u8")
    [violation] = mma.violations(a=dtypes.parse("f16"), m=8, n=8, k=4, target=Target.parse("hip:gfx942"))
    assert violation.parameter == "target"


def test_fragments_cover_each_element_once() -> None:
    for bits, m, k in ((16, 16, 8), (16, 16, 16), (32, 16, 8), (8, 16, 32), (4, 16, 64), (1, 16, 256), (64, 16, 16)):
        held = [
            element
            for lane in range(32)
            for register in range(fragment.registers(m, k, bits))
            for element in fragment.operand_a(lane, register, m, bits)
        ]
        assert sorted(held) == [(row, column) for row in range(m) for column in range(k)]
        held = [
            element
            for lane in range(32)
            for register in range(fragment.registers(k, 8, bits))
            for element in fragment.operand_b(lane, register, bits)
        ]
        assert sorted(held) == [(row, column) for row in range(k) for column in range(8)]
    held = [fragment.accumulator(lane, value) for lane in range(32) for value in range(4)]
    assert sorted(held) == [(row, column) for row in range(16) for column in range(8)]


KERNEL = """
import triton
import triton.language as tl

@triton.jit
def matmul(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, ACC: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    sums = tl.zeros((M, N), dtype=ACC)
    for k in range(0, K, STEP):
        x = tl.load(a + rows[:, None] * 1024 + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * 1024 + columns[None, :])
        sums = tl.dot(x, y, sums, out_dtype=ACC)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)
"""
TRITON = {
    "f16": ("*fp16", "fp32"),
    "bf16": ("*bf16", "fp32"),
    "tf32": ("*fp32", "fp32"),
    "f64": ("*fp64", "fp64"),
    "s8": ("*i8", "i32"),
    "e4m3": ("*fp8e4nv", "fp32"),
    "e5m2": ("*fp8e5", "fp32"),
}


def compiled_instructions(names: Iterable[str], capability: int) -> dict[str, set[str]]:
    """The shapes and operand types of ``mma.sync`` in what Triton makes of a matmul, by type."""
    asked = list(names)
    cases = []
    for name in asked:
        pointer, accumulator = TRITON[name]
        element = {"fp32": "float32", "fp64": "float64", "i32": "int32"}[accumulator]
        cases.append(
            {
                "kernel": "matmul",
                "capability": capability,
                "types": {"a": pointer, "b": pointer, "c": f"*{accumulator}", "K": "i32"},
                "divisible": {"a": 16, "b": 16, "c": 16, "K": 16},
                # M of 32 is too small for wgmma and tcgen05.
                "constants": {"M": 32, "N": 32, "STEP": 32, "ACC": f"dtype:{element}"},
            }
        )
    answers = compile_all(KERNEL, cases)
    found = {}
    for name, answer in zip(asked, answers, strict=True):
        written = answer.get("ptx", "")
        instructions = set(re.findall(r"mma\.sync\.aligned\.(m\d+n\d+k\d+)\.\S*?\.(\w+)\.\w+\.\w+ *\n? *\{", written))
        found[name] = {f"{shape} {operand}" for shape, operand in instructions}
    return found


def expected_instructions(name: str, capability: int) -> set[str]:
    choice = triton.chosen(name, Target("cuda", str(capability)))
    return set() if choice is None else {f"m{choice.m}n{choice.n}k{choice.k} {choice.operand}"}


@pytest.mark.slow
@pytest.mark.parametrize("capability", [75, 80, 86, 89, 90, 100, 120])
def test_triton_takes_what_is_said(capability: int) -> None:
    for name, found in compiled_instructions(TRITON, capability).items():
        assert found == expected_instructions(name, capability), name


def test_triton_takes_what_is_said_on_ampere() -> None:
    for name, found in compiled_instructions(("f16", "s8"), 80).items():
        assert found == expected_instructions(name, 80), name
