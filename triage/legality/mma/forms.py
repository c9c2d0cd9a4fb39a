"""Every form of ``mma.sync`` that the assembler takes: operand types, shapes, accumulators, layouts, and from which
target on.

From PTX ISA, "Warp-level matrix instructions: mma" and "mma.sp", corrected by the assemblers of the Triton 3.9.0
wheel (ptxas 12.9 below cuda:90, 13.4 from there on), which are enumerated in the tests. They are looser than the
document in two ways, and what they take is marked ``documented=False``:

- ``m8n8k4`` takes bf16 and tf32 from cuda:80 on (the document has it for f16 alone);
- from cuda:100 on, ``.kind::…`` without a block scale is not looked at where operands are e4m3 or e5m2: any kind is
  taken wherever the same instruction without one is.

A sparse form is meant as ``mma.sp::ordered_metadata``. Plain ``mma.sp`` takes the same without a kind, but for f16
accumulators of e4m3 and e5m2. The table is that of PTX 9.4. Older versions lack: e4m3 and e5m2 at k=16 or with f16
accumulators, and all kinds (PTX 8.7); ``scale_vec::4X`` with ue8m0 (9.1); ``sp::ordered_metadata`` (8.5).
"""

from dataclasses import dataclass
from itertools import product

MMA = "PTX ISA, warp-level matrix instructions: mma"
MMA_SP = "PTX ISA, warp-level matrix instructions: mma.sp"

KINDS = ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
"""``.kind::…``; the last three scale blocks of their operands."""

Pair = tuple[str, str]
Shape = tuple[int, int, int]
Scale = tuple[int, str]

NO_SCALE: Scale = (0, "none")
"""No ``.block_scale``. A scale is the X of ``.scale_vec::…X`` (0: not written) and the type of its elements."""

_ROW_COL: tuple[Pair, ...] = (("row", "col"),)
_ANY_LAYOUT: tuple[Pair, ...] = (("row", "col"), ("row", "row"), ("col", "col"), ("col", "row"))
_CONSUMER_BLACKWELL = (120, 121)


@dataclass(frozen=True, slots=True)
class InstructionForm:
    """One family of instructions: every combination of its fields is legal.

    ``pairs`` are the types of A and B, ``accumulators`` those of D and C, ``layouts`` those of A and B; ``op`` is the
    bit operation of b1, ``scales`` the block scales. ``since`` is the lowest compute capability (times ten), ``only``
    the capabilities where it is confined to some.
    """

    pairs: tuple[Pair, ...]
    shapes: tuple[Shape, ...]
    accumulators: tuple[Pair, ...]
    since: int
    layouts: tuple[Pair, ...] = _ROW_COL
    ops: tuple[str, ...] = ("none",)
    sparse: bool = False
    kinds: tuple[str, ...] = ("none",)
    scales: tuple[Scale, ...] = (NO_SCALE,)
    only: tuple[int, ...] = ()
    documented: bool = True

    @property
    def source(self) -> str:
        """Where the form is written."""
        return MMA_SP if self.sparse else MMA

    def on(self, capability: int) -> bool:
        """Whether a target has it."""
        return capability in self.only if self.only else capability >= self.since


def _same(*types: str) -> tuple[Pair, ...]:
    return tuple((name, name) for name in types)


def _mixed(*types: str) -> tuple[Pair, ...]:
    return tuple(product(types, types))


def _k(*ks: int, m: int = 16) -> tuple[Shape, ...]:
    return tuple((m, 8, k) for k in ks)


_F32: tuple[Pair, ...] = (("f32", "f32"),)
_F64: tuple[Pair, ...] = (("f64", "f64"),)
_S32: tuple[Pair, ...] = (("s32", "s32"),)
_F16_F32: tuple[Pair, ...] = (("f16", "f16"), ("f32", "f32"))
_INT8 = _mixed("s8", "u8")
_INT4 = _mixed("s4", "u4")
_FP8 = _mixed("e4m3", "e5m2")
_F8F6F4 = _mixed("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
_FP4 = _same("e2m1")
_MXF8F6F4: tuple[Scale, ...] = ((0, "ue8m0"), (1, "ue8m0"))
_MXF4: tuple[Scale, ...] = ((0, "ue8m0"), (2, "ue8m0"))
_MXF4NVF4: tuple[Scale, ...] = ((2, "ue8m0"), (4, "ue4m3"), (4, "ue8m0"))

_DENSE = (
    InstructionForm(_same("f16"), _k(4, m=8), (("f16", "f16"), ("f32", "f16"), ("f32", "f32")), 70, _ANY_LAYOUT),
    InstructionForm(_same("bf16", "tf32"), _k(4, m=8), _F32, 80, _ANY_LAYOUT, documented=False),
    InstructionForm(_same("f16"), _k(8), _F16_F32, 75),
    InstructionForm(_same("f16"), _k(16), _F16_F32, 80),
    InstructionForm(_same("bf16"), _k(8, 16), _F32, 80),
    InstructionForm(_same("tf32"), _k(4, 8), _F32, 80),
    InstructionForm(_same("f64"), _k(4, m=8), _F64, 80),
    InstructionForm(_same("f64"), _k(4, 8, 16), _F64, 90),
    InstructionForm(_INT8, _k(16, m=8), _S32, 75),
    InstructionForm(_INT8, _k(16, 32), _S32, 80),
    InstructionForm(_INT4, _k(32, m=8), _S32, 75),
    InstructionForm(_INT4, _k(32, 64), _S32, 80),
    InstructionForm(_same("b1"), _k(128, m=8), _S32, 75, ops=("xor",)),
    InstructionForm(_same("b1"), _k(128, m=8), _S32, 80, ops=("and",)),
    InstructionForm(_same("b1"), _k(128, 256), _S32, 80, ops=("xor", "and")),
    InstructionForm(_FP8, _k(16, 32), _F16_F32, 89),
    InstructionForm(_FP8, _k(16, 32), _F16_F32, 100, kinds=KINDS, documented=False),
    InstructionForm(_F8F6F4, _k(32), _F16_F32, 120, kinds=("f8f6f4",), only=_CONSUMER_BLACKWELL),
    InstructionForm(_F8F6F4, _k(32), _F32, 120, kinds=("mxf8f6f4",), scales=_MXF8F6F4, only=_CONSUMER_BLACKWELL),
    InstructionForm(_FP4, _k(64), _F32, 120, kinds=("mxf4",), scales=_MXF4, only=_CONSUMER_BLACKWELL),
    InstructionForm(_FP4, _k(64), _F32, 120, kinds=("mxf4nvf4",), scales=_MXF4NVF4, only=_CONSUMER_BLACKWELL),
)

_SPARSE = (
    InstructionForm(_same("f16"), _k(16, 32), _F16_F32, 80, sparse=True),
    InstructionForm(_same("bf16"), _k(16, 32), _F32, 80, sparse=True),
    InstructionForm(_same("tf32"), _k(8, 16), _F32, 80, sparse=True),
    InstructionForm(_INT8, _k(32, 64), _S32, 80, sparse=True),
    InstructionForm(_INT4, _k(64, 128), _S32, 80, sparse=True),
    InstructionForm(_FP8, _k(64), _F32, 89, sparse=True),
    InstructionForm(_FP8, _k(64), (("f16", "f16"),), 120, sparse=True, only=_CONSUMER_BLACKWELL),
    InstructionForm(_FP8, _k(64), _F32, 100, sparse=True, kinds=KINDS, documented=False),
    InstructionForm(
        _FP8, _k(64), (("f16", "f16"),), 120, sparse=True, kinds=KINDS, only=_CONSUMER_BLACKWELL, documented=False
    ),
    InstructionForm(_F8F6F4, _k(64), _F16_F32, 120, sparse=True, kinds=("f8f6f4",), only=_CONSUMER_BLACKWELL),
    InstructionForm(
        _F8F6F4, _k(64), _F32, 120, sparse=True, kinds=("mxf8f6f4",), scales=_MXF8F6F4, only=_CONSUMER_BLACKWELL
    ),
    InstructionForm(_FP4, _k(128), _F32, 120, sparse=True, kinds=("mxf4",), scales=_MXF4, only=_CONSUMER_BLACKWELL),
    InstructionForm(
        _FP4, _k(128), _F32, 120, sparse=True, kinds=("mxf4nvf4",), scales=_MXF4NVF4, only=_CONSUMER_BLACKWELL
    ),
)

FORMS = (*_DENSE, *_SPARSE)
"""The whole table. A documented form precedes one that covers the same instruction and is not."""
