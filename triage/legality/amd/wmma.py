"""WMMA: the matrix instructions of AMD's RDNA 3, RDNA 4 and gfx1250, by operand types and shape.

The tables are the instruction lists of the RDNA ISA guides ("Wave matrix multiply accumulate") and agree with LLVM's
assembler for every mnemonic on every generation. What to know about them:

- All are for a wave of 32 lanes here, as Triton compiles them; RDNA can also run 16x16x16 on 64 lanes.
- gfx11 (RDNA 3): 16x16x16 only, no fp8. Both halves of the wave hold a copy of A and B, so operands take twice the
  registers; fp16 and bf16 accumulators take a whole register each.
- gfx12 (RDNA 4), and gfx1170 to gfx1172 with its encodings: fp8 and bf8 (OCP e4m3 and e5m2), a 16x16x32 iu4, and the
  sparse ``v_swmmac``, all spread over the wave once.
- gfx1250 replaces the dense ones by larger K (f16 32, fp8 64 and 128, iu8 64) and keeps the sparse ones of gfx12
  beside larger ones; it adds f32 (K 4), f8f6f4 with and without scales, fp16 results from fp8, and a 32x16x128 for
  fp4. gfx1251 adds f64.
- iu8 and iu4 take each operand signed or unsigned.
- LLVM knows gfx1250 from Triton 3.5 on, gfx1251 from 3.6 on (its f64 only in 3.9), gfx1170 from 3.8 on.
- A scale is e8m0 every 32 of K (``scale``) or every 16 (``scale16``).
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

from triage.legality.amd import explain
from triage.legality.amd.instruction import FLOATS_8_TO_4, AmdInstruction, fp8, known, lane_registers, version
from triage.legality.dtypes import parse
from triage.legality.rule import LegalityRule, RuleParameter, Syntax
from triage.model.gpus import TensorCore
from triage.model.target import Target

SOURCE = "AMD RDNA ISA guides, wave matrix multiply accumulate; llvm/lib/Target/AMDGPU/VOP3PInstructions.td"
TITLE = "WMMA: matrix instructions of AMD RDNA 3, RDNA 4 and gfx1250"
LANES = 32

# A's (and B's) type, the accumulators, MxNxK. "bf16<f32" reads a float32 accumulator and writes bf16.
_Rows = tuple[tuple[str, str, str], ...]
_RDNA3: _Rows = (
    ("f16", "f32 f16", "16x16x16"),
    ("bf16", "f32 bf16", "16x16x16"),
    ("iu8", "s32", "16x16x16"),
    ("iu4", "s32", "16x16x16"),
)
_RDNA4: _Rows = (*_RDNA3, ("iu4", "s32", "16x16x32"), ("fp8", "f32", "16x16x16"))
_RDNA4_SPARSE: _Rows = (
    ("f16", "f32 f16", "16x16x32"),
    ("bf16", "f32 bf16", "16x16x32"),
    ("iu8", "s32", "16x16x32"),
    ("iu4", "s32", "16x16x32 16x16x64"),
    ("fp8", "f32", "16x16x32"),
)
_GFX1250: _Rows = (
    ("f32", "f32", "16x16x4"),
    ("f16", "f32 f16", "16x16x32"),
    ("bf16", "f32 bf16 bf16<f32", "16x16x32"),
    ("iu8", "s32", "16x16x64"),
    ("fp8", "f32 f16", "16x16x64 16x16x128"),
    ("f8f6f4", "f32", "16x16x128"),
    ("f4", "f32", "32x16x128"),
)
_GFX1250_SPARSE: _Rows = (
    *_RDNA4_SPARSE,
    ("f16", "f32 f16", "16x16x64"),
    ("bf16", "f32 bf16 bf16<f32", "16x16x64"),
    ("iu8", "s32", "16x16x128"),
    ("fp8", "f32 f16", "16x16x128"),
)
_GFX1251: _Rows = (*_GFX1250, ("f64", "f64", "16x16x4"))


def _generation(target: Target) -> tuple[_Rows, _Rows]:
    match version(target, TensorCore.WMMA):
        case 1:
            return _RDNA3, ()
        case 2:
            return _RDNA4, _RDNA4_SPARSE
        case 3:
            return _GFX1251 if target.arch == "gfx1251" else _GFX1250, _GFX1250_SPARSE
    return (), ()


@cache
def instructions(target: Target) -> tuple[AmdInstruction, ...]:
    """Every WMMA of a target, dense first; empty where there are none."""
    if target.backend != "hip" or not known(target):
        return ()
    dense, sparse = _generation(target)
    return (*_rows(dense, sparse=False), *_rows(sparse, sparse=True))


def registers(row: AmdInstruction, target: Target) -> tuple[int, int, int]:
    """32-bit vector registers a lane that A, B and D take; on gfx11 A and B are held twice, and each element of D has
    a register of its own."""
    copies = 2 if _generation(target)[0] is _RDNA3 else 1
    # What a sparse one reads and writes is one register range.
    result = 32 if copies == 2 else parse(row.c if row.sparse else row.d).bits
    return lane_registers(row, LANES, copies, result)


def _rows(table: _Rows, sparse: bool) -> Iterator[AmdInstruction]:
    stem = "v_swmmac" if sparse else "v_wmma"
    for a, results, shapes in table:
        for result, shape, (left, right) in product(results.split(), shapes.split(), _pairs(a)):
            d, _, c = result.partition("<")
            types = f"{fp8(left)}_{fp8(right)}" if a == "fp8" else a
            m, n, k = (int(part) for part in shape.split("x"))
            kind = f"{result.replace('<', '')}_{shape}_{types}".replace("s32_", "i32_")
            operands = (left, right, c or d, d, m, n, k)
            yield AmdInstruction(f"{stem}_{kind}", *operands, sparse=sparse)
            if a in ("f8f6f4", "f4"):
                for scale in ("scale", "scale16"):
                    yield AmdInstruction(f"{stem}_{scale}_{kind}", *operands, scaled=True)


def _pairs(a: str) -> Iterator[tuple[str, str]]:
    """The operand types that a name in the tables stands for."""
    kinds = {
        "fp8": ("e4m3", "e5m2"),
        "iu8": ("s8", "u8"),
        "iu4": ("s4", "u4"),
        "f8f6f4": FLOATS_8_TO_4,
        "f4": ("e2m1",),
    }
    yield from product(kinds.get(a, (a,)), repeat=2)


_FAMILY = explain.InstructionFamily(
    "wmma",
    instructions,
    registers,
    ("hip:gfx1100", "hip:gfx1200", "hip:gfx1250"),
    ("hip:gfx1100", "hip:gfx1200"),
    SOURCE,
)
violations = _FAMILY.violations
"""Why a target has no WMMA of a ``Specification``. ``sparse``: ``v_swmmac``; ``scaled``: ``v_wmma_scale`` and
``v_wmma_scale16``."""

RULE = LegalityRule(
    "wmma",
    TITLE,
    (*explain.PARAMETERS, RuleParameter("target", Syntax.TARGET, "hip:gfxNNN", default="hip:gfx1200")),
    _FAMILY.judge,
    _FAMILY.tables,
    (
        "--a f16 --m 16 --n 16 --k 16 --target hip:gfx1100",
        "--a e4m3 --m 16 --n 16 --k 16 --target hip:gfx1100",
        "--a s8 --b u8 --m 16 --n 16 --k 32 --sparse",
    ),
    (SOURCE,),
)
