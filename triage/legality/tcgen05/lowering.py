"""Triton's lowering of ``tl.dot`` on datacenter Blackwell: the tiles that become tcgen05.mma, with M and N.

Observed on 3.6 to 3.9 for cuda:100 (lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp): 4 or 8 warps, at least 64
rows and 8 columns a CTA (16 before 3.8); anything else becomes mma.sync. int8 becomes tcgen05 from 3.8 on, on cuda:100
alone; for the rest cuda:103 and cuda:110 are alike. A dot over two CTAs (``num_ctas=2``) is two instructions of one
CTA each. 3.6.0 refuses an accumulator of more than 512 columns ("nCol / (CTASplitM * CTASplitN) must be less than or
equal to 512"); later ones compile it, without any tcgen05.

An 8-bit B that is N-major in shared memory (a row-major [K, N] tensor) cannot be 8 columns wide: Triton then fails with
"failed to find valid tcgen05.mma layout for operand B".
"""

from dataclasses import dataclass

from triage.legality.dtypes import DType
from triage.legality.release import Series, series
from triage.legality.tcgen05.kinds import of
from triage.model.target import Target

SOURCE = "triton/lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp"
WARPS = (4, 8)
OPERANDS = ("f16", "bf16", "tf32", "f32", "e4m3", "e5m2", "s8")
"""What ``tl.dot`` takes of what tcgen05 multiplies; 4-bit types come with ``tl.dot_scaled``."""
LEAST_M = 64
_EIGHT_COLUMNS: Series = (3, 8)
"""First release that takes N of 8, and int8."""
_CAPABILITIES = (100, 103, 110)
_WIDEST_N = 256


@dataclass(frozen=True, slots=True)
class Lowered:
    """The instruction of a dot, and how many of it a tile takes for all of its K; or ``reason``, why it is none."""

    kind: str = ""
    m: int = 0
    n: int = 0
    k: int = 0
    count: int = 0
    reason: str = ""


def lowered(
    a: DType, b: DType, tile: tuple[int, int, int], num_warps: int, target: Target, triton: str | None = None
) -> Lowered:
    """The lowering of a dot of ``tile`` (M, N, K of one CTA, in elements) with operands of these types, fp32 ones with
    TF32 precision, A and B from shared memory; ``triton`` is the release, the newest for None."""
    kind = of(*("tf32" if dtype.name == "f32" else dtype.name for dtype in (a, b)))
    m, n, k = tile
    late = series(triton) >= _EIGHT_COLUMNS
    if target.capability not in _CAPABILITIES:
        return Lowered(reason=f"{target} has no tcgen05")
    integer = kind is not None and kind.name == "i8"
    if kind is None or not {a.name, b.name} <= set(OPERANDS) or (integer and (target.capability != 100 or not late)):
        return Lowered(reason=f"no tcgen05.mma of {a} x {b} that Triton uses on {target}")
    if num_warps not in WARPS:
        return Lowered(reason=f"{num_warps} warps: it takes 4 or 8")
    least = 8 if late else 16
    if m < LEAST_M or n < least:
        return Lowered(reason=f"a tile of {m}x{n}: it takes at least {LEAST_M}x{least}")
    rows, columns = min(m, 128), min(n, _WIDEST_N)
    return Lowered(kind.name, rows, columns, kind.k, (m // rows) * (n // columns) * (k // kind.k))
