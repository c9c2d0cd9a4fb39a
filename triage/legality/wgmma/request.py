"""The parameters of ``triage explain wgmma`` as a tile or an instruction with everything filled in."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from triage.legality.dtypes import DType
from triage.legality.rule import Arguments
from triage.legality.violation import Violation, nearest, refuse
from triage.legality.wgmma import instruction, layouts, lowering
from triage.legality.wgmma.layouts import OperandTile, SharedLayout
from triage.legality.wgmma.types import OPERANDS, SHAPES, M, OperandRule, stand_ins
from triage.model.target import Target

_MAJORS = {"k": "k", "mn": "mn", "m": "mn", "n": "mn"}
_WARPGROUP = 4
"""Warps that issue a wgmma together."""
_ISSUE = "PTX ISA, wgmma: a warpgroup is four contiguous warps, the first with a rank divisible by 4"
_WIDEST = 256


def instruction_n(n: int) -> int:
    """The N to judge for a tile: Triton's tiles wider than one instruction (512, 1024) are several of 256."""
    return _WIDEST if n > _WIDEST and n & (n - 1) == 0 else n


def _tile_violations(m: int, k: int, instruction_k: int, num_warps: int) -> list[Violation]:
    """Violations of the sides of a tile and the warps that compute it; N is judged with the instruction.
    ``instruction_k`` is the K of the type's instruction, doubled where A is sparse."""
    broken = []
    if m % M or m <= 0:
        near = nearest(m, _multiples(M, m))
        reason = f"M={m} is not a multiple of {M}, the rows of every wgmma; Triton then takes mma.sync"
        broken.append(refuse("wgmma.m", m, near, SHAPES, reason, near))
    if k % instruction_k or k <= 0:
        near = nearest(k, _multiples(instruction_k, k))
        reason = f"K={k} is not a multiple of {instruction_k}, the K of this type's wgmma"
        broken.append(refuse("wgmma.k", k, near, SHAPES, reason, near))
    if num_warps % _WARPGROUP or num_warps <= 0:
        allowed = (4, 8, 16, 32)
        reason = f"num_warps={num_warps} makes no warpgroup of {_WARPGROUP}; Triton then takes mma.sync"
        broken.append(refuse("wgmma.num-warps", num_warps, allowed, _ISSUE, reason, nearest(num_warps, allowed)[:1]))
    return broken


def _multiples(step: int, value: int) -> Sequence[int]:
    """The multiples on both sides of a value."""
    below = max(value // step, 1) * step
    return (below, below + step) if value > step else (step,)


def _swizzle_violation(swizzle: int, contiguous_bytes: int, who: str) -> list[Violation]:
    """A swizzle wider than the tile's contiguous dimension, or one that it is not a multiple of."""
    if contiguous_bytes % max(swizzle, 16) == 0:
        return []
    allowed = tuple(width for width in layouts.SWIZZLES if contiguous_bytes % max(width, 16) == 0)
    reason = f"a {swizzle}-byte swizzle needs a multiple of {swizzle} contiguous bytes: {who} has {contiguous_bytes}"
    return [refuse("wgmma.swizzle", swizzle, allowed, layouts.SOURCE, reason, allowed[:1])]


@dataclass(frozen=True, slots=True)
class TileRequest:
    """A tile with everything filled in; names of types are PTX's."""

    a: str
    b: str
    d: str | None
    m: int
    n: int
    k: int
    a_major: str
    b_major: str
    a_from: str
    sparse: bool
    swizzle: int | None
    num_warps: int
    target: Target
    triton: str | None
    stages: int = 1

    @property
    def row(self) -> OperandRule:
        """The table's row of A's type or of the operand type nearest to it."""
        return OPERANDS[stand_ins(self.a)[0]]

    @property
    def instruction_k(self) -> int:
        return self.row.k * (2 if self.sparse else 1)

    def violations(self) -> tuple[Violation, ...]:
        """Of the instruction and of the tile."""
        broken = instruction.violations(
            a=self.a,
            b=None if self.b == self.a else self.b,
            d=self.d,
            n=instruction_n(self.n),
            a_major=self.a_major,
            b_major=self.b_major,
            a_from=self.a_from,
            sparse=self.sparse,
            target=self.target,
        )
        broken += _tile_violations(self.m, self.k, self.instruction_k, self.num_warps)
        if not broken and self.swizzle is not None:
            for who in self.in_shared():
                broken += _swizzle_violation(self.swizzle, self.contiguous_bytes(who), who.upper())
        return tuple(broken)

    def in_shared(self) -> tuple[str, ...]:
        """The operands that have a layout in shared memory."""
        return ("b",) if self.a_from == "registers" else ("a", "b")

    def stored(self, who: str) -> tuple[int, int, DType, str]:
        """Rows, K as stored (half for a sparse A), type and major of an operand."""
        if who == "a":
            return self.m, self.k // (2 if self.sparse else 1), OPERANDS[self.a].dtype, self.a_major
        return self.n, self.k, OPERANDS[self.b].dtype, self.b_major

    def contiguous_bytes(self, who: str) -> int:
        rows, k, dtype, major = self.stored(who)
        return (k if major == "k" else rows) * dtype.bits // 8

    def tile(self, who: str) -> OperandTile:
        """An operand's tile, in the swizzle asked for or the widest that it fills."""
        rows, k, dtype, major = self.stored(who)
        width = layouts.swizzle_of(self.contiguous_bytes(who)) if self.swizzle is None else self.swizzle
        return OperandTile(rows, k, dtype, SharedLayout(major, width))

    @property
    def is_triton_tile(self) -> bool:
        """Whether ``tl.dot`` can have it: Triton's sides are powers of two."""
        return all(side & (side - 1) == 0 for side in (self.m, self.n, self.k))

    def lowered(self) -> lowering.DotLowering:
        """What Triton makes of it."""
        types = (self.a, self.b, self.d)
        return lowering.lower(
            self.m, self.n, self.k, *types, num_warps=self.num_warps, target=self.target, release=self.triton
        )

    def resolved(self) -> dict[str, Any]:
        """Every field, with the accumulator that A's type implies where none was given."""
        return {**asdict(self), "d": self.d or self.row.accumulators[0], "target": str(self.target)}


def read(args: Arguments) -> TileRequest:
    """Parameters as the command line gives them, with what was left out."""
    a = args["a"].name
    row = OPERANDS[stand_ins(a)[0]]
    sparse = args.get("sparse", False)
    return TileRequest(
        a=a,
        b=args["b"].name if "b" in args else a,
        d=args["d"].name if "d" in args else None,
        m=args.get("m", M),
        n=args.get("n", M),
        k=args.get("k", row.k * (2 if sparse else 1)),
        a_major=_MAJORS[args["a_major"]],
        b_major=_MAJORS[args["b_major"]],
        a_from=args["a_from"],
        sparse=sparse,
        swizzle=int(args["swizzle"]) if "swizzle" in args else None,
        num_warps=args["num_warps"],
        target=args["target"],
        triton=args.get("triton"),
        stages=max(args.get("stages", 1), 1),
    )
