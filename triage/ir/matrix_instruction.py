"""The class of matrix instruction that printed IR leads to.

A compile that failed has no assembly to look into. TTGIR names the instruction's layout once the compiler has chosen
one; before that, the shape and types of ``tt.dot`` show what the target's best instruction could compute.
"""

import re

from triage.model.gpus import TensorCore
from triage.model.target import Target

_CHOSEN: tuple[tuple[str, TensorCore], ...] = (
    (r"\bttng\.tc_gen5_mma", TensorCore.TCGEN05),
    (r"\bwarp_group_dot\b|versionMajor = 3", TensorCore.WGMMA),
    (r"versionMajor = [12]", TensorCore.MMA_SYNC),
    (r"\bamd_mfma\b", TensorCore.MFMA),
    (r"\bamd_wmma\b", TensorCore.WMMA),
)
"""What TTGIR calls each class, fastest first: a kernel with several is judged by its best."""

_DOT = re.compile(
    r"\btt\.dot(?P<scaled>_scaled)?\b(?P<rest>[^\n]{0,2000}?)-> *tensor<(?P<shape>(?:\d+x)+)(?P<result>\w+)",
    re.MULTILINE,
)
_OPERAND = re.compile(r"tensor<(?:\d+x)+(\w+)")


def matrix_instruction(text: str, target: Target) -> TensorCore | None:
    """The class that the IR leads to; NONE for a kernel without a matrix product, None for a text without IR."""
    for pattern, chosen in _CHOSEN:
        if re.search(pattern, text):
            return chosen
    reached = [_of_dot(dot, target) for dot in _DOT.finditer(text)]
    if reached or re.search(r"\btt\.func\b", text):
        return next((core for core in reached if core is not TensorCore.NONE), TensorCore.NONE)
    return None


def _of_dot(dot: re.Match[str], target: Target) -> TensorCore:
    *_, rows, columns = (int(extent) for extent in dot["shape"].rstrip("x").split("x"))
    operand = _OPERAND.search(dot["rest"])
    tf32 = bool(dot["scaled"]) or "tf32" in dot["rest"].lower()
    return of_product(rows, columns, operand[1] if operand else "", tf32, target)


def of_product(rows: int, columns: int, element: str, tf32: bool, target: Target) -> TensorCore:
    """The fastest class that a target has for a product of ``rows`` by ``columns`` with operands of ``element`` as MLIR
    names it; ``tf32``: operands of fp32 may be rounded to it."""
    if target.backend == "hip":
        return target.gpu.matrix if target.gpu is not None else TensorCore.NONE
    # Without TF32, a product of fp32 is plain FMA on every NVIDIA target.
    if element == "f32" and not tf32:
        return TensorCore.NONE
    best = target.gpu.matrix if target.gpu is not None else TensorCore.MMA_SYNC
    # wgmma and tcgen05 take 64 rows and multiples of 8 columns, and no double precision (PTX ISA).
    if best is not TensorCore.MMA_SYNC and rows % 64 == 0 and columns % 8 == 0 and element != "f64":
        return best
    # mma.sync takes double precision from 8.0 on (PTX ISA).
    return TensorCore.NONE if element == "f64" and (target.capability or 0) < 80 else TensorCore.MMA_SYNC
