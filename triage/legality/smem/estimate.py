"""Estimate of a configuration's shared memory, and the stages and tiles that are within the limit.

Compared with what Triton 3.2.0, 3.4.0, 3.5.1, 3.6.0, 3.7.1, 3.8.0 and 3.9.0 allocate (``metadata.shared``) on cuda:80,
86, 90, 100 and 120, hip:gfx942 and gfx950: tiles 16 … 256, BLOCK_K 16 … 128, stages 1 … 5, 4 and 8 warps, fp16, tf32,
fp8 and int8, descriptors from 3.4 on. Buffers and mbarriers were exact, but for what ``MemoryPart.exact`` excludes; the
layout conversion after the loop and the padding on gfx950 (a sixteenth at most) are upper bounds. A configuration was
over the limit exactly when ``Estimate.fits`` is false.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from triage.legality.dtypes import DType
from triage.legality.limits import limits
from triage.legality.release import series
from triage.legality.smem import model
from triage.legality.smem.model import Loop, MemoryPart
from triage.legality.violation import Violation, refuse
from triage.model.errors import InputError
from triage.model.target import Target

SOURCE = "triton: lib/Dialect/TritonGPU/Transforms/Pipeliner, lib/Analysis/Allocation.cpp"
_MOST_STAGES = 32
"""More stages than this are not looked at."""
_CONFIRMED_ON = {"80", "86", "90", "100", "120", "gfx942", "gfx950"}
_SMALLEST = 16
"""The smallest side of a tile that is proposed: what tl.dot takes everywhere."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes by part. ``during`` is alive in the loop, ``after`` follows it in the same memory (beside it where the
    kernel is warp-specialized). ``limit_bytes`` is a block's maximum, None where the target is not in the table.
    ``notes`` name what no compile confirmed."""

    loop: Loop
    during: tuple[MemoryPart, ...]
    after: MemoryPart
    limit_bytes: int | None
    notes: tuple[str, ...]

    @property
    def tile(self) -> tuple[int, int, int]:
        """BLOCK_M, BLOCK_N, BLOCK_K."""
        return (self.loop.m, self.loop.n, self.loop.k)

    @property
    def loop_bytes(self) -> int:
        """Bytes of the loop: parts one after the other, each aligned to 16."""
        end = 0
        for part in self.during:
            end = -(-end // 16) * 16 + part.bytes
        return end

    @property
    def total_bytes(self) -> int:
        """Upper bound of what the kernel asks for."""
        if self.loop.warp_specialized:
            return self.loop_bytes + self.after.bytes
        return max(self.loop_bytes, self.after.bytes)

    @property
    def exact(self) -> bool:
        """Whether ``total_bytes`` is the number itself and not an upper bound."""
        if not all(part.exact for part in self.during) or self.loop.warp_specialized:
            return False
        return self.after.exact or self.loop_bytes >= self.after.bytes

    @property
    def bytes_per_stage(self) -> int:
        """Bytes that one more stage adds to the operands' buffers."""
        more, less = (_operands(model.parts(replace(self.loop, stages=stages))[0]) for stages in (4, 3))
        return more - less

    @property
    def fits(self) -> bool | None:
        """Whether the loop, and what is exact of what follows, is within the limit. A layout conversion decides
        nothing: it never was what exceeded a limit. None where the limit is not known."""
        if self.limit_bytes is None:
            return None
        decides = self.loop.warp_specialized or self.after.exact
        return (self.total_bytes if decides else self.loop_bytes) <= self.limit_bytes


def _operands(parts: Sequence[MemoryPart]) -> int:
    return sum(part.bytes for part in parts if part.name in ("A", "B"))


def estimate(
    *,
    tile: Sequence[int],
    dtype_a: DType,
    dtype_b: DType | None = None,
    dtype_out: DType | None = None,
    stages: int,
    target: Target,
    num_warps: int = 4,
    loads: str = "pointer",
    b_layout: str = "kn",
    epilogue: str = "pointer",
    triton: str | None = None,
    warp_specialized: bool = False,
) -> Estimate:
    """Estimate a loop with ``tile`` (BLOCK_M, BLOCK_N, BLOCK_K), ``num_stages`` and ``num_warps``. ``loads`` and
    ``epilogue`` are ``pointer`` or ``tma`` (descriptors); ``b_layout`` is ``kn`` for a row-major B, ``nk`` for one that
    is K-major in memory; ``dtype_out`` is what is stored (default: 32 bits for 32-bit operands and integers, else 16).
    ``triton`` is a release (default: the newest confirmed). Raises InputError where a number makes no sense."""
    if len(tile) != 3 or any(side < 1 or side & (side - 1) for side in tile):
        raise InputError(f"--tile: {'x'.join(map(str, tile))} is not BLOCK_M x BLOCK_N x BLOCK_K in powers of two")
    if not 1 <= stages <= _MOST_STAGES:
        raise InputError(f"--stages: {stages}: give 1 … {_MOST_STAGES}")
    if num_warps < 1 or num_warps & (num_warps - 1):
        raise InputError(f"--num-warps: {num_warps} is not a power of two")
    loop = Loop(
        m=tile[0],
        n=tile[1],
        k=tile[2],
        a=dtype_a,
        b=dtype_b or dtype_a,
        out=dtype_out or model.result_type(dtype_a),
        stages=stages,
        warps=num_warps,
        target=target,
        loads=loads,
        b_layout=b_layout,
        epilogue=epilogue,
        release=series(triton),
        warp_specialized=warp_specialized,
    )
    return _of(loop)


def _of(loop: Loop) -> Estimate:
    row = limits(loop.target)
    during, after = model.parts(loop)
    return Estimate(loop, during, after, row.shared_bytes if row else None, tuple(_unconfirmed(loop)))


def _unconfirmed(loop: Loop) -> Iterator[str]:
    """One sentence for each way in which the loop is outside what was compared with compiles."""
    release = ".".join(map(str, loop.release))
    if release not in model.CONFIRMED:
        yield f"Not confirmed on Triton {release}: compared were {', '.join(model.CONFIRMED)}."
    if loop.target.arch not in _CONFIRMED_ON:
        yield f"Not confirmed for {loop.target}: compared were {', '.join(sorted(_CONFIRMED_ON))}."
    if loop.loads == "tma" and not loop.tma:
        yield f"{loop.target} has no TMA: Triton rewrites the descriptors to pointers, which was not compared."
    if loop.tma and loop.release < (3, 4):
        yield "Not confirmed for descriptors before Triton 3.4."
    if loop.warp_specialized:
        yield "Not confirmed for warp specialization: its own state is taken as 1024 B, and nothing is reused."
    if loop.warps not in (4, 8):
        yield f"Not confirmed for {loop.warps} warps: compared were 4 and 8."
    if loop.a != loop.b:
        yield "Not confirmed for operands of different types."
    if not all(16 <= side <= 256 for side in (loop.m, loop.n)) or not 16 <= loop.k <= 128:
        yield "Not confirmed for this tile: compared were 16 … 256 for M and N, 16 … 128 for K."
    if loop.a.bits not in (8, 16, 32):
        yield f"Not confirmed for {loop.a}: compared were 8, 16 and 32 bits."


def with_stages(need: Estimate, stages: int) -> Estimate:
    """The same loop with another ``num_stages``."""
    return _of(replace(need.loop, stages=stages))


def stages_that_fit(need: Estimate) -> tuple[int, ...]:
    """Every ``num_stages`` with which the loop is within the limit (at most 32), everything else as it is. Without
    pipelining, fp8 operands that are widened need more on some releases than with two stages."""
    return tuple(count for count in range(1, _MOST_STAGES + 1) if with_stages(need, count).fits)


def largest_tiles(need: Estimate, count: int = 3) -> tuple[Estimate, ...]:
    """The tiles closest below the one given that fit with everything else as it is: the most multiplications first,
    and among equals the most results, since they decide how often an operand is used."""
    loop = need.loop
    depth = max(_SMALLEST, 32 * 8 // loop.a.bits)
    sides = [_halves(loop.m, _SMALLEST), _halves(loop.n, _SMALLEST), _halves(loop.k, depth)]
    smaller = (_of(replace(loop, m=m, n=n, k=k)) for m, n, k in itertools.product(*sides))
    fitting = [other for other in smaller if other.fits and other.loop != loop]
    fitting.sort(key=lambda other: (prod(other.tile), prod(other.tile[:2]), other.loop.n), reverse=True)
    return tuple(fitting[:count])


def _halves(side: int, least: int) -> list[int]:
    return [side >> shift for shift in range(side.bit_length()) if side >> shift >= min(least, side)]


def violations(**loop: Any) -> list[Violation]:
    """The violations of a loop with the arguments of ``estimate``; empty when it fits or the limit is not known."""
    return violations_of(estimate(**loop))


def violations_of(need: Estimate) -> list[Violation]:
    """The violation of an estimate that does not fit: of ``stages`` where fewer of them would, else of ``tile``."""
    if need.fits is not False:
        return []
    row = limits(need.loop.target)
    source = row.source if row else SOURCE
    message = (
        f"{need.total_bytes} B of shared memory with {need.loop.stages} stages; "
        f"{need.loop.target} has {need.limit_bytes} B a block"
    )
    stages = stages_that_fit(need)
    if stages:
        return [refuse("smem.total", need.loop.stages, stages, source, message, stages[-1:], parameter="stages")]
    tiles = tuple(smaller.tile for smaller in largest_tiles(need))
    return [refuse("smem.total", need.tile, tiles, source, message, tiles, parameter="tile")]
