"""A launch by its dimensions: threads of a block in three dimensions, clusters, grid, shared memory, named barriers.

The limits are CUDA's: blocks and grids of the CUDA programming guide, "Compute Capabilities"; clusters of
cudaLaunchKernelEx; named barriers of PTX ISA, "barrier{.cta}". CuTe DSL checks the number of dimensions (4.8.1: of
grid, block and cluster; ``LAUNCH_INVALID_CLUSTER``) and little else: blocks of 1,536 threads, clusters of 0 or 32
blocks and 300 KiB of shared memory compile, and fail when they are launched.
"""

from collections.abc import Sequence
from math import prod

from triage.legality.limits import limits
from triage.legality.violation import Violation, nearest, powers, refuse
from triage.model.target import Target

GUIDE = "CUDA programming guide, Compute Capabilities: maximum sizes of blocks and grids"
CLUSTERS = "CUDA Runtime API, cudaLaunchKernelEx: cluster dimensions"
BARRIERS = "PTX ISA, barrier{.cta}: barriers 0 to 15, whole warps"
DSL = "CuTe DSL 4.8.1, launch: grid, block and cluster have three dimensions"
BLOCK = (1024, 1024, 64)
"""The most threads in each dimension; the product is bounded too."""
GRID = ((1 << 31) - 1, 65535, 65535)
NAMED_BARRIERS = 16
_WARP = 32
_CLUSTERS_SINCE = 90


def violations(
    target: Target,
    *,
    block: Sequence[int] = (128, 1, 1),
    cluster: Sequence[int] | None = None,
    grid: Sequence[int] | None = None,
    shared_bytes: int = 0,
) -> list[Violation]:
    """Violations of a launch on an NVIDIA target: threads of a block, blocks of a cluster and of the grid along x, y,
    z, and bytes of shared memory a block, static and dynamic together. Limits that the table of targets lacks are not
    checked."""
    broken = [*_dimensions("block", block, BLOCK), *_threads(target, block)]
    if grid is not None:
        broken += _dimensions("grid", grid, GRID)
    if cluster is not None:
        broken += _cluster(target, cluster, grid)
    row = limits(target)
    if row is not None and shared_bytes > row.shared_bytes:
        message = f"{shared_bytes} bytes of shared memory a block: {target} has {row.shared_bytes}"
        near = (row.shared_bytes,)
        broken.append(refuse("launch.shared-bytes", shared_bytes, near, row.source, message, near))
    return broken


def barrier_violations(*, barrier: int | None = None, threads: int | None = None) -> list[Violation]:
    """Violations of a named barrier: its number, and the threads that meet there (``cute.arch.barrier``)."""
    broken = []
    if barrier is not None and not 0 <= barrier < NAMED_BARRIERS:
        message = f"barrier {barrier}: a block has {NAMED_BARRIERS}, 0 to {NAMED_BARRIERS - 1}"
        broken.append(refuse("launch.barrier", barrier, range(NAMED_BARRIERS), BARRIERS, message))
    if threads is not None and (threads <= 0 or threads % _WARP or threads > BLOCK[0]):
        allowed = range(_WARP, BLOCK[0] + 1, _WARP)
        message = f"a barrier of {threads} threads: it counts whole warps of {_WARP}, up to {BLOCK[0]}"
        broken.append(refuse("launch.barrier-threads", threads, allowed, BARRIERS, message))
    return broken


def _dimensions(name: str, sizes: Sequence[int], most: Sequence[int]) -> list[Violation]:
    if len(sizes) != len(most):
        message = f"{name} has {len(sizes)} dimensions: it must have exactly 3"
        return [refuse(f"launch.{name}", tuple(sizes), (), DSL, message)]
    broken = []
    for axis, size, limit in zip("xyz", sizes, most, strict=True):
        if not 1 <= size <= limit:
            message = f"{name} of {'x'.join(map(str, sizes))}: {axis} is 1 to {limit}"
            fitting = tuple(min(max(size, 1), limit) for size, limit in zip(sizes, most, strict=True))
            broken.append(refuse(f"launch.{name}", tuple(sizes), (fitting,), GUIDE, message))
            break
    return broken


def _threads(target: Target, block: Sequence[int]) -> list[Violation]:
    row = limits(target)
    most = row.threads if row else BLOCK[0]
    threads = prod(block)
    if threads <= most:
        return []
    message = f"{threads} threads a block: {target} takes {most}"
    source = row.source if row else GUIDE
    return [refuse("launch.threads", threads, range(_WARP, most + 1, _WARP), source, message, parameter="block")]


def _cluster(target: Target, cluster: Sequence[int], grid: Sequence[int] | None) -> list[Violation]:
    shape = "x".join(map(str, cluster))
    if len(cluster) != 3:
        message = f"cluster {shape}: it must have exactly 3 dimensions"
        return [refuse("launch.cluster", tuple(cluster), (), DSL, message)]
    row, blocks = limits(target), prod(cluster)
    if min(cluster) < 1:
        message = f"cluster {shape}: every dimension is 1 or more"
        return [refuse("launch.cluster", tuple(cluster), (), CLUSTERS, message)]
    broken = []
    if (target.capability or 0) < _CLUSTERS_SINCE and blocks > 1:
        message = f"{target} has no clusters: they begin with 9.0"
        broken.append(refuse("launch.cluster", tuple(cluster), ((1, 1, 1),), CLUSTERS, message))
    elif row is not None and blocks > row.cluster_blocks:
        fitting = nearest(blocks, powers(row.cluster_blocks))[:1]
        message = f"a cluster of {blocks} blocks ({shape}): {target} takes {row.cluster_blocks}, 8 portably"
        broken.append(refuse("launch.cluster-blocks", blocks, fitting, row.source, message, fitting, "cluster"))
    if grid is not None and len(grid) == 3:
        for axis, size, part in zip("xyz", grid, cluster, strict=True):
            if size % part:
                message = f"grid {axis}={size} is not a multiple of the cluster's {part}"
                broken.append(refuse("launch.grid-cluster", size, (), CLUSTERS, message, parameter="grid"))
    return broken
