"""Element types that a wgmma multiplies, and what each allows: K, N, accumulators, majors, sparsity.

PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", has a table of shapes a type; they follow from two
widths. One instruction reads 32 bytes of K (64 of B's when A is sparse), and M is the 64 rows of one warpgroup.
"""

from dataclasses import dataclass

from triage.legality import dtypes
from triage.legality.dtypes import DType

SHAPES = "PTX ISA, wgmma: matrix shape"
TYPES = "PTX ISA, wgmma.mma_async: .atype, .btype, .dtype"

M = 64
"""Rows of every wgmma: four warps with 16 rows each."""
K_BYTES = 32
"""Bytes of K that a dense instruction reads of each operand."""
_EVERY_8 = tuple(range(8, 257, 8))
_INTEGER_N = (8, 16, 24, *range(32, 257, 16))


@dataclass(frozen=True, slots=True)
class OperandRule:
    """The constraints of one operand type.

    ``partners`` are the types that the other operand may have; ``n`` in elements, ascending; ``accumulators`` the
    default first; ``transposes``: the instruction has imm-trans operands, so an MN-major operand in shared memory is
    legal; ``operation`` is the suffix that the mnemonic must have.
    """

    dtype: DType
    partners: tuple[str, ...]
    accumulators: tuple[str, ...]
    n: tuple[int, ...] = _EVERY_8
    transposes: bool = False
    sparsity: bool = True
    operation: str = ""

    @property
    def k(self) -> int:
        """K of the dense instruction, in elements."""
        return K_BYTES * 8 // self.dtype.bits

    @property
    def scales(self) -> bool:
        """Whether the instruction takes imm-scale-a and imm-scale-b (1 or -1): floating point only."""
        return "s32" not in self.accumulators

    @property
    def majors(self) -> tuple[str, ...]:
        """Majors of an operand in shared memory."""
        return ("k", "mn") if self.transposes else ("k",)


_FP8 = ("e4m3", "e5m2")
_INT8 = ("s8", "u8")

OPERANDS: dict[str, OperandRule] = {
    row.dtype.name: row
    for row in (
        OperandRule(dtypes.parse("f16"), ("f16",), ("f32", "f16"), transposes=True),
        OperandRule(dtypes.parse("bf16"), ("bf16",), ("f32",), transposes=True),
        OperandRule(dtypes.parse("tf32"), ("tf32",), ("f32",)),
        *(OperandRule(dtypes.parse(name), _FP8, ("f32", "f16")) for name in _FP8),
        *(OperandRule(dtypes.parse(name), _INT8, ("s32",), n=_INTEGER_N) for name in _INT8),
        OperandRule(dtypes.parse("b1"), ("b1",), ("s32",), n=_INTEGER_N, sparsity=False, operation=".and.popc"),
    )
}
"""Every operand type by its PTX name, in the order in which the ISA has them."""

ACCUMULATORS = ("f32", "f16", "s32")
"""Every type that some wgmma accumulates in."""

_STAND_IN = {
    "f32": ("tf32", "bf16", "f16"),
    "f64": ("tf32",),
    "e4m3fnuz": ("e4m3",),
    "e4m3b15": ("e4m3",),
    "e5m2fnuz": ("e5m2",),
    "e3m2": ("e4m3", "e5m2"),
    "e2m3": ("e4m3",),
    "e2m1": ("e4m3",),
    "ue4m3": ("e4m3",),
    "ue8m0": ("e5m2",),
    **{f"s{bits}": ("s8",) for bits in (4, 16, 32, 64)},
    **{f"u{bits}": ("u8",) for bits in (4, 16, 32, 64)},
}
"""For a type that no wgmma multiplies, the operand types that come closest: the same kind of number, best first."""


def stand_ins(name: str) -> tuple[str, ...]:
    """Operand types near a type, best first: the type itself where it is one, none for a name that is not a type."""
    return (name,) if name in OPERANDS else _STAND_IN.get(name, ())
