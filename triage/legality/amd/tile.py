"""The matrix instruction, or none, that AMD's back end makes of a ``tl.dot`` tile.

As Triton 3.9 chooses (third_party/amd AccelerateAMDMatmul), checked against the assembly of compiled tiles:

- Operands that the chip has no instruction for, but fp16 can hold, are converted to fp16 (fp8 on gfx90a and gfx11, OCP
  fp8 on gfx942, FNUZ fp8 on gfx950 and gfx12).
- MFMA: 32x32 where M and N are 32 or more (fp64: 16x16), else 16x16 where both are 16 or more, or as
  ``matrix_instr_nonkdim`` says. A tile under 16 on one side and of 64 or more on the other takes the 4x4 of 16 blocks.
  Of those shapes the one with the largest K that the tile's K holds; K of the 4x4 counts its 16 blocks.
- WMMA: 16x16x16 on gfx11 and gfx12, however small the tile: it is padded.
- What is left, a K smaller than any instruction's among it, becomes scalar multiply-adds (``v_fma``, ``v_dot``): slow.

``kpack`` packs loads and leaves the instruction as it is; it and gfx1250 were not looked at.
"""

from triage.legality.amd import mfma, wmma
from triage.legality.amd.instruction import AmdInstruction
from triage.legality.dtypes import DType, parse
from triage.legality.fp8 import NAMES as FP8
from triage.model.target import Target

_BLOCKS = 16
"""Of the 4x4 shapes: side by side they make a 64x4 or 4x64 of 16 times the K."""


def computed(a: DType, target: Target) -> DType:
    """The type that the operands are multiplied in: their own, or fp16 for an fp8 that the chip does not have."""
    rows = mfma.instructions(target) or wmma.instructions(target)
    native = {row.a for row in rows}
    return parse("f16") if a.name in FP8 and a.name not in native else a


def chosen(*, m: int, n: int, k: int, a: DType, target: Target, nonkdim: int = 0) -> AmdInstruction | None:
    """The instruction for an [M, K] x [K, N] tile whose operands are both ``a`` (tf32: fp32 with ``input_precision``
    tf32), or None where the back end falls back to multiply-adds. ``nonkdim`` is ``matrix_instr_nonkdim``."""
    name = computed(a, target).name
    if mfma.instructions(target):
        return _mfma(m, n, k, name, target, nonkdim)
    dense = (row for row in wmma.instructions(target) if not row.sparse and not row.scaled)
    fitting = [row for row in dense if row.a == row.b == name and (row.m, row.n, row.k) == (16, 16, 16)]
    # Where there is a choice of accumulator, float32 is what tl.dot asks for.
    return next(iter(fitting), None)


def _mfma(m: int, n: int, k: int, name: str, target: Target, nonkdim: int) -> AmdInstruction | None:
    side, blocks = nonkdim, 1
    if not side:
        smaller, larger = sorted((m, n))
        if smaller >= 16:
            side = 32 if smaller >= 32 and name != "f64" else 16
        elif larger >= 64:
            side, blocks = 4, _BLOCKS
    dense = (row for row in mfma.instructions(target) if not row.sparse and not row.scaled)
    fitting = [
        row
        for row in dense
        if row.a == row.b == name
        and (row.m, row.n, row.blocks) == (side, side, blocks)
        and row.k * blocks <= k
        # The 4x4 of the half-K bf16 family, which gfx90a still has, is not used.
        and not (side == 4 and name == "bf16" and row.k == 2)
    ]
    return max(fitting, key=lambda row: row.k, default=None)
