"""MFMA: the matrix instructions of AMD's CDNA (gfx908, gfx90a, gfx940 to gfx942, gfx950), by operand types and shape.

The tables are the instruction lists of the CDNA 1 to 4 ISA guides ("Matrix fused multiply-add"), written down as types
times shapes, and agree with LLVM's assembler for every mnemonic on every generation. What to know about them:

- ``blocks``: the small-K shapes work on 2, 4 or 16 independent matrices (``32x32x1_2b``, ``4x4x4_16b``).
- bf16 has two families: gfx908's with half the K, and from gfx90a on ``_1k`` with fp16's K. gfx940 dropped the first.
- gfx940 doubled K of i8 and dropped the dense 32x32x8 and 16x16x16; gfx950 doubled fp16, bf16 and i8 again, as further
  shapes beside the old ones.
- ``fp8`` and ``bf8`` are e4m3 and e5m2 with one zero and no infinities (FNUZ: Triton's fp8e4b8, fp8e5b16) on gfx940 to
  gfx942 and the OCP types on gfx950, under the same mnemonics. The assembler cannot tell the two apart.
- xf32 (tf32) is on gfx940 to gfx942 only: gfx950 has none.
- f8f6f4 (gfx950) takes any two of fp8, bf8, fp6, bf6, fp4, without scales or with an e8m0 scale every 32 of K.
- The LLVM of Triton 3.0 to 3.2 knows gfx940 and gfx941, with gfx942's instructions; later ones do not know them. gfx950
  is there from 3.2 on (four of its instructions from 3.3 on).
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

from triage.legality.amd import explain
from triage.legality.amd.instruction import FLOATS_8_TO_4, AmdInstruction, fp8, lane_registers, version
from triage.legality.dtypes import parse
from triage.legality.rule import LegalityRule, RuleParameter, Syntax
from triage.model.gpus import TensorCore
from triage.model.target import Target

SOURCE = "AMD Instinct CDNA ISA guides, matrix fused multiply-add; llvm/lib/Target/AMDGPU/VOP3PInstructions.td"
TITLE = "MFMA: matrix instructions of AMD CDNA (gfx908, gfx90a, gfx94x, gfx950)"
LANES = 64
"""MFMA spreads every operand over a wave of 64 lanes."""

_CDNA1, _CDNA2, _CDNA3, _CDNA4 = range(1, 5)

_ALL = (_CDNA1, _CDNA2, _CDNA3, _CDNA4)
_FP16 = "32x32x4/2 16x16x4/4 4x4x4/16 32x32x8 16x16x16"
# A's (and B's) type, the accumulator, MxNxK (/blocks where they are more than one), generations.
_Rows = tuple[tuple[str, str, str, tuple[int, ...]], ...]
_DENSE: _Rows = (
    ("f32", "f32", "32x32x1/2 16x16x1/4 4x4x1/16 32x32x2 16x16x4", _ALL),
    ("f16", "f32", _FP16, _ALL),
    ("bf16", "f32", "32x32x2/2 16x16x2/4 4x4x2/16 32x32x4 16x16x8", (_CDNA1, _CDNA2)),
    ("bf16", "f32", _FP16, (_CDNA2, _CDNA3, _CDNA4)),
    ("s8", "s32", "32x32x4/2 16x16x4/4 4x4x4/16", _ALL),
    ("s8", "s32", "32x32x8 16x16x16", (_CDNA1, _CDNA2)),
    ("s8", "s32", "32x32x16 16x16x32", (_CDNA3, _CDNA4)),
    ("f64", "f64", "16x16x4 4x4x4/4", (_CDNA2, _CDNA3, _CDNA4)),
    ("tf32", "f32", "32x32x4 16x16x8", (_CDNA3,)),
    ("fp8", "f32", "32x32x16 16x16x32", (_CDNA3, _CDNA4)),
    ("f16", "f32", "32x32x16 16x16x32", (_CDNA4,)),
    ("bf16", "f32", "32x32x16 16x16x32", (_CDNA4,)),
    ("s8", "s32", "32x32x32 16x16x64", (_CDNA4,)),
    ("f8f6f4", "f32", "32x32x64 16x16x128", (_CDNA4,)),
)
_SPARSE: _Rows = (
    ("f16", "f32", "32x32x16 16x16x32", (_CDNA3, _CDNA4)),
    ("bf16", "f32", "32x32x16 16x16x32", (_CDNA3, _CDNA4)),
    ("s8", "s32", "32x32x32 16x16x64", (_CDNA3, _CDNA4)),
    ("fp8", "f32", "32x32x32 16x16x64", (_CDNA3, _CDNA4)),
    ("f16", "f32", "32x32x32 16x16x64", (_CDNA4,)),
    ("bf16", "f32", "32x32x32 16x16x64", (_CDNA4,)),
    ("s8", "s32", "32x32x64 16x16x128", (_CDNA4,)),
    ("fp8", "f32", "32x32x64 16x16x128", (_CDNA4,)),
)
_SPELLED = {"s8": "i8", "s32": "i32", "tf32": "xf32"}


def generation(target: Target) -> int | None:
    """1 to 4 for CDNA 1 to 4, else None."""
    return version(target, TensorCore.MFMA) or None


@cache
def instructions(target: Target) -> tuple[AmdInstruction, ...]:
    """Every MFMA of a target, dense first; empty where there are none."""
    number = generation(target)
    return () if number is None else tuple(_rows(number))


def registers(row: AmdInstruction, target: Target) -> tuple[int, int, int]:
    """32-bit vector registers a lane that A, B and D (as C) take: their bits, spread over 64 lanes."""
    return lane_registers(row, LANES, 1, parse(row.d).bits)


def _rows(of: int) -> Iterator[AmdInstruction]:
    for a, d, shapes, generations in _DENSE:
        for shape in shapes.split() if of in generations else ():
            yield from _dense(a, d, shape, of)
    for a, d, shapes, generations in _SPARSE:
        for shape, (left, right) in product(shapes.split() if of in generations else (), _pairs(a, of)):
            m, n, k, _ = _numbers(shape)
            types = f"{fp8(left)}_{fp8(right)}" if a == "fp8" else _SPELLED.get(a, a)
            name = f"v_smfmac_{_SPELLED.get(d, d)}_{shape}_{types}"
            yield AmdInstruction(name, left, right, d, d, m, n, k, sparse=True)


def _dense(a: str, d: str, shape: str, of: int) -> Iterator[AmdInstruction]:
    m, n, k, blocks = _numbers(shape)
    for left, right in _pairs(a, of):
        types = f"{fp8(left)}_{fp8(right)}" if a == "fp8" else _SPELLED.get(a, a)
        # gfx908 and gfx90a write shape and type in one word, and mark bf16 with fp16's K as _1k.
        size = f"{m}x{n}x{k}"
        if of >= _CDNA3:
            size += f"_{blocks}b_" if blocks > 1 else "_"
        elif a == "bf16" and shape in _FP16.split():
            types += "_1k"
        for scaled in (False, True) if a == "f8f6f4" else (False,):
            name = f"v_mfma_{'scale_' if scaled else ''}{_SPELLED.get(d, d)}_{size}{types}"
            yield AmdInstruction(name, left, right, d, d, m, n, k, blocks, scaled=scaled)


def _pairs(a: str, of: int) -> Iterator[tuple[str, str]]:
    """The operand types that a name in the tables stands for."""
    if a == "fp8":
        yield from product(("e4m3fnuz", "e5m2fnuz") if of == _CDNA3 else ("e4m3", "e5m2"), repeat=2)
    elif a == "f8f6f4":
        yield from product(FLOATS_8_TO_4, repeat=2)
    else:
        yield a, a


def _numbers(shape: str) -> tuple[int, int, int, int]:
    sizes, _, blocks = shape.partition("/")
    m, n, k = (int(part) for part in sizes.split("x"))
    return m, n, k, int(blocks or 1)


_FAMILY = explain.InstructionFamily(
    "mfma",
    instructions,
    registers,
    ("hip:gfx908", "hip:gfx90a", "hip:gfx942", "hip:gfx950"),
    ("hip:gfx942", "hip:gfx950"),
    SOURCE,
)
violations = _FAMILY.violations
"""Why a target has no MFMA of a ``Specification``. ``sparse``: ``v_smfmac``; ``scaled``: ``v_mfma_scale``."""

RULE = LegalityRule(
    "mfma",
    TITLE,
    (
        *explain.PARAMETERS,
        RuleParameter("blocks", Syntax.INTEGER, "matrices side by side in one instruction", default="1"),
        RuleParameter("target", Syntax.TARGET, "hip:gfxNNN", default="hip:gfx942"),
    ),
    _FAMILY.judge,
    _FAMILY.tables,
    (
        "--a f16 --m 32 --n 32 --k 8",
        "--a tf32 --m 16 --n 16 --k 8 --target hip:gfx950",
        "--a e4m3 --b e2m1 --m 16 --n 16 --k 64 --scaled --target hip:gfx950",
    ),
    (SOURCE,),
)
