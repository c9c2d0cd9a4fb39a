"""Checks whether a wgmma instruction is legal, and spells it.

PTX ISA, "wgmma.mma_async" and "wgmma.mma_async.sp". The answers agree with ptxas 12.4 to 13.4, which all take the same
instructions; tests enumerate them. No difference between assembler and documents was names. A in registers has no
imm-trans-a even for the 16-bit types, because a register fragment has one layout.
"""

from dataclasses import dataclass

from triage.legality import dtypes
from triage.legality.dtypes import DType
from triage.legality.limits import architecture
from triage.legality.violation import Violation, refuse, require, require_major, spoken
from triage.legality.wgmma.types import ACCUMULATORS, K_BYTES, OPERANDS, SHAPES, TYPES, M, OperandRule, stand_ins
from triage.model.target import Target

TRANSPOSE = "PTX ISA, wgmma.mma_async: imm-trans-a and imm-trans-b are for .f16 and .bf16 in shared memory"
SPARSE = "PTX ISA, wgmma.mma_async.sp"
TARGET = "PTX ISA, wgmma.mma_async: target ISA notes"

_ORIGINS = {"shared": "shared", "smem": "shared", "registers": "registers", "reg": "registers"}


def violations(
    a: str | DType = "f16",
    b: str | DType | None = None,
    d: str | DType | None = None,
    m: int = M,
    n: int = 64,
    k: int | None = None,
    a_major: str = "k",
    b_major: str = "k",
    a_from: str = "shared",
    sparse: bool = False,
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of one ``wgmma.mma_async`` (``.sp`` when ``sparse``); empty when ptxas takes it.

    ``a``, ``b``, ``d`` are types in any spelling; an fp32 operand with TF32 precision is ``tf32``. ``b`` defaults to
    ``a`` and ``d`` to the accumulator of ``a``. ``m``, ``n``, ``k`` in elements, of the instruction and not of a tile;
    ``k`` defaults to that of the type. Majors are ``k`` or ``mn`` (also ``m`` for A, ``n`` for B), ``a_from`` is
    ``shared`` or ``registers``; B is always in shared memory. ``target`` as Triton (``cuda:90``) or PTX (``sm_90a``)
    spells it; without it the target is not checked. Nothing raises: an unknown name is a violation.
    """
    left, right = dtypes.name(a), dtypes.name(a if b is None else b)
    row, partner = _row(left), _row(right)
    shapes = row or partner
    broken = [*_target(target), *_operands(a, b, left, right), *_accumulator(d, shapes)]
    reason = f"M is {M} in every wgmma, not {m}: a warpgroup of four warps holds 16 rows each"
    broken += require("wgmma.m", m, (M,), SHAPES, reason)
    broken += _n(n, shapes)
    broken += _k(k, shapes, sparse)
    if sparse and shapes is not None and not shapes.sparsity:
        reason = f"wgmma.mma_async.sp has no {shapes.dtype} form"
        broken.append(refuse("wgmma.sparse", True, (False,), SPARSE, reason))
    origin = _ORIGINS.get(a_from.strip().lower())
    if origin is None:
        reason = f"a_from={a_from!r}: A is in shared memory or in registers"
        broken.append(refuse("wgmma.a-from", a_from, ("shared", "registers"), TYPES, reason, ()))
    broken += _major("a", a_major, row or _row(right), origin == "registers")
    broken += _major("b", b_major, partner or _row(left), False)
    return broken


def _row(name: str | None) -> OperandRule | None:
    """The table's row of a type, or of the operand type nearest to it."""
    near = stand_ins(name) if name else ()
    return OPERANDS[near[0]] if near else None


def _target(target: str | Target | None) -> list[Violation]:
    if target is None or architecture(target) == (90, "a"):
        return []
    text = str(target).strip()
    reason = f"{text} has no wgmma: it exists on sm_90a (cuda:90) alone, not before and not after"
    return [refuse("wgmma.target", text, ("cuda:90",), TARGET, reason)]


def _operands(a: str | DType, b: str | DType | None, left: str | None, right: str | None) -> list[Violation]:
    """Violations by types that no wgmma multiplies and by pairs that it does not mix. An omitted B is not reported."""
    broken = []
    for parameter, operand, name, other in (("a", a, left, right), ("b", b, right, left)):
        if name in OPERANDS or operand is None:
            continue
        # If the other operand is wrong too, it does not restrict this one.
        allowed: tuple[str, ...] = OPERANDS[other].partners if other in OPERANDS else tuple(OPERANDS)
        near = tuple(stand_in for stand_in in stand_ins(name or "") if stand_in in allowed)
        if name is None:
            reason = f"{operand!s} is not an element type"
        elif name == "f32":
            reason = "no wgmma multiplies f32: fp32 operands are read as tf32 (19 bits), or not at all"
        else:
            reason = f"no wgmma multiplies {name}"
        broken.append(refuse(f"wgmma.{parameter}", str(operand), allowed, TYPES, reason, near))
    if left in OPERANDS and right in OPERANDS and right not in OPERANDS[left].partners:
        allowed = OPERANDS[left].partners
        reason = f"a {left} A takes a {spoken(allowed)} B, not {right}: only e4m3/e5m2 and s8/u8 mix"
        broken.append(refuse("wgmma.b", str(b), allowed, TYPES, reason, (left,)))
    return broken


def _accumulator(d: str | DType | None, row: OperandRule | None) -> list[Violation]:
    if d is None:
        return []
    allowed = row.accumulators if row else ACCUMULATORS
    name = dtypes.name(d)
    if name in allowed:
        return []
    whose = f"a wgmma of {row.dtype}" if row else "a wgmma"
    reason = f"{whose} accumulates in {spoken(allowed)}, not {name or d}"
    return [refuse("wgmma.d", str(d), allowed, TYPES, reason)]


def _n(n: int, row: OperandRule | None) -> list[Violation]:
    allowed = row.n if row else OPERANDS["f16"].n
    if n in allowed:
        return []
    if n > allowed[-1]:
        reason = f"N={n} is over {allowed[-1]}, the widest wgmma"
    elif n % 8 or n <= 0:
        reason = f"N={n} is not a multiple of 8 from 8 to 256"
    else:
        reason = f"N={n}: {row.dtype if row else ''} takes 8, 24 and multiples of 16 up to 256"
    return [refuse("wgmma.n", n, allowed, SHAPES, reason)]


def _k(k: int | None, row: OperandRule | None, sparse: bool) -> list[Violation]:
    if k is None or row is None:
        return []
    right = row.k * (2 if sparse else 1)
    why = ", doubled because A is sparse" if sparse else f" = {right} x {row.dtype.bits} bits"
    reason = f"K is {right} for {row.dtype}: {K_BYTES} bytes of K{why}; not {k}"
    return require("wgmma.k", k, (right,), SHAPES, reason)


def _major(parameter: str, major: str, row: OperandRule | None, in_registers: bool) -> list[Violation]:
    if in_registers:
        reason = (
            "A in registers cannot be MN-major: the instruction then has no imm-trans-a, because a register fragment "
            "has one layout"
        )
    else:
        label = "TF32" if row and row.dtype.name == "tf32" else str(row.dtype if row else "")
        which = "A cannot be M-major" if parameter == "a" else "B cannot be N-major"
        reason = f"{label} is K-major only: its wgmma has no imm-trans operands, so {which}"
    allowed = ("k",) if in_registers else row.majors if row else ("k", "mn")
    return require_major("wgmma", parameter, major, allowed, TRANSPOSE, reason)


@dataclass(frozen=True, slots=True)
class WgmmaInstruction:
    """A legal wgmma instruction. Registers are 32-bit, counted per thread."""

    a: OperandRule
    b: OperandRule
    d: str
    n: int
    sparse: bool = False

    @property
    def k(self) -> int:
        """K in elements."""
        return self.a.k * (2 if self.sparse else 1)

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N, K."""
        return (M, self.n, self.k)

    @property
    def short(self) -> str:
        """``m64n32k8``."""
        return f"m{M}n{self.n}k{self.k}"

    @property
    def mnemonic(self) -> str:
        """The whole name, ``wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32``."""
        sparse = ".sp" if self.sparse else ""
        types = f"{self.d}.{self.a.dtype}.{self.b.dtype}{self.a.operation}"
        return f"wgmma.mma_async{sparse}.sync.aligned.{self.short}.{types}"

    @property
    def accumulator_registers(self) -> int:
        """Registers that D takes: 64 x N over 128 threads, two f16 a register."""
        return self.n // (4 if self.d == "f16" else 2)

    def operands(self, a_from: str = "shared") -> tuple[str, ...]:
        """Names of the operands after D, in order, as the ISA writes them."""
        names = ["a-desc" if a_from == "shared" else "a", "b-desc"]
        if self.sparse:
            names += ["sp-meta", "sp-sel"]
        names.append("scale-d")
        if self.a.scales:
            names += ["imm-scale-a", "imm-scale-b"]
        if self.a.transposes:
            names += ["imm-trans-a", "imm-trans-b"] if a_from == "shared" else ["imm-trans-b"]
        return tuple(names)


def instruction(
    a: str, b: str | None = None, d: str | None = None, n: int = 64, sparse: bool = False
) -> WgmmaInstruction:
    """The instruction of these types and this N. Raises ValueError with the violations if there is none."""
    if broken := violations(a=a, b=b, d=d, n=n, sparse=sparse):
        raise ValueError("; ".join(map(str, broken)))
    left, right = OPERANDS[dtypes.parse(a).name], OPERANDS[dtypes.parse(b or a).name]
    return WgmmaInstruction(left, right, dtypes.parse(d).name if d else left.accumulators[0], n, sparse)
