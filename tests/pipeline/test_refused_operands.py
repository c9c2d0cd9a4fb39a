"""What a report says of an operation that the front end refused: its operands, and the arithmetic of its sizes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from triage.model.case import Case, frozen
from triage.model.target import Target
from triage.pipeline import Options, Session

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def dot(A, B, C, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr, ACC: tl.constexpr):
    k = tl.arange(0, BLOCK_K)
    a = tl.load(A + tl.arange(0, M)[:, None] * BLOCK_K + k[None, :])
    b = tl.load(B + k[:, None] * N + tl.arange(0, N)[None, :])
    acc = tl.dot(a, b, tl.zeros((M, N), ACC))
    tl.store(C + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], acc)


@triton.jit
def descriptor(A, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    made = tl.make_tensor_descriptor(A, shape=[128, 128], strides=[128, 1], block_shape=[BLOCK_M, BLOCK_K])
    made.store([0, 0], made.load([0, 0]) + 1)
"""


OLDER = [pytest.param(release, marks=pytest.mark.slow) for release in ("3.1.0", "3.4.0")]


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "kernels.py").write_text(KERNELS)
    return Case(
        folder=tmp_path,
        file="kernels.py",
        name="dot",
        signature=frozen({"A": "*fp16", "B": "*fp16", "C": "*fp32"}),
        constexprs=frozen({"M": 64, "N": 32, "BLOCK_K": 8, "ACC": "tl.float32"}),
        target=Target("cuda", "90"),
    )


def notes(case: Case, release: str) -> tuple[str, ...]:
    with Session(Options(suggest=False, triton=release)) as session:
        diagnosis = session.check(case).diagnosis
    assert diagnosis is not None
    return diagnosis.notes


@pytest.mark.parametrize("release", [*OLDER, "3.9.0"])
def test_a_tile_that_is_too_small(case: Case, release: str) -> None:
    operands, sizes, _, command = notes(case, release)
    assert operands.startswith("operands of dot: lhs fp16 [64, 8], rhs fp16 [8, 32], acc fp32 [64, 32]")
    assert sizes == "tl.dot of M = 64, N = 32, K = 8 (BLOCK_K)"
    shown = f"--m 64 --n 32 --k 8 --a f16 --acc f32 --target cuda:90 --triton {release}"
    assert command == f"explained by: triage explain dot {shown}"


@pytest.mark.parametrize("release", [*OLDER, "3.2.0"])
def test_an_assertion_without_words(case: Case, release: str) -> None:
    integers = replace(
        case,
        signature=frozen({"A": "*i8", "B": "*i8", "C": "*fp32"}),
        constexprs=frozen({**case.constexprs, "BLOCK_K": 64}),
    )
    operands, reason, _ = notes(integers, release)
    assert "lhs int8 [64, 64], rhs int8 [64, 32], acc fp32 [64, 32]" in operands
    assert "ret_ty int32 [64, 32]" in operands
    assert "accumulates in s32, not in f32" in reason


@pytest.mark.parametrize("release", [OLDER[1], "3.9.0"])
def test_a_row_of_a_descriptor(case: Case, release: str) -> None:
    rows = replace(
        case, name="descriptor", signature=frozen({"A": "*fp16"}), constexprs=frozen({"BLOCK_M": 64, "BLOCK_K": 4})
    )
    operands, row, command = notes(rows, release)
    assert operands == "operands of make_tensor_descriptor: base pointer<fp16>, block_shape [64, 4]"
    assert row.startswith("a row of the block is 4 (BLOCK_K) x 16 bits of f16 = 8 B")
    assert command == "explained by: triage explain tma --dtype f16 --box 64x4"


def test_values_are_not_reported(case: Case) -> None:
    """Of the kernel's own arguments only types and shapes."""
    assert not any("tl.float32" in note or "BLOCK_K = " in note for note in notes(case, "3.9.0"))
