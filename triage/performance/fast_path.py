"""What a failing configuration was on its way to, read from the IR that its compile left behind."""

from __future__ import annotations

import re
from dataclasses import dataclass

from triage.ir.matrix_instruction import matrix_instruction
from triage.model.gpus import TensorCore
from triage.model.target import Target


@dataclass(frozen=True, slots=True)
class FastPath:
    """What the failing configuration asked for: the matrix instruction (None where its IR does not show it), the
    pipeline's stages, and whether automatic warp specialization was requested."""

    tensor_core: TensorCore | None = None
    stages: int = 1
    warp_specialized: bool = False


_SPECIALIZES = re.compile(r"\btt\.warp_specialize\b|\bttg\.warp_specialize\b|ttg\.partition\b")
"""The attribute of a loop that requests it, and what it is lowered to."""


def fast_path(ir_text: str, target: Target, stages: int) -> FastPath:
    """Read from the last IR that the failing compile left; empty text where it left none."""
    return FastPath(matrix_instruction(ir_text, target), stages, bool(_SPECIALIZES.search(ir_text)))
