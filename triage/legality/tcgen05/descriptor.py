"""The 32-bit instruction descriptor of tcgen05.mma: M, N, types, majors and sparsity, as a value and as bits.

PTX ISA 9.1, "Instruction descriptor": three layouts, by kind. Triton builds the same bits
(DotOpToLLVM/MMAv5.cpp) and moves them into a register as a constant; tests read them back from its PTX.
"""

from dataclasses import dataclass

from triage.legality.tcgen05.kinds import K96, KINDS, MmaKind

_ACCUMULATORS = {"f16": 0, "f32": 1, "s32": 2}
_CODES: dict[str, dict[str, int]] = {
    "f16": {"f16": 0, "bf16": 1},
    "tf32": {"tf32": 2},
    "f8f6f4": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5},
    "i8": {"u8": 0, "s8": 1},
    "mxf4": {"e2m1": 1},
}
_CODES["mxf8f6f4"] = _CODES["f8f6f4"]
_CODES["mxf4nvf4"] = _CODES["mxf4"]
_SCALE_TYPES = {"ue4m3": 0, "ue8m0": 1}
_SHIFTS = (0, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class InstructionDescriptor:
    """The fields as values. M, N in elements, of all CTAs of the group; ``k`` is set only where the bits hold it (96).

    ``selector`` picks the sparsity metadata (0 to 3), ``shift`` is the most columns that B is shifted by for reuse in
    the ``.ws`` form (0, 8, 16 or 32), ``scale_a`` and ``scale_b`` pick the byte of the scales (0 to 3; 0 or 2 in the
    4-bit kinds), ``scale`` is the scales' type.
    """

    kind: str
    a: str
    b: str
    d: str
    m: int
    n: int
    a_major: str = "k"
    b_major: str = "k"
    sparse: bool = False
    selector: int = 0
    saturate: bool = False
    negate_a: bool = False
    negate_b: bool = False
    shift: int = 0
    scale: str = "ue8m0"
    scale_a: int = 0
    scale_b: int = 0
    k: int | None = None


def encode(value: InstructionDescriptor) -> int:
    """The 32 bits. Raises ValueError for what the fields cannot hold; they hold illegal shapes too."""
    kind = _kind(value.kind)
    codes = _CODES[kind.name]
    if value.a not in codes or value.b not in codes or value.d not in kind.accumulators:
        raise ValueError(f"kind::{kind.name} has no code for {value.a} x {value.b} into {value.d}")
    unit = 128 if kind.block_scaled else 16
    if value.n % 8 or not 0 <= value.n < 512 or value.m % unit or not 0 <= value.m < 512:
        raise ValueError(f"M={value.m}, N={value.n}: the fields hold M in units of {unit} and N in units of 8, to 511")
    bits = value.sparse << 2 | codes[value.a] << 7 | codes[value.b] << 10
    bits |= value.negate_a << 13 | value.negate_b << 14
    bits |= (value.a_major == "mn") << 15 | (value.b_major == "mn") << 16 | (value.n >> 3) << 17
    if not kind.block_scaled:
        bits |= value.selector | value.saturate << 3 | _ACCUMULATORS[value.d] << 4 | (value.m >> 4) << 24
        return bits | _SHIFTS.index(value.shift) << 30
    bits |= value.scale_b << 4 | _SCALE_TYPES[value.scale] << 23 | (value.m >> 7) << 27 | value.scale_a << 29
    return bits | (value.k == K96) << 31


def decode(bits: int, kind: str) -> InstructionDescriptor:
    """The fields of 32 bits, as an instruction of a kind reads them. Raises ValueError for an unknown kind, for a type
    code that the kind does not have, and for reserved bits that are set."""
    known = _kind(kind)
    scaled = known.block_scaled
    names = {code: name for name, code in _CODES[kind].items()}
    a, b = bits >> 7 & 7, bits >> 10 & (3 if known.k == 64 else 7)
    if a not in names or b not in names:
        raise ValueError(f"kind::{kind} has no operand types {a} and {b}")
    d = {code: name for name, code in _ACCUMULATORS.items()}.get(bits >> 4 & 3, "")
    if not scaled and d not in known.accumulators:
        raise ValueError(f"kind::{kind} has no accumulator type {bits >> 4 & 3}")
    descriptor = InstructionDescriptor(
        kind,
        names[a],
        names[b],
        "f32" if scaled else d,
        m=(bits >> 27 & 3) << 7 if scaled else (bits >> 24 & 0x1F) << 4,
        n=(bits >> 17 & 0x3F) << 3,
        a_major="mn" if bits >> 15 & 1 else "k",
        b_major="mn" if bits >> 16 & 1 else "k",
        sparse=bool(bits >> 2 & 1),
        selector=0 if scaled else bits & 3,
        saturate=not scaled and bool(bits >> 3 & 1),
        negate_a=bool(bits >> 13 & 1),
        negate_b=bool(bits >> 14 & 1),
        shift=0 if scaled else _SHIFTS[bits >> 30 & 3],
        scale="ue4m3" if scaled and not bits >> 23 & 1 else "ue8m0",
        scale_a=bits >> 29 & 3 if scaled else 0,
        scale_b=bits >> 4 & 3 if scaled else 0,
        k=K96 if scaled and bits >> 31 & 1 else None,
    )
    if encode(descriptor) != bits:
        raise ValueError(f"{bits:#010x}: reserved bits {bits ^ encode(descriptor):#010x} of kind::{kind} are set")
    return descriptor


def _kind(name: str) -> MmaKind:
    if name not in KINDS:
        raise ValueError(f"kind::{name} is not one of {', '.join(KINDS)}")
    return KINDS[name]
