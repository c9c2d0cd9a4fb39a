"""A suite of twenty tests, of which three compile what ends the process: copied into a folder of its own by its test.

ABORTS in the environment names the three: a reproducer's folder, or ``strike:HOW``. WORKER is the folder of triage's
worker, whose adapter makes what ``triton.compile`` takes on any release.
"""

import os
from pathlib import Path

import compile_cases
import pytest
import toolbox
import triton
import triton.language as tl

ABORTS = os.environ["ABORTS"].split()
compile_cases.worker_package(os.environ["WORKER"])
toolbox.launches_nothing()  # up to 3.2 an autotuner asks for the driver when it is made


@triton.jit
def kernel(x_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    toolbox.strike(HOW)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + 1)


@triton.autotune([triton.Config({"BLOCK": block}) for block in (32, 64)], key=["n"])
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


@pytest.fixture(autouse=True)
def device(tmp_path, monkeypatch):
    """A GPU that is none, and a cache for each test, as Triton's own tests have it."""
    toolbox.launches_nothing()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


def end(what):
    how = what.partition("strike:")[2]
    if how:
        kernel[(1,)](toolbox.Tensor(), how, 64)
    else:
        compile_cases.compile_case(Path(what))


@pytest.mark.parametrize("n", range(3))
def test_host(n):
    assert n < 3


def test_first():
    end(ABORTS[0])


@pytest.mark.parametrize("block", [16, 32, 64, 128])
def test_launched(block):
    kernel[(1,)](toolbox.Tensor(), None, block)


def test_second():
    end(ABORTS[1])


@pytest.mark.parametrize("block", [16, 32, 64, 128])
def test_warmed_up(block):
    kernel.warmup(toolbox.Tensor(), None, block, grid=(1,), num_warps=2)


@pytest.mark.parametrize("n", [100, 1000])
def test_tuned(n):
    tuned[(1,)](toolbox.Tensor(), n)
    assert tuned.best_config.kwargs["BLOCK"] in (32, 64)


def test_third():
    end(ABORTS[2])


@pytest.mark.parametrize("n", range(4))
def test_with_nothing_to_compile(n):
    assert kernel.fn.__name__ == "kernel"
