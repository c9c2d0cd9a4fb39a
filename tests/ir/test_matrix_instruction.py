"""The class of matrix instruction that IR of each stage leads to."""

from __future__ import annotations

import pytest

from triage.ir.matrix_instruction import matrix_instruction
from triage.model.gpus import TensorCore
from triage.model.target import Target


def dot(shape: str, element: str, extra: str = "") -> str:
    m, n, k = shape.split("x")
    operands = f"tensor<{m}x{k}x{element}> * tensor<{k}x{n}x{element}>"
    return f"tt.func public @k() {{\n  %d = tt.dot %a, %b, %c{extra} : {operands} -> tensor<{m}x{n}xf32>\n}}"


TF32 = ", inputPrecision = tf32"


@pytest.mark.parametrize(
    ("ir", "target", "core"),
    [
        ("%0 = ttng.tc_gen5_mma %a, %b", "cuda:100", TensorCore.TCGEN05),
        ("%0 = ttng.warp_group_dot %a, %b", "cuda:90", TensorCore.WGMMA),
        ("#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0}>", "cuda:90", TensorCore.WGMMA),
        ("#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0}>", "cuda:90", TensorCore.MMA_SYNC),
        ("#mma = #ttg.amd_mfma<{version = 3}>", "hip:gfx942", TensorCore.MFMA),
        ("#mma = #ttg.amd_wmma<{version = 1}>", "hip:gfx1100", TensorCore.WMMA),
        (dot("128x128x64", "f16"), "cuda:90", TensorCore.WGMMA),
        (dot("32x128x64", "f16"), "cuda:90", TensorCore.MMA_SYNC),
        (dot("128x128x64", "f16"), "cuda:100", TensorCore.TCGEN05),
        (dot("128x128x64", "f16"), "cuda:120", TensorCore.MMA_SYNC),
        (dot("128x128x32", "f32", TF32), "cuda:90", TensorCore.WGMMA),
        (dot("128x128x32", "f32"), "cuda:90", TensorCore.NONE),
        (dot("128x128x64", "f64"), "cuda:90", TensorCore.MMA_SYNC),
        (dot("128x128x64", "f16"), "hip:gfx942", TensorCore.MFMA),
        (dot("128x128x64", "f16"), "hip:gfx1201", TensorCore.WMMA),
        (dot("128x128x64", "f16"), "hip:gfx1030", TensorCore.NONE),
        ("tt.func public @k() { tt.return }", "cuda:90", TensorCore.NONE),
        ("", "cuda:90", None),
        ("Aborted (core dumped)", "cuda:90", None),
    ],
)
def test_matrix_instruction(ir: str, target: str, core: TensorCore | None) -> None:
    assert matrix_instruction(ir, Target.parse(target)) is core
