"""Drafted CuTe cases, compiled: what is refused is corrected, or said."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from commands import Triage
from cute_environments import NEWEST_CUTE

HEAD = """
import cutlass
import cutlass.cute as cute
"""
ADD = """
@cute.kernel
def add_one(a: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    if tidx < n:
        a[tidx] = a[tidx] + 1

@cute.jit
def host(a: cute.Tensor, n: cutlass.Int32, THREADS: cutlass.Constexpr):
    add_one(a, n).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))
"""
LAUNCHED = """
import torch
from cutlass.cute.runtime import from_dlpack

class Scale:
    def __init__(self, factor: float, threads: int = 128):
        self.factor, self.threads = factor, threads

    @cute.jit
    def __call__(self, a: cute.Tensor):
        self.scale(a).launch(grid=(1, 1, 1), block=(self.threads, 1, 1))

    @cute.kernel
    def scale(self, a: cute.Tensor):
        tidx, _, _ = cute.arch.thread_idx()
        a[tidx, 0] = a[tidx, 0] * self.factor

if __name__ == "__main__":
    for threads in (64, 128):
        cute.compile(Scale(0.5, threads), from_dlpack(torch.ones(128, 4, device="cuda")))
"""
EARLY = """
@cute.kernel
def early(a: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    if tidx > n:
        return
    a[tidx] = 1.0

@cute.jit
def leaves(a: cute.Tensor, n: cutlass.Int32):
    early(a, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
"""
TRITON = """
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
"""


@pytest.mark.slow
def test_a_folder_with_kernels_of_both_languages(cute: Triage, tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text(HEAD + dedent(ADD))
    (tmp_path / "scale.py").write_text(HEAD + dedent(LAUNCHED))
    (tmp_path / "early.py").write_text(HEAD + dedent(EARLY))
    (tmp_path / "copy.py").write_text(dedent(TRITON))
    done = cute("check", tmp_path, "--cute", NEWEST_CUTE)
    assert done.code == 1, done.err
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.startswith("  ")}
    assert rows["host"] == ["·", "compiles"]
    assert rows["Scale"] == ["·", "compiles"]
    assert rows["leaves"] == ["·", "fails", "A"]
    assert rows["copy"][0] == "compiles"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--const", "threads=32")])
def test_the_configurations_of_a_class(cute: Triage, tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / "scale.py").write_text(HEAD + dedent(LAUNCHED))
    done = cute("draft", f"{tmp_path}/scale.py::Scale", *flags, "--cute", NEWEST_CUTE)
    assert done.code == 0, done.err
    assert ("Scale[threads=64]" in done.out) is not bool(flags)
    assert "tensor<f32, (128,4):(4,1), align=4>, launch" in done.out
    assert "fails" not in done.out


def test_a_guess_that_is_refused_is_corrected(cute: Triage, tmp_path: Path) -> None:
    (tmp_path / "bits.py").write_text(
        HEAD
        + dedent(
            """
            @cute.kernel
            def bits(a: cute.Tensor):
                tidx, _, _ = cute.arch.thread_idx()
                mask = a[tidx]
                a[tidx] = mask & 1

            @cute.jit
            def host(a: cute.Tensor):
                bits(a).launch(grid=(1, 1, 1), block=(32, 1, 1))
            """
        )
    )
    done = cute("draft", f"{tmp_path}/bits.py::host", "--cute", NEWEST_CUTE)
    assert (done.code, "refused" in done.out) == (0, False), done.out
    assert "a: tensor<i32, (1024):(1), align=16>" in done.out


def test_a_function_of_operators_is_a_constant(cute: Triage, tmp_path: Path) -> None:
    (tmp_path / "apply.py").write_text(
        HEAD
        + dedent(
            """
            import operator
            import torch

            @cute.kernel
            def apply(a: cute.Tensor, op: cutlass.Constexpr):
                a[0] = op(a[0], a[1])

            @cute.jit
            def host(a: cute.Tensor, op: cutlass.Constexpr):
                apply(a, op).launch(grid=(1, 1, 1), block=(1, 1, 1))

            host(torch.empty(2, device="cuda"), operator.mul)
            """
        )
    )
    done = cute("check", f"{tmp_path}/apply.py::host", "--cute", NEWEST_CUTE)
    assert done.code == 0, done.out
    assert "--const op=operator.mul" in done.err
