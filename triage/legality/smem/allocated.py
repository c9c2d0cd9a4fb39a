"""Arithmetic of a kernel that is over the limit of shared memory: its buffers, as the compiled TTGIR allocates them.

The sizes are those of the IR and thus exact. What they leave of the required bytes is scratch of conversions and
reductions, and barriers; where they are more than is required, buffers that are never alive together share memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from triage.ir.declared import declared
from triage.legality import dtypes
from triage.legality.smem.estimate import estimate
from triage.model.errors import InputError
from triage.model.target import Target

_ALLOCATION = re.compile(
    r"\b(?:ttg|triton_gpu)\.local_alloc\b[^\n]{0,2000}?memdesc<(?P<shape>(?:\d{1,9}x){1,8})(?P<element>\w{1,20}),"
    r" ?#(?P<layout>\w{1,80})"
)
_LAYOUT = re.compile(r"^#(?P<name>\w{1,80}) = #[\w.]{1,80}<\{(?P<fields>.{0,2000})\}>", re.MULTILINE)
_ORDER = re.compile(r"\border = \[(?P<order>[\d, ]{1,40})\]|\brank = (?P<rank>\d)")
_BITS = re.compile(r"\D{0,4}(?P<bits>\d{1,3})")
_MOST_LISTED = 4
_TRITON_NAMES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "i8": "int8", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}


@dataclass(frozen=True, slots=True)
class Buffer:
    """``count`` tiles of ``shape``, the stages of a pipelined loop where it is more than one."""

    count: int
    shape: tuple[int, ...]
    element: str

    @property
    def tile_bytes(self) -> int:
        """Bytes of one tile."""
        bits = _BITS.match(self.element)
        return prod(self.shape) * max(8, int(bits["bits"]) if bits else 8) // 8

    @property
    def bytes(self) -> int:
        """Bytes of all tiles."""
        return self.count * self.tile_bytes

    def __str__(self) -> str:
        count = f"{self.count} x " if self.count > 1 else ""
        return f"{count}{'x'.join(map(str, self.shape))} {self.element} ({self.bytes} B)"


def buffers(ttgir: str) -> list[Buffer]:
    """The buffers that TTGIR allocates in shared memory, in its order."""
    ranks = {layout["name"]: _rank(layout["fields"]) for layout in _LAYOUT.finditer(ttgir)}
    allocated = []
    for allocation in _ALLOCATION.finditer(ttgir):
        extents = tuple(int(extent) for extent in allocation["shape"].rstrip("x").split("x"))
        rank = min(ranks.get(allocation["layout"], 2), len(extents))
        stages, shape = extents[: len(extents) - rank], extents[len(extents) - rank :]
        allocated.append(Buffer(prod(stages), shape, allocation["element"]))
    return allocated


def _rank(fields: str) -> int:
    """The rank of a shared layout; Hopper's, which has no order, is of matrices unless it says otherwise."""
    stated = _ORDER.search(fields)
    if stated is None:
        return 2
    return int(stated["rank"]) if stated["rank"] else stated["order"].count(",") + 1


def arithmetic(ttgir: str, required: int, limit: int, stages: int, target: Target, triton: str | None) -> list[str]:
    """What the required bytes consist of, what fits, and the command that explains it; empty without any buffer.
    ``stages``: the case's num_stages."""
    allocated = sorted(buffers(ttgir), key=lambda buffer: -buffer.bytes)
    total = sum(buffer.bytes for buffer in allocated)
    if not total:
        return []
    return [
        _listing(allocated, total, required),
        *_fewer(allocated, total, required, limit),
        *_command(allocated, ttgir, required, stages, target, triton),
    ]


def _listing(allocated: list[Buffer], total: int, required: int) -> str:
    more = f", {len(allocated) - _MOST_LISTED} smaller" if len(allocated) > _MOST_LISTED else ""
    rest = required - total
    end = (
        f"; the other {rest} B are scratch and barriers"
        if rest > 0
        else f"; {-rest} B are shared by buffers that are not alive together"
        if rest < 0
        else ""
    )
    return f"shared memory: {', '.join(map(str, allocated[:_MOST_LISTED]))}{more} of {required} B{end}"


def _fewer(allocated: list[Buffer], total: int, required: int, limit: int) -> Iterator[str]:
    """How many stages of the pipelined buffers fit."""
    staged = [buffer for buffer in allocated if buffer.count > 1]
    counts = {buffer.count for buffer in staged}
    if len(counts) != 1 or required < total:
        return
    a_stage, count = sum(buffer.tile_bytes for buffer in staged), counts.pop()
    removed = ceil((required - limit) / a_stage)
    if removed < count:
        fewer = required - removed * a_stage
        yield f"a stage takes {a_stage} B: num_stages lower by {removed} needs {fewer} of {limit} B"
    else:
        yield f"a stage takes {a_stage} B: no number of stages fits {limit} B with this tile"


def _command(
    allocated: list[Buffer], ttgir: str, required: int, stages: int, target: Target, triton: str | None
) -> Iterator[str]:
    """The command that explains a staged matmul, if its estimate is what the compiler required."""
    staged = [buffer for buffer in allocated if buffer.count > 1 and len(buffer.shape) == 2]
    loads = "tma" if "async_tma_copy" in ttgir else "pointer"
    warps = declared(ttgir).options.get("num_warps", 4)
    for a, b in ((a, b) for a in staged for b in staged if a is not b and a.shape[1] == b.shape[0]):
        name = _TRITON_NAMES.get(a.element)
        dtype = dtypes.find(name) if name and a.element == b.element else None
        if dtype is None:
            continue
        tile = (a.shape[0], b.shape[1], a.shape[1])
        try:
            need = estimate(
                tile=tile, dtype_a=dtype, stages=stages, target=target, num_warps=warps, loads=loads, triton=triton
            )
        except InputError:
            continue
        if need.total_bytes == required:
            shape = "x".join(map(str, tile))
            loading = " --loads tma" if loads == "tma" else ""
            yield (
                f"explained by: triage explain smem --target {target} --tile {shape} --dtype {name} --stages {stages}"
                f" --num-warps {warps}{loading}"
            )
            return
