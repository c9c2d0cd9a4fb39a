"""Vector copies: the widths against the assemblers, and Triton's loads and cp.async against what is predicted."""

from __future__ import annotations

import re
from itertools import product

import pytest
from compiled import compile_all
from hypothesis import given
from hypothesis import strategies as st
from ptx_assembler import errors

from triage.legality import dtypes, vector_copy
from triage.legality.vector_copy import CopySide
from triage.model.errors import InputError
from triage.model.target import Target

A100 = Target("cuda", "80")
DECLARATIONS = ".reg .b64 a; .reg .b32 s; .reg .b16 h<16>; .reg .b32 r<16>; .reg .b64 d<16>; .reg .b128 q<8>;"
REGISTERS = {"b8": ("h", 8), "b16": ("h", 16), "b32": ("r", 32), "b64": ("d", 64), "b128": ("q", 128)}


@pytest.mark.parametrize("capability", [70, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121])
def test_widths_of_loads_and_stores(capability: int) -> None:
    asked = [
        (instruction, space, vector, word)
        for instruction, space, vector, word in product(("ld", "st"), ("global", "shared"), (1, 2, 3, 4, 8), REGISTERS)
        # Eight elements of less than 32 bits are undocumented: taken, or the end of the assembler.
        if not (vector == 8 and REGISTERS[word][1] < 32)
    ]
    lines = []
    for instruction, space, vector, word in asked:
        register, _ = REGISTERS[word]
        many = "{" + ", ".join(f"{register}{place % 8}" for place in range(vector)) + "}"
        value = f"{register}0" if vector == 1 else many
        address = "[a]" if space == "global" else "[s]"
        operands = f"{value}, {address}" if instruction == "ld" else f"{address}, {value}"
        lines.append(f"{instruction}.{space}{'' if vector == 1 else f'.v{vector}'}.{word} {operands};")
    refused = errors(lines, DECLARATIONS, capability)
    target = Target("cuda", str(capability))
    for place, (instruction, space, vector, word) in enumerate(asked):
        bits = vector * REGISTERS[word][1]
        legal = (
            bits in vector_copy.widths(target, shared=space == "shared")
            and vector != 3
            and not (vector > 1 and word == "b128")
        )
        assert legal == (place not in refused), (instruction, space, vector, word, refused.get(place))


def row_major(divisible: int = 16, stride: int | None = 64) -> CopySide:
    return CopySide((64, 64), (stride, 1), divisible)


def column_major(divisible: int = 16) -> CopySide:
    return CopySide((64, 64), (1, 64), divisible)


@pytest.mark.parametrize(
    ("name", "source", "destination", "registers", "asynchronous"),
    [
        ("bf16", row_major(), row_major(), 128, 128),
        ("bf16", row_major(), column_major(), 16, 0),
        ("f32", row_major(), column_major(), 32, 32),
        ("s8", row_major(), column_major(), 8, 0),
        ("f64", row_major(), column_major(), 64, 64),
        ("bf16", row_major(divisible=4), row_major(), 32, 32),
        ("bf16", row_major(divisible=2), row_major(), 16, 0),
        ("bf16", row_major(), row_major(divisible=8), 64, 64),
        ("bf16", row_major(stride=100), row_major(), 64, 64),
        ("bf16", row_major(stride=None), row_major(), 16, 0),
        ("f32", row_major(stride=None), row_major(), 32, 32),
        ("bf16", CopySide((64, 12), (12, 1), 16), CopySide((64, 12), (16, 1), 16), 64, 64),
        ("bf16", CopySide((32, 2), (2, 1), 16), CopySide((32, 2), (2, 1), 16), 128, 128),
        ("bf16", CopySide((32, 2), (2, 1), 16), CopySide((32, 2), (8, 1), 16), 32, 32),
        ("bf16", CopySide((64,), (1,), 16), CopySide((64,), (2,), 16), 16, 0),
    ],
)
def test_the_widest_copy(name: str, source: CopySide, destination: CopySide, registers: int, asynchronous: int) -> None:
    dtype = dtypes.parse(name)
    for wanted, is_async in ((registers, False), (asynchronous, True)):
        args = {"dtype": dtype, "source": source, "destination": destination, "asynchronous": is_async, "target": A100}
        assert vector_copy.widest(**args) == wanted
        for bits in (8, 16, 24, 32, 64, 128, 256):
            found = vector_copy.violations(bits=bits, **args)
            legal = bits in vector_copy.widths(A100, is_async) and dtype.bits <= bits <= wanted
            assert (found == []) == legal, (bits, found)
            assert all(bits not in violation.allowed for violation in found)


def test_the_transposed_bf16_tile() -> None:
    """A 128-bit copy is rejected, 16 bits are not; cp.async takes neither."""
    args = {
        "dtype": dtypes.parse("bf16"),
        "source": column_major(),
        "destination": row_major(),
        "target": A100,
    }
    [violation] = vector_copy.violations(bits=128, **args)
    assert (violation.rule, violation.allowed) == ("vector-copy.contiguity", (16,))
    assert vector_copy.violations(bits=16, **args) == []
    rules = [one.rule for one in vector_copy.violations(bits=16, asynchronous=True, **args)]
    assert rules == ["vector-copy.width"]


def test_wide_copies_are_for_registers_on_blackwell() -> None:
    args = {"dtype": dtypes.parse("f32"), "source": row_major(32), "destination": row_major(32)}
    assert vector_copy.widest(shared=False, target=Target("cuda", "100"), **args) == 256
    assert vector_copy.widest(shared=True, target=Target("cuda", "100"), **args) == 128
    assert vector_copy.widest(shared=False, target=Target("cuda", "90"), **args) == 128


def test_tiles_must_fit() -> None:
    with pytest.raises(InputError, match="differ in shape"):
        vector_copy.widest(
            dtype=dtypes.parse("f32"), source=CopySide((4,), (1,)), destination=CopySide((8,), (1,)), target=A100
        )


@given(
    st.sampled_from(["s8", "bf16", "f32", "f64"]),
    st.permutations([0, 1]),
    st.permutations([0, 1]),
    st.tuples(st.sampled_from([1, 2, 4, 6, 8, 16]), st.sampled_from([1, 2, 4, 6, 8, 16])),
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.tuples(st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([1, 2, 4, 8, 16])),
)
def test_a_legal_vector_is_whole_and_aligned_in_both(
    name: str,
    source_order: list[int],
    destination_order: list[int],
    shape: tuple[int, int],
    padding: tuple[int, int],
    divisible: tuple[int, int],
) -> None:
    """Against a model: cut the source into vectors, and look where each of their bytes ends up."""
    dtype = dtypes.parse(name)
    size = dtype.bits // 8
    tiles = []
    for order, pad, by in zip((source_order, destination_order), padding, divisible, strict=True):
        strides = [0, 0]
        strides[order[0]] = 1
        strides[order[1]] = shape[order[0]] + pad
        tiles.append(CopySide(shape, tuple(strides), by))
    widest = vector_copy.widest(dtype=dtype, source=tiles[0], destination=tiles[1], target=A100)
    bits = widest if widest else dtype.bits
    for tile, other in (tiles, tiles[::-1]):
        places = {
            tile.divisible + size * sum(i * s for i, s in zip(at, tile.strides, strict=True)):
            other.divisible + size * sum(i * s for i, s in zip(at, other.strides, strict=True))
            for at in product(range(shape[0]), range(shape[1]))
        }  # fmt: skip
        whole = all(
            place + step in places and places[place + step] == there + step
            for place, there in places.items()
            if place % (bits // 8) == 0
            for step in range(0, bits // 8, size)
        )
        assert not widest or whole


COPY = """
import triton
import triton.language as tl

@triton.jit
def copy(a, b, n, SIZE: tl.constexpr, MASKED: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    if MASKED:
        tl.store(b + at, tl.load(a + at, mask=at < n), mask=at < n)
    else:
        tl.store(b + at, tl.load(a + at))

@triton.jit
def matmul(a, b, c, stride_a, stride_b, K, STEP: tl.constexpr, ACC: tl.constexpr, ACROSS: tl.constexpr):
    rows, depth = tl.arange(0, 64), tl.arange(0, STEP)
    sums = tl.zeros((64, 64), dtype=ACC)
    for k in range(0, K, STEP):
        if ACROSS:
            x = tl.load(a + rows[:, None] + (k + depth)[None, :] * stride_a)
            y = tl.load(b + (k + depth)[:, None] + rows[None, :] * stride_b)
        else:
            x = tl.load(a + rows[:, None] * stride_a + (k + depth)[None, :])
            y = tl.load(b + (k + depth)[:, None] * stride_b + rows[None, :])
        sums = tl.dot(x, y, sums, out_dtype=ACC)
    tl.store(c + rows[:, None] * 64 + rows[None, :], sums)
"""
POINTERS = {"s8": "*i8", "bf16": "*bf16", "f32": "*fp32", "f64": "*fp64"}


def moved(ptx: str, instruction: str) -> set[int]:
    """Bits of the loads or stores of global memory in PTX."""
    found = re.findall(rf"\b{instruction}\.global(?:\.v(\d))?\.b(\d+)", ptx)
    return {int(vector or 1) * int(word) for vector, word in found}


def check_copies(cases: list[tuple[str, int, int, bool, int]]) -> None:
    answers = compile_all(
        COPY,
        [
            {
                "kernel": "copy",
                "capability": capability,
                "types": {"a": POINTERS[name], "b": POINTERS[name], "n": "i32"},
                "divisible": {"a": divisible, "b": divisible, "n": 16},
                "constants": {"SIZE": size, "MASKED": masked},
            }
            for name, divisible, size, masked, capability in cases
        ],
    )
    for (name, divisible, size, masked, capability), answer in zip(cases, answers, strict=True):
        dtype = dtypes.parse(name)
        # A pointer is a multiple of its element's size at least.
        tile = CopySide((size,), (1,), max(divisible, dtype.bits // 8))
        # Triton 3.9.0 stays at 128 bits on every target.
        expected = vector_copy.widest(
            dtype=dtype,
            source=tile,
            destination=tile,
            per_thread=size // 128,
            target=Target("cuda", str(capability)),
        )
        found = (moved(answer["ptx"], "ld"), moved(answer["ptx"], "st"))
        assert found == ({expected}, {expected}), (name, divisible, size, masked, capability)


def test_triton_copies_as_wide_as_is_said() -> None:
    check_copies([(name, divisible, 2048, False, 80) for name in ("s8", "bf16") for divisible in (1, 4, 16)])


@pytest.mark.slow
def test_triton_copies_as_wide_as_is_said_everywhere() -> None:
    check_copies(list(product(POINTERS, (1, 2, 4, 8, 16, 32), (128, 256, 1024, 4096), (False, True), (80, 100))))


RESULTS = {
    "s8": ("*i32", "int32"),
    "bf16": ("*fp32", "float32"),
    "f32": ("*fp32", "float32"),
    "f64": ("*fp64", "float64"),
}


def check_matmul(cases: list[tuple[str, bool, int]]) -> None:
    answers = compile_all(
        COPY,
        [
            {
                "kernel": "matmul",
                "capability": 80,
                "types": {
                    "a": POINTERS[name],
                    "b": POINTERS[name],
                    "c": RESULTS[name][0],
                    "stride_a": "i32",
                    "stride_b": "i32",
                    "K": "i32",
                },
                "divisible": {"a": 16, "b": 16, "c": 16, "K": 16, "stride_a": stride, "stride_b": stride},
                "constants": {
                    "STEP": 16 if name == "f64" else 64,
                    "ACC": f"dtype:{RESULTS[name][1]}",
                    "ACROSS": across,
                },
            }
            for name, across, stride in cases
        ],
    )
    for (name, across, stride), answer in zip(cases, answers, strict=True):
        dtype = dtypes.parse(name)
        # The shared tile keeps runs of ``vec`` elements together (swizzling permutes whole runs).
        runs = {int(vec) for vec in re.findall(r"swizzled_shared<\{vec = (\d+)", answer["ttgir"])}
        source = CopySide((64, 64), (None if stride == 1 else stride, 1))
        expected = set()
        for vec in runs:
            in_global = CopySide((64 // vec, vec), (vec, 1), vector_copy.alignment_bits(source, (1,), dtype) // 8)
            in_shared = CopySide((64 // vec, vec), (4096, 1), 16)
            args = {"dtype": dtype, "source": in_global, "destination": in_shared, "target": A100}
            expected.add(vector_copy.widest(asynchronous=True, **args))
        found = {8 * int(size, 16) for size in re.findall(r"cp\.async\.c[ag]\S* .*?\], (0x\w+)", answer["ptx"])}
        assert found == expected - {0}, (name, across, stride, runs)
        if not found:
            # What cp.async cannot copy goes through registers.
            assert max(moved(answer["ptx"], "ld")) < 32


def test_triton_takes_cp_async_where_it_is_said() -> None:
    check_matmul([("bf16", True, stride) for stride in (1, 2, 8)])


@pytest.mark.slow
def test_triton_takes_cp_async_where_it_is_said_everywhere() -> None:
    check_matmul(list(product(POINTERS, (False, True), (1, 2, 4, 8, 16))))
