"""Layouts as text: parsed without being evaluated, printed back the same, and made to fit a configuration."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model.case import Case
from triage.model.target import Target
from triage.source import parameters as kernel_source
from triage.suggest.configuration import Configuration
from triage.suggest.layout_fit import fit, refit
from triage.suggest.layout_text import parse

SPELLED = [
    "gl.NVMMASharedLayout(128, 16, 2)",
    "gl.NVMMASharedLayout(128, 16, rank=2, transposed=True)",
    "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])",
    "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])",
    "gl.nvidia.blackwell.TensorMemoryLayout((128, 128), 1)",
    "gl.amd.AMDMFMALayout(3, [32, 32, 8], True, [4, 1])",
    "gl.SliceLayout(1, gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))",
    "gl.DotOperandLayout(0, gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]), k_width=2)",
    "gl.PaddedSharedLayout.with_identity_for([[64, 8]], [64, 64], [1, 0])",
    "gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)",
    "gl.AutoLayout()",
]


@pytest.mark.parametrize("text", SPELLED)
def test_printed_as_it_was_written(text: str) -> None:
    layout = parse(text)
    assert layout is not None
    assert str(layout) == text


@pytest.mark.parametrize("text", ["", "none", "tl.float16", "__import__('os').getcwd()", "f(1)", "gl.X(", 4, None])
def test_not_a_layout(text: object) -> None:
    assert parse(text) is None


@given(st.text(max_size=40))
def test_any_text_is_survived(text: str) -> None:
    parse(text)
    parse(f"gl.BlockedLayout({text})")


KERNEL = """
def gemm(a_ptr, M, N, K, LOAD, SMEM_A, ACC, TMEM, REG):
    am = gl.arange(0, M, layout=gl.SliceLayout(1, LOAD))
    ak = gl.arange(0, K, layout=gl.SliceLayout(0, LOAD))
    a = gl.load(a_ptr + am[:, None] * K + ak[None, :])
    smem_a = gl.allocate_shared_memory(a.dtype, [M, K], SMEM_A, a)
    acc = gl.zeros([M, N], gl.float32, layout=ACC)
    t = allocate_tensor_memory(gl.float32, [M, N], TMEM)
    r = gl.arange(0, M, layout=gl.SliceLayout(1, REG))
    s = gl.arange(0, N, layout=gl.SliceLayout(0, REG))
"""


def configuration(target: str = "cuda:90", warps: int = 4, type_: str = "*fp16", **constexprs: object) -> Configuration:
    case = Case(
        Path(),
        "k.py",
        "gemm",
        {"a_ptr": type_},
        {"M": 128, "N": 128, "K": 64, **constexprs},
        target=Target.parse(target),
        options={"num_warps": warps},
    )
    return Configuration.of(case, kernel_source.read(KERNEL, "gemm"))


@pytest.mark.parametrize(
    ("name", "given", "at", "fitted"),
    [
        ("SMEM_A", "gl.NVMMASharedLayout(0, 16, 2)", {}, "gl.NVMMASharedLayout(128, 16, 2)"),
        ("SMEM_A", "gl.NVMMASharedLayout(128, 16, 2)", {"K": 16}, "gl.NVMMASharedLayout(32, 16, 2)"),
        ("SMEM_A", "gl.NVMMASharedLayout(128, 16, 2)", {"K": 8}, "gl.NVMMASharedLayout(0, 16, 2)"),
        ("SMEM_A", "gl.NVMMASharedLayout(128, 16, 2)", {"type_": "*fp32"}, "gl.NVMMASharedLayout(128, 32, 2)"),
        (
            "ACC",
            "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 8])",
            {},
            "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])",
        ),
        (
            "ACC",
            "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 256, 16])",
            {"warps": 8, "type_": "*fp8e5"},
            "gl.NVMMADistributedLayout([3, 0], [8, 1], [16, 128, 32])",
        ),
        (
            "LOAD",
            "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])",
            {"warps": 8, "target": "hip:gfx942"},
            "gl.BlockedLayout([1, 8], [8, 8], [8, 1], [1, 0])",
        ),
        (
            "TMEM",
            "gl.nvidia.blackwell.TensorMemoryLayout((128, 512), 1)",
            {"N": 512},
            "gl.nvidia.blackwell.TensorMemoryLayout((128, 256), 1)",
        ),
        (
            "REG",
            "gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])",
            {"N": 64, "TMEM": "gl.nvidia.blackwell.TensorMemoryLayout((128, 64), 1)"},
            "gl.BlockedLayout([1, 64], [32, 1], [4, 1], [0, 1])",
        ),
        (
            "REG",
            "gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])",
            {"M": 64, "TMEM": "gl.nvidia.blackwell.TensorMemoryLayout((64, 128), 1)"},
            "gl.BlockedLayout([1, 64], [16, 2], [4, 1], [0, 1])",
        ),
    ],
)
def test_fit(name: str, given: str, at: dict[str, object], fitted: str) -> None:
    layout = parse(given)
    assert layout is not None
    found = fit(name, layout, configuration(**at))  # type: ignore[arg-type]
    assert str(found) == fitted
    assert str(fit(name, found, configuration(**at))) == fitted, "what fits is left alone"  # type: ignore[arg-type]


def test_refit_moves_only_what_a_change_unsettles() -> None:
    odd = "gl.NVMMASharedLayout(32, 16, 2)"
    load = "gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
    before, after = configuration(SMEM_A=odd, LOAD=load), configuration(SMEM_A=odd, LOAD=load, warps=8)
    assert refit({"num_warps": 8}, before, after) == {
        "num_warps": 8,
        "LOAD": "gl.BlockedLayout([1, 8], [4, 8], [8, 1], [1, 0])",
    }


def test_what_is_printed_is_python() -> None:
    for text in SPELLED:
        ast.parse(str(parse(text)), mode="eval")
