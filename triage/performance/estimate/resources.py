"""Resources of a kernel that is not compiled yet, from its work: what to compile first is chosen by them, and the
compile corrects them."""

from __future__ import annotations

from triage.ir.matrix_instruction import of_product
from triage.model.case import Case
from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.performance.estimate.work import BlockWork, Body, WorkLoop, bodies

_BASE_REGISTERS = 32
"""Addresses, counters and temporaries of any kernel."""
_VECTOR_BYTES = 16
"""What one thread loads at a time; its address takes two registers."""
_MOST_REGISTERS = 255
SPILLED_FOR_EACH = 2
"""Values that ptxas spills for each that is too many (measured: 1 to 4)."""


def shared_bytes(work: BlockWork, stages: int) -> float:
    """Bytes of the operands that products read from shared memory: a pipelined loop keeps ``stages`` turns of them."""
    once = sum(access.bytes for access in work.body.loads if access.feeds_dot)
    loops = [_buffers(loop, stages) for loop in work.body.loops]
    return once + max(loops, default=0.0)


def _buffers(loop: WorkLoop, stages: int) -> float:
    here = sum(access.bytes for access in loop.body.loads if access.feeds_dot)
    deep = max(loop.stages or stages, 1) if loop.body.dots else 1
    return here * deep + max((_buffers(inner, stages) for inner in loop.body.loops), default=0.0)


def most_registers(threads: int) -> int:
    """What a thread may have: a block of many threads has fewer for each."""
    return min(_MOST_REGISTERS, 65536 // threads)


def needed_registers(loop: WorkLoop | None, threads: int, tensor_core: TensorCore, body: Body | None = None) -> float:
    """Registers a thread that the tensors of a loop take, or those of a ``body`` outside of loops, with the addresses
    of its loads."""
    inside = loop.body if loop is not None else body or Body()
    carried = 0.0 if loop is None or tensor_core is TensorCore.TCGEN05 else loop.carried_bytes
    loads = [access for access in inside.loads if not access.by_descriptor]
    addresses = sum(max(access.bytes / _VECTOR_BYTES / threads, 1) * 2 for access in loads)
    return _BASE_REGISTERS + (carried + inside.widest) / 4 / threads + addresses


def registers(work: BlockWork, threads: int, tensor_core: TensorCore) -> float:
    """Registers a thread of the fullest part."""
    outside = needed_registers(None, threads, tensor_core, work.body)
    loops = [needed_registers(loop, threads, tensor_core) for _, body in bodies(work.body) for loop in body.loops]
    return max(outside, *loops) if loops else outside


def stages_of(case: Case) -> int:
    """``num_stages``, or the default of the back end (triton/backends/*/compiler.py)."""
    stages = case.options.get("num_stages")
    return stages if isinstance(stages, int) else 3 if case.target.backend == "cuda" else 2


def predicted(work: BlockWork, case: Case) -> Resources:
    """What the compiler will probably report."""
    warps = int(case.options.get("num_warps", 4))
    stages = stages_of(case)
    threads = warps * case.target.warp_size
    dots = [dot for _, body in bodies(work.body) for dot in body.dots]
    core = TensorCore.NONE
    for dot in dots:
        core = of_product(dot.m, dot.n, dot.a, dot.tf32 or dot.scaled, case.target)
        if core is not TensorCore.NONE:
            break
    if core in (TensorCore.WGMMA, TensorCore.TCGEN05) and warps % 4:
        core = TensorCore.MMA_SYNC  # Both are issued by groups of four warps (PTX ISA).
    needed = registers(work, threads, core)
    most = most_registers(threads)
    return Resources(
        shared_bytes=int(shared_bytes(work, stages)),
        registers=int(min(needed, most)),
        spill_bytes=int(max(needed - most, 0)) * 4 * SPILLED_FOR_EACH,
        tensor_core=core,
        threads=threads,
    )
