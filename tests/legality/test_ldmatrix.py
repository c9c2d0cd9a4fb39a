"""ldmatrix and stmatrix against the assemblers, and which operands Triton loads with ldmatrix."""

from __future__ import annotations

import re
from itertools import product

import pytest
from compiled import compile_all
from ptx_assembler import errors
from rows import one_in

from triage.legality import ldmatrix
from triage.model.target import Target

DECLARATIONS = ".reg .b32 r<8>; .reg .b32 s;"
SHAPES = ["m8n8", "m8n16", "m16n8", "m16n16", "m16n32", "m32n8"]
TYPES = ["b8", "b16", "b32", "b8x16.b6x16_p32", "b8x16.b4x16_p64"]
COUNTS = (0, 1, 2, 3, 4, 8, 16)
TARGETS = (75, 80, 86, 89, 90, 100, 120)
OTHERS = (70, 72, 87, 103, 110, 121)


def ptx(instruction: str, shape: str, count: int, trans: bool, dtype: str, registers: int) -> str:
    name = f"{instruction}.sync.aligned.{shape}.x{count}{'.trans' if trans else ''}.shared.{dtype}"
    vector = "{" + ", ".join(f"r{place}" for place in range(registers)) + "}"
    return f"{name} {vector}, [s];" if instruction == "ldmatrix" else f"{name} [s], {vector};"


@pytest.mark.parametrize("capability", one_in(2, [*TARGETS, *OTHERS]))
@pytest.mark.parametrize("instruction", ["ldmatrix", "stmatrix"])
def test_every_combination(instruction: str, capability: int) -> None:
    target = Target("cuda", str(capability))
    asked = list(product(SHAPES, COUNTS, (False, True), TYPES))
    lines, owner = [], []
    for place, (shape, count, trans, dtype) in enumerate(asked):
        # The right number of registers is not known of what is illegal: none may make it legal. Counts of 8 and more,
        # modifiers of other instructions, are taken with any number of registers but one that could hold the matrices.
        for registers in (1, 2, 4) if count < 8 else (8,):
            lines.append(ptx(instruction, shape, count, trans, dtype, registers))
            owner.append((place, registers))
    refused = errors(lines, DECLARATIONS, capability)
    taken: dict[int, set[int]] = {}
    for line, (place, registers) in enumerate(owner):
        if line not in refused:
            taken.setdefault(place, set()).add(registers)
    for place, (shape, count, trans, dtype) in enumerate(asked):
        found = ldmatrix.violations(
            instruction=instruction, shape=shape, count=count, trans=trans, dtype=dtype, target=target
        )
        form = next((one for one in ldmatrix.FORMS[instruction] if one.shape == shape), None)
        expected = {count * form.registers} if form and not found else set()
        assert taken.get(place, set()) == expected, (shape, count, trans, dtype, found)


def test_what_is_wrong_is_named() -> None:
    [violation] = ldmatrix.violations(alignment=8, target=Target("cuda", "80"))
    assert (violation.rule, violation.allowed) == ("ldmatrix.alignment", (16,))
    [violation] = ldmatrix.violations(count=3, target=Target("cuda", "80"))
    assert (violation.parameter, violation.allowed, violation.nearest) == ("count", (1, 2, 4), (4, 2))
    [violation] = ldmatrix.violations(instruction="stmatrix", target=Target("cuda", "80"))
    assert (violation.rule, violation.nearest) == ("stmatrix.target", ("cuda:90",))
    [violation] = ldmatrix.violations(shape="m16n16", dtype="b8", target=Target("cuda", "90"))
    assert (violation.parameter, violation.allowed) == ("shape", ())
    [violation] = ldmatrix.violations(shape="m16n16", dtype="b8", target=Target("cuda", "100"))
    assert (violation.parameter, violation.allowed) == ("trans", (True,))


def test_fragments_cover_a_matrix() -> None:
    for trans in (False, True):
        held = [element for lane in range(32) for element in ldmatrix.element_m8n8(lane, trans)]
        assert sorted(held) == [(row, column) for row in range(8) for column in range(8)]
    assert {ldmatrix.provider("m8n8", matrix, row) for matrix in range(4) for row in range(8)} == set(range(32))
    assert {ldmatrix.provider("m16n16", matrix, row) for matrix in range(2) for row in range(16)} == set(range(32))


KERNEL = """
import triton
import triton.language as tl

@triton.jit
def matmul(a, b, c, K, M: tl.constexpr, STEP: tl.constexpr, ACC: tl.constexpr, ACROSS: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, M), tl.arange(0, STEP)
    sums = tl.zeros((M, M), dtype=ACC)
    for k in range(0, K, STEP):
        if ACROSS:
            x = tl.load(a + rows[:, None] + (k + depth)[None, :] * 1024)
            y = tl.load(b + (k + depth)[:, None] * 1024 + columns[None, :])
        else:
            x = tl.load(a + rows[:, None] * 1024 + (k + depth)[None, :])
            y = tl.load(b + (k + depth)[:, None] + columns[None, :] * 1024)
        sums = tl.dot(x, y, sums, out_dtype=ACC)
    tl.store(c + rows[:, None] * M + columns[None, :], sums)
"""
ELEMENTS = {"*fp16": (16, "float32"), "*fp32": (32, "float32"), "*i8": (8, "int32"), "*fp64": (64, "float64")}


@pytest.mark.slow
def test_triton_loads_operands_with_it_where_it_can() -> None:
    asked = list(product(ELEMENTS, (False, True), (80, 90, 100, 120)))
    results = {"float32": "*fp32", "int32": "*i32", "float64": "*fp64"}
    cases = [
        {
            "kernel": "matmul",
            "capability": capability,
            "types": {"a": pointer, "b": pointer, "c": results[ELEMENTS[pointer][1]], "K": "i32"},
            "divisible": {"a": 16, "b": 16, "c": 16, "K": 16},
            "constants": {"M": 32, "STEP": 32, "ACC": f"dtype:{ELEMENTS[pointer][1]}", "ACROSS": across},
        }
        for pointer, across, capability in asked
    ]
    for (pointer, across, capability), answer in zip(asked, compile_all(KERNEL, cases), strict=True):
        if "mma.sync" not in answer["ptx"]:
            continue
        bits = ELEMENTS[pointer][0]
        found = set(re.findall(r"ldmatrix\.sync\.aligned\.m\w+\.x\d(\.trans)?", answer["ptx"]))
        # Without ldmatrix the accumulators may still come back through it after a change of layout, untransposed.
        loads = ldmatrix.loads_operand(bits, across, Target("cuda", str(capability)))
        operands = ".trans" if across else ""
        assert (operands in found) == loads, (pointer, across, capability, found)
