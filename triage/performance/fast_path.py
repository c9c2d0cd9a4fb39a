"""The matrix instruction that a kernel was on its way to, read from the IR that it left behind.

A compile that failed has no assembly to look into. Its last IR tells: TTGIR names the instruction's layout once the
compiler has chosen one, and before that the shape and types of ``tt.dot`` say what the target's best could take.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from triage.model.outcome import TensorCore
from triage.model.target import Target


@dataclass(frozen=True, slots=True)
class FastPath:
    """What the failing configuration was meant to get: the matrix instruction (None where its IR does not tell), the
    pipeline's stages, and whether it asked for automatic warp specialization."""

    tensor_core: TensorCore | None = None
    stages: int = 1
    warp_specialized: bool = False


_SPECIALIZES = re.compile(r"\btt\.warp_specialize\b|\bttg\.warp_specialize\b|ttg\.partition\b")
"""The attribute of a loop that asks for it, and what it becomes."""


def fast_path(ir_text: str, target: Target, stages: int) -> FastPath:
    """Read from the last IR that the failing compile left; empty text where it left none."""
    return FastPath(expected_class(ir_text, target), stages, bool(_SPECIALIZES.search(ir_text)))


_CHOSEN: tuple[tuple[str, TensorCore], ...] = (
    (r"\bttng\.tc_gen5_mma", TensorCore.TCGEN05),
    (r"\bwarp_group_dot\b|versionMajor = 3", TensorCore.WGMMA),
    (r"versionMajor = [12]", TensorCore.MMA_SYNC),
    (r"\bamd_mfma\b", TensorCore.MFMA),
    (r"\bamd_wmma\b", TensorCore.WMMA),
)
"""What TTGIR calls each class, fastest first: a kernel with several is judged by its best."""

_DOT = re.compile(
    r"\btt\.dot(?P<scaled>_scaled)?\b(?P<rest>[^\n]*?)(?:-> *)tensor<(?P<shape>(?:\d+x)+)(?P<result>\w+)", re.MULTILINE
)
_OPERAND = re.compile(r"tensor<(?:\d+x)+(\w+)")


def expected_class(ir_text: str, target: Target) -> TensorCore | None:
    """The class that the IR aims at; NONE for a kernel without a matrix product, None where the text holds no IR."""
    for pattern, chosen in _CHOSEN:
        if re.search(pattern, ir_text):
            return chosen
    best: TensorCore | None = None
    for dot in _DOT.finditer(ir_text):
        reached = _of_dot(dot, target)
        if best is None or best is TensorCore.NONE:
            best = reached
    if best is not None:
        return best
    return TensorCore.NONE if re.search(r"\btt\.func\b", ir_text) else None


def _of_dot(dot: re.Match[str], target: Target) -> TensorCore:
    *_, rows, columns = (int(extent) for extent in dot["shape"].rstrip("x").split("x"))
    operand = _OPERAND.search(dot["rest"])
    element = operand[1] if operand else ""
    if target.backend == "hip":
        return _amd(target.arch)
    # Without TF32, a product of fp32 is plain FMA on every NVIDIA target.
    if element == "f32" and not dot["scaled"] and "tf32" not in dot["rest"].lower():
        return TensorCore.NONE
    return _nvidia(target.capability or 0, rows, columns, element)


def _amd(arch: str) -> TensorCore:
    if arch.startswith(("gfx11", "gfx12")):
        return TensorCore.WMMA
    return TensorCore.MFMA if arch in ("gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950") else TensorCore.NONE


def _nvidia(capability: int, rows: int, columns: int, element: str) -> TensorCore:
    # wgmma and tcgen05 work on 64 rows and multiples of 8 columns (PTX ISA), and know no double precision.
    warpgroup = rows % 64 == 0 and columns % 8 == 0 and element != "f64"
    if warpgroup and 100 <= capability < 120:
        return TensorCore.TCGEN05
    if warpgroup and capability == 90:
        return TensorCore.WGMMA
    if element == "f64" and capability < 80:
        return TensorCore.NONE
    return TensorCore.MMA_SYNC if capability >= 70 else TensorCore.NONE
