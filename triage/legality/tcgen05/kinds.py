"""The kinds of tcgen05.mma: what each multiplies, into what, in which shapes, with which scales.

PTX ISA 9.1, "Matrix Shape", "Transpose and Negate operations", "Valid combinations of scale_vectorsize". One
instruction reads 32 bytes of K of each operand (K of the sparse form is twice that). M is the rows of one or two CTAs'
tensor memory. A 4- or 6-bit operand of an 8-bit kind lies in 8-bit containers in shared memory, so it has the majors
and the K of an 8-bit type.

No assembler checks M and N, which are in a register; nor types and majors. Where documents differ, the newest ISA
holds: earlier ones, and CUTLASS for A in tensor memory, want N in steps of 16 for M = 128 and of 32 for two CTAs.
Triton 3.6 to 3.9 emits M = 128, N = 8. CUTLASS has no i8 instruction of N = 24, which the ISA lists.
"""

from dataclasses import dataclass

SHAPES = "PTX ISA, tcgen05: matrix shape"
TYPES = "PTX ISA, tcgen05: instruction descriptor"
TRANSPOSE = "PTX ISA, tcgen05: transpose and negate operations"
SCALES = "PTX ISA, tcgen05: valid combinations of scale_vectorsize"
K96 = 96
"""K of a dense 4-bit instruction on 10.3, beside the 64 that it has everywhere."""

_STEPS_OF_8 = tuple(range(8, 257, 8))
_STEPS_OF_16 = tuple(range(16, 257, 16))
_STEPS_OF_32 = tuple(range(32, 257, 32))
_INTEGER = (8, 16, 24, *range(32, 257, 16))
WS_M = (32, 64, 128)
"""M of the weight-stationary form."""


@dataclass(frozen=True, slots=True)
class MmaKind:
    """One ``.kind``.

    ``operands`` are the types of A and B and ``mixed`` says whether they may differ; ``accumulators`` the types of D,
    the default first; ``k`` is the dense instruction's, in elements. ``vectors`` are the ``.scale_vectorsize``
    qualifiers (empty: not block-scaled) with the scale types of each; ``unscaled``: the qualifier may be left out.
    """

    name: str
    operands: tuple[str, ...]
    accumulators: tuple[str, ...]
    k: int
    mixed: bool = True
    majors: tuple[str, ...] = ("k", "mn")
    vectors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    unscaled: bool = True

    @property
    def block_scaled(self) -> bool:
        """Whether the mnemonic has ``.block_scale``, which then is not optional."""
        return self.vectors != ()

    @property
    def container_bits(self) -> int:
        """Bits that an element takes in shared memory: 8 for the narrower types of an 8-bit kind."""
        return 256 // self.k

    def rows(self, cta_group: int, sparse: bool = False, ws: bool = False) -> tuple[int, ...]:
        """M, ascending."""
        if ws:
            return WS_M
        if self.block_scaled:
            return (128,) if cta_group == 1 else (256,) if sparse else (128, 256)
        return (64, 128) if cta_group == 1 else (128, 256)

    def columns(
        self, cta_group: int, b_major: str = "k", sparse: bool = False, ws: bool = False, k: int | None = None
    ) -> tuple[int, ...]:
        """N, ascending. An MN-major B of 8-bit elements doubles the steps."""
        if ws:
            return (64, 128) if sparse else (64, 128, 256)
        wide = b_major == "mn" and self.container_bits == 8
        if cta_group == 2:
            return _STEPS_OF_32 if wide or self.name == "i8" else _STEPS_OF_16
        if wide or k == K96:
            return _STEPS_OF_16
        return _INTEGER if self.name == "i8" else _STEPS_OF_8

    def depths(self, sparse: bool = False, capability: int | None = None) -> tuple[int, ...]:
        """K in elements; the first is the usual one."""
        if sparse:
            return (2 * self.k,)
        return (self.k, K96) if self.k == 64 and capability in (None, 103) else (self.k,)


_NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
_UE8M0 = ("ue8m0",)

KINDS: dict[str, MmaKind] = {
    kind.name: kind
    for kind in (
        MmaKind("f16", ("f16", "bf16"), ("f32", "f16"), 16, mixed=False),
        MmaKind("tf32", ("tf32",), ("f32",), 8),
        MmaKind("f8f6f4", _NARROW, ("f32", "f16"), 32),
        MmaKind("i8", ("s8", "u8"), ("s32",), 32),
        MmaKind("mxf8f6f4", _NARROW, ("f32",), 32, vectors=(("1X", _UE8M0), ("block32", _UE8M0))),
        MmaKind("mxf4", ("e2m1",), ("f32",), 64, majors=("k",), vectors=(("2X", _UE8M0), ("block32", _UE8M0))),
        MmaKind(
            "mxf4nvf4",
            ("e2m1",),
            ("f32",),
            64,
            majors=("k",),
            vectors=(
                ("2X", _UE8M0),
                ("4X", ("ue4m3", "ue8m0")),
                ("block16", ("ue4m3", "ue8m0")),
                ("block32", _UE8M0),
            ),
            unscaled=False,
        ),
    )
}
"""Every kind by its PTX name, in the order in which the ISA has them."""

VECTORS = ("1X", "2X", "4X", "block16", "block32")
"""Every ``.scale_vectorsize``, without ``.scale_vec::``."""
SCALE_TYPES = ("ue8m0", "ue4m3")


def accumulators(kind: MmaKind, a: str) -> tuple[str, ...]:
    """The types of D beside an A of this type: bf16 has no f16 accumulator."""
    return ("f32",) if a == "bf16" else kind.accumulators


def of(a: str, b: str, scale_vector: str | None = None) -> MmaKind | None:
    """The kind that multiplies these types, None where none does. Scales make it a block-scaled one."""
    if scale_vector is None:
        return next((kind for kind in KINDS.values() if {a, b} <= set(kind.operands)), None)
    scaled = [kind for kind in KINDS.values() if {a, b} <= set(kind.operands) and kind.block_scaled]
    # The narrowest that has the vector size: 4-bit operands reach twice the rate in mxf4.
    fitting = [kind for kind in scaled if scale_vector in dict(kind.vectors)]
    return max(fitting or scaled, key=lambda kind: (kind.k, kind.unscaled), default=None)
