"""From tiles to matrix instructions, against the assembly that Triton makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import frontend
import pytest

from triage.harness.toolchains import Toolchain
from triage.legality import dtypes
from triage.legality.amd import tile
from triage.model.target import Target

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def tile(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, input_precision=P))
"""
TYPES = {
    "hip:gfx90a": ("fp16", "bf16", "fp32", "fp64", "i8", "fp8e5"),
    "hip:gfx942": ("fp16", "bf16", "fp32", "tf32", "fp64", "i8", "fp8e4b8", "fp8e4nv"),
    "hip:gfx950": ("fp16", "bf16", "fp32", "fp64", "i8", "fp8e4nv", "fp8e4b8"),
    "hip:gfx1100": ("fp16", "bf16", "fp32", "i8", "fp8e4nv"),
    "hip:gfx1200": ("fp16", "bf16", "fp32", "i8", "fp8e4nv", "fp8e4b8"),
}
SIDES = ((64, 64), (32, 32), (16, 16), (64, 16), (8, 64), (64, 4), (8, 8))
Tile = tuple[str, str, int, int, int, int]


def tiles() -> Iterator[Tile]:
    for target, names in TYPES.items():
        for name, (m, n), k in product(names, SIDES, (8, 16, 32, 64)):
            # Multiply-adds of a large tile take minutes to compile.
            if name == "fp32" and target.startswith("hip:gfx1") and m * n * k > 16384:
                continue
            yield target, name, m, n, k, 0
            if (m, n) == (64, 64) and target.startswith("hip:gfx9"):
                yield target, name, m, n, k, 16
                yield target, name, m, n, k, 32


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("step", [307, pytest.param(1, marks=pytest.mark.slow)])
def test_the_instruction_is_the_one_in_the_assembly(release: Callable[[str], Toolchain], step: int) -> None:
    listed = list(tiles())[::step]
    cases = []
    for target, name, m, n, k, nonkdim in listed:
        element = "fp32" if name == "tf32" else name
        result = {"i8": "i32", "fp64": "fp64"}.get(name, "fp32")
        cases.append(
            {
                "kernel": "tile",
                "target": target,
                "types": {"a_ptr": f"*{element}", "b_ptr": f"*{element}", "c_ptr": f"*{result}"},
                "constants": {"M": m, "N": n, "K": k, "P": "tf32" if name == "tf32" else "ieee"},
                "options": {"matrix_instr_nonkdim": nonkdim} if nonkdim else {},
            }
        )
    answers = frontend.answers(KERNEL, cases, release("newest").python, whole=True)
    differ = []
    for (target, name, m, n, k, nonkdim), answer in zip(listed, answers, strict=True):
        row = tile.chosen(m=m, n=n, k=k, a=dtypes.parse(name), target=Target.parse(target), nonkdim=nonkdim)
        expected = [] if row is None else [row.mnemonic]
        if (answer["error"], answer["matrix"]) != (None, expected):
            differ.append((target, name, m, n, k, nonkdim, answer, expected))
    assert differ == []
