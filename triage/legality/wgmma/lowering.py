"""Triton's lowering of ``tl.dot`` on Hopper: the wgmma and their number, or the obstacles to wgmma.

The conditions are those of ``lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp`` (supportMMA version 3,
warpsPerTileV3) and ``mmaVersionToInstrShape``; this module was compared with the layouts and the PTX that the
releases 3.0.0 to 3.9.0 produce. They choose the same instruction for every tile that they give to wgmma; they differ
in the smallest tiles: up to 3.4 ``tl.dot`` refuses N below 16, 3.5 to 3.7 give it to mma.sync, 3.8 and 3.9 to wgmma;
8-bit types with K=16 (half an instruction) are refused from 3.3 on and go to mma.sync on 3.2; 3.0 and 3.1 refuse int8,
and die of fp8 ("unsupported shared memory layout for MMAv3") where the tile is fit for wgmma otherwise.

Not judged: dots of rank 3, dots whose result feeds another dot's operand (Triton then lays all warps along M),
``max_num_imprecise_acc`` below 32 with fp8, clusters (``num_ctas`` over 1), warp specialization.
"""

from dataclasses import dataclass
from enum import Enum

from triage.legality import dtypes
from triage.legality.release import series
from triage.legality.violation import Violation, refuse
from triage.legality.wgmma.instruction import WgmmaInstruction
from triage.legality.wgmma.types import OPERANDS, M, OperandRule
from triage.model.target import Target

SOURCE = "Triton, AccelerateMatmul.cpp: supportMMA, warpsPerTileV3; mmaVersionToInstrShape"
HOPPER = Target("cuda", "90")
_TRITON_TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8")
"""Operands that tl.dot gives to wgmma; it refuses uint8 and 1-bit operands."""
_WIDEST_INT8 = 224
"""Triton's list of N for int8 ends below 256, so an N of 256 becomes two instructions of 128."""


class Path(Enum):
    """The kinds of instructions that a dot becomes on Hopper."""

    WGMMA = "wgmma"
    MMA_SYNC = "mma.sync"
    FMA = "fma"
    REFUSED = "refused by tl.dot"
    CRASH = "crash"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DotLowering:
    """The lowering of a dot.

    With wgmma: ``warps`` along M and N, ``tiles`` of the instruction in the tile along M, N and K, ``issued`` how many
    each warpgroup executes, ``passes`` how often (3 for tf32x3). Else ``obstacles`` are the conditions that fail, as
    violations whose ``parameter`` is the argument of ``lower``.
    """

    path: Path
    instruction: WgmmaInstruction | None = None
    warps: tuple[int, int] | None = None
    tiles: tuple[int, int, int] | None = None
    issued: int = 0
    passes: int = 1
    obstacles: tuple[Violation, ...] = ()


def lower(
    m: int,
    n: int,
    k: int,
    a: str,
    b: str | None = None,
    d: str | None = None,
    input_precision: str = "tf32",
    num_warps: int = 4,
    target: Target = HOPPER,
    release: str | None = None,
) -> DotLowering:
    """The lowering of ``tl.dot`` of an M x K by a K x N tile; sizes in elements, types in any spelling.

    ``f32`` operands count as tf32 with ``input_precision`` ``tf32`` or ``tf32x3``, and go to FMA with ``ieee``. The
    majors do not matter here: Triton brings an operand into K-major form where the type needs that. ``release`` is
    Triton's, the newest known when left out. Raises InputError for a name that is not a type, a
    release that is none.
    """
    left, right = dtypes.parse(a).name, dtypes.parse(b or a).name
    single = {"f32", "tf32"}
    if target == HOPPER and {left, right} <= single and "f32" in (left, right) and input_precision == "ieee":
        reason = "ieee precision multiplies fp32 exactly, on no tensor core: FMA; tf32 takes wgmma"
        fma = refuse("wgmma.input-precision", input_precision, ("tf32", "tf32x3"), SOURCE, reason)
        return DotLowering(Path.REFUSED if _refused(32, "f32", n, k, release) else Path.FMA, obstacles=(fma,))
    names = tuple("tf32" if name in single else name for name in (left, right))
    row = OPERANDS.get(names[0]) if names[0] in _TRITON_TYPES else None
    obstacles = list(_conditions(m, n, k, row, names, num_warps, target, release))
    if obstacles or row is None:
        return DotLowering(_path(obstacles, row, n, k, target, release), obstacles=tuple(obstacles))
    instruction_n = _width(m, n, row, num_warps)
    accumulator = dtypes.parse(d).name if d else row.accumulators[0]
    chosen = WgmmaInstruction(row, OPERANDS[names[1]], accumulator, instruction_n)
    warps = warps_of(m, num_warps)
    tiles = (m // M, n // instruction_n, k // row.k)
    rounds = (max(m // (16 * warps[0]), 1), max(n // (instruction_n * warps[1]), 1), tiles[2])
    passes = 3 if input_precision == "tf32x3" and "f32" in (left, right) else 1
    return DotLowering(Path.WGMMA, chosen, warps, tiles, rounds[0] * rounds[1] * rounds[2] * passes, passes)


def warps_of(m: int, num_warps: int) -> tuple[int, int]:
    """Warps along M and N: warpgroups of (4, 1), doubled along M while the tile has rows for them, then along N."""
    along_m, along_n = 4, 1
    while along_m * along_n < num_warps:
        if m > 16 * along_m:
            along_m *= 2
        else:
            along_n *= 2
    return along_m, along_n


def _width(m: int, n: int, row: OperandRule, num_warps: int) -> int:
    """The instruction's N: the widest of the type's that divides the tile and leaves one for every warp along N."""
    share = max(n // max(num_warps // max(m // 16, 1), 1), 8)
    most = min(share, _WIDEST_INT8) if row.dtype.name == "s8" else share
    return max(width for width in row.n if width <= most and n % width == 0)


def _conditions(
    m: int,
    n: int,
    k: int,
    row: OperandRule | None,
    names: tuple[str, ...],
    num_warps: int,
    target: Target,
    release: str | None,
) -> list[Violation]:
    broken = []
    if target != HOPPER:
        reason = f"{target} has no wgmma: Triton uses it on cuda:90 alone"
        broken.append(refuse("wgmma.target", str(target), ("cuda:90",), SOURCE, reason))
    if row is None:
        reason = f"Triton gives no {names[0]} operand to wgmma"
        broken.append(refuse("wgmma.a", names[0], _TRITON_TYPES, SOURCE, reason, ()))
    elif names[1] not in row.partners:
        reason = f"Triton has no wgmma of {names[0]} by {names[1]}"
        broken.append(refuse("wgmma.b", names[1], row.partners, SOURCE, reason, row.partners[:1]))
    if num_warps % 4 or num_warps <= 0:
        reason = f"num_warps={num_warps}: a wgmma is issued by a warpgroup of 4 warps"
        broken.append(refuse("wgmma.num-warps", num_warps, (4, 8, 16, 32), SOURCE, reason, (4,)))
    if m % M or m <= 0:
        reason = f"M={m} is not a multiple of {M}, the rows of one wgmma; the next is {max(-(-m // M) * M, M)}"
        broken.append(refuse("wgmma.m", m, (), SOURCE, reason))
    least = 16 if series(release) < (3, 8) else 8
    if n % 8 or n < least:
        reason = f"N={n} is not a multiple of 8, as the N of every wgmma is"
        if n % 8 == 0 and n > 0:
            reason = f"N={n}: Triton {release} gives a tile to wgmma from N={least} on"
        broken.append(refuse("wgmma.n", n, (), SOURCE, reason))
    if row is not None and (k % row.k or k <= 0):
        reason = f"K={k} is not a multiple of {row.k}, the K of one {names[0]} wgmma (32 bytes)"
        broken.append(refuse("wgmma.k", k, (), SOURCE, reason))
    return broken


def _path(
    obstacles: list[Violation], row: OperandRule | None, n: int, k: int, target: Target, release: str | None
) -> Path:
    """The instructions that replace wgmma on Hopper."""
    failed = {obstacle.parameter for obstacle in obstacles}
    if target != HOPPER or row is None or "b" in failed:
        return Path.UNKNOWN
    if _refused(row.dtype.bits, row.dtype.name, n, k, release):
        return Path.REFUSED
    if failed == {"k"} and series(release) < (3, 2):
        return Path.CRASH
    return Path.MMA_SYNC


def _refused(bits: int, name: str, n: int, k: int, release: str | None) -> bool:
    """Whether the front end takes no such dot (``triton/language/semantic.py``: the least sizes of a dot)."""
    if n < 16 and series(release) < (3, 5):
        return True
    narrow = bits == 8 and (series(release) >= (3, 3) or (name == "s8" and series(release) < (3, 2)))
    return k < (32 if narrow else 16)
