"""Tests that use ``compile_matrix``; copied into a folder of its own by its test."""

import os
from pathlib import Path

import pytest
import triton
import triton.language as tl
from toolbox import scaled

from triage.integrations import DoesNotCompile

TYPES = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "K": "i32"}
REPRODUCERS = Path(os.environ["WORKER"]).parents[2] / "reproducers"


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=8)], key=["K"])
@triton.heuristics({"EVEN": lambda arguments: True})
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    m, n, k = tl.arange(0, BLOCK), tl.arange(0, 16), tl.arange(0, 16)
    sums = tl.zeros((BLOCK, 16), tl.float32)
    for start in range(0, K, 16):
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * 16 + n[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + m[:, None] * 16 + n[None, :], scaled(sums).to(tl.float16))


@triton.jit
def twice(x):
    return x * 2


@triton.jit
def ones(x_ptr, N: tl.constexpr, TYPE: tl.constexpr = tl.float32):
    tl.store(x_ptr + tl.arange(0, N), tl.full((N,), 1, TYPE))


@pytest.mark.compile_matrix(targets=["cuda:80", "cuda:90"])
@pytest.mark.parametrize("config", matmul.configs, ids=lambda config: str(config.kwargs["BLOCK"]))
def test_tensor_cores(compile_matrix, config):
    built = compile_matrix(matmul, signature=TYPES, constexprs={"EVEN": True}, config=config)
    assert built.target == compile_matrix.target
    assert built.resources.tensor_core == {"cuda:80": "mma.sync", "cuda:90": "wgmma"}[built.target]
    assert built.resources.threads == 32 * config.num_warps
    assert built.resources.spill_bytes == 0


@pytest.mark.compile_matrix("hip:gfx942")
def test_values(compile_matrix):
    built = compile_matrix(ones, signature={"x_ptr": "*fp16"}, constexprs={"N": 64, "TYPE": tl.float16})
    assert built.triton == triton.__version__


@pytest.mark.compile_matrix("cuda:90")
def test_in_a_function(compile_matrix):
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl

    factor = tl.constexpr(3)

    @gluon.jit
    def kernel(x_ptr, LAYOUT: gl.constexpr, FUNCTION: gl.constexpr):
        offsets = gl.arange(0, 128, layout=LAYOUT)
        gl.store(x_ptr + offsets, FUNCTION(gl.load(x_ptr + offsets)) * factor)

    layout = gl.BlockedLayout([1], [32], [4], [0])
    built = compile_matrix(kernel, signature={"x_ptr": "*fp32"}, constexprs={"LAYOUT": layout, "FUNCTION": twice})
    assert built.resources.shared_bytes == 0


@pytest.mark.compile_matrix("cuda:90")
def test_bad(compile_matrix):
    compile_matrix(ones, signature={"x_ptr": "*fp32"}, constexprs={"N": 3})


@pytest.mark.compile_matrix("cuda:90")
def test_abort(compile_matrix):
    compile_matrix(REPRODUCERS / "asm-operand-number")


@pytest.mark.xfail(raises=DoesNotCompile, strict=True)
@pytest.mark.compile_matrix("cuda:90")
def test_known(compile_matrix):
    compile_matrix(ones, signature={"x_ptr": "*fp32"}, constexprs={"N": 3})


@pytest.mark.compile_matrix("cuda:90")
def test_file(compile_matrix):
    file = "beside.py::fill"
    assert compile_matrix(file, signature={"x_ptr": "*fp32"}, constexprs={"N": 16}, num_warps=1).resources.threads == 32


@pytest.mark.compile_matrix("cuda:90")
@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (print, {}),
        (ones, {"signature": {"x_ptr": "*fp32"}}),
        (ones, {"signature": {"x_ptr": "float*"}, "constexprs": {"N": 16}}),
        (ones, {"signature": {"x_ptr": "*fp32"}, "constexprs": {"N": 16}, "num_warps": 3}),
        ("nowhere.py::kernel", {}),
    ],
    ids=["function", "missing", "type", "option", "file"],
)
def test_misfit(compile_matrix, kernel, given):
    compile_matrix(kernel, **given)


@pytest.mark.compile_matrix("cuda:90", timeout=0.02)
def test_time(compile_matrix):
    compile_matrix(matmul, signature=TYPES, constexprs={"EVEN": True, "BLOCK": 128})


def cannot_install(patch, folder):
    """No Triton but the one that is there, from here on."""
    for name in ("UV_OFFLINE", "PIP_NO_INDEX"):
        patch.setenv(name, "1")
    patch.setenv("UV_CACHE_DIR", str(folder))


@pytest.mark.xfail(strict=True)
@pytest.mark.compile_matrix("cuda:90", "3.1.0")
def test_untold(compile_matrix, monkeypatch, tmp_path):
    cannot_install(monkeypatch, tmp_path)
    compile_matrix(ones, signature={"x_ptr": "*fp32"}, constexprs={"N": 16})


@pytest.mark.compile_matrix("cuda:90", "3.1.0", undecided="fail")
def test_untold_fails(compile_matrix, monkeypatch, tmp_path):
    cannot_install(monkeypatch, tmp_path)
    compile_matrix(ones, signature={"x_ptr": "*fp32"}, constexprs={"N": 16})


if os.environ.get("RELEASES"):

    @pytest.mark.compile_matrix(targets=["cuda:90"], triton=os.environ["RELEASES"].split())
    def test_releases(compile_matrix):
        compile_matrix(REPRODUCERS / "wgmma-tf32-mn-major")

    @pytest.mark.compile_matrix("cuda:90", "3.2.0")
    def test_lacks(compile_matrix):
        compile_matrix(REPRODUCERS / "gluon-mma-v2-fp64-accumulator")

    @pytest.mark.compile_matrix("cuda:90", "3.99.0")
    def test_never_released(compile_matrix):
        compile_matrix(ones, signature={"x_ptr": "*fp32"}, constexprs={"N": 16})
