"""Cycles for the work of a block: what each unit of a multiprocessor needs for a turn of a loop, and the chain of what
waits for what.

Units work in parallel, each for all resident blocks, so the slowest decides; ``ORDER`` models how busy units delay each
other. The chain is the sequence of dependent steps of a single block that neither the pipeline nor other blocks hide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from triage.model.gpus import Rates, TensorCore
from triage.performance.estimate.resources import most_registers, needed_registers
from triage.performance.estimate.work import BlockAccess, BlockWork, Body, Dot, WorkLoop, bits

MEMORY_LATENCY, L2_LATENCY, L1_LATENCY = 1400.0, 300.0, 40.0
"""Cycles of a load. L1 and L2: "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking"; memory is taken
under load, about twice its latency when idle, as the tables in tests/benchmarks/measured show."""
DOT_LATENCY, BARRIER, SHUFFLE = 60.0, 40.0, 60.0
"""Cycles until a matrix product's result can be used after its last instruction, of a barrier, and of a shuffle with
the operation that combines."""
LINE = 1.8
"""Cycles for each 128-byte line that a load touches: rows shorter than a line waste the rest of it."""
LINE_BYTES, SECTOR_BYTES = 128.0, 32.0
SPILL_L1, SPILL_L2 = 32.0, 30.0
"""Bytes a cycle of spilled registers that stay in L1, and in L2."""
ORDER = 6
"""Of the norm that joins the units: a maximum would have them never wait for each other, a sum always."""
MOST_SHUFFLED, MATRIX_SHUFFLED = 32, 4
"""Lanes that hold a row of a tensor: a warp's at most, four in the layout of a matrix instruction's result."""
MATRIX_ROWS = 16
"""Rows of a matrix instruction's result that one warp holds (PTX ISA, mma and wgmma: fragments)."""
CONFLICTS = 8
"""Ways of the bank conflicts of a transposed write: 128 bytes lie in 32 banks, and rows are swizzled in eights."""
ISSUED_LATE = 0.5
"""When in a turn the loads of a later one begin, as a part of it."""
_DIVIDES = 0.25
"""Part of an issue slot that an operation of the special-function unit takes: one a quarter warp."""
TURN_INSTRUCTIONS = 20
"""Instructions of every thread for a turn of a loop whatever is in it: counters, addresses, barriers."""
VECTOR_BYTES, VECTOR_INSTRUCTIONS = 16.0, 4
"""What a thread loads at a time, and instructions for it: address, predicate, copy."""
_MMA_PRODUCTS = 2048
"""Multiplications of one mma.sync of 16-bit operands (PTX ISA, m16n8k16), which a warp issues."""


class Bound(str, Enum):
    """What a kernel waits for."""

    TENSOR_CORES = "tensor-cores"
    SHARED_MEMORY = "shared-memory"
    L2 = "l2"
    DRAM = "dram"
    ISSUE = "issue"
    SPECIAL = "special-functions"
    LATENCY = "latency"
    SPILLS = "spills"


@dataclass(frozen=True, slots=True)
class KernelSetting:
    """How a kernel was compiled. ``registers`` and ``spill_bytes`` are a thread's, ``shared_bytes`` a block's;
    ``resident`` is how many blocks a multiprocessor holds; ``register_copies``: operands that a loop takes through
    registers to another order in shared memory."""

    warps: int
    warp_size: int
    stages: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    tensor_core: TensorCore
    resident: int
    register_copies: int = 0

    @property
    def threads(self) -> int:
        """A block's."""
        return self.warps * self.warp_size


@dataclass(frozen=True, slots=True)
class Machine:
    """``dram`` is in bytes a cycle and multiprocessor, with all of them at it."""

    rates: Rates
    multiprocessors: int
    fastest: TensorCore

    @property
    def dram(self) -> float:
        """Bytes a cycle and multiprocessor."""
        return self.rates.memory_gb_s * 1e9 / (self.rates.clock_mhz * 1e6) / self.multiprocessors


@dataclass(frozen=True, slots=True)
class Caches:
    """What part of a repeated read misses L1, what part of that misses L2, and the rate of spilled registers in bytes
    a cycle."""

    misses_l1: float
    misses_l2: float
    spill_rate: float

    @classmethod
    def of(cls, work: BlockWork, setting: KernelSetting, machine: Machine, resident: int) -> Caches:
        """With ``resident`` blocks on every multiprocessor."""
        rates = machine.rates
        l1 = max(rates.l1_kib * 1024.0 - setting.shared_bytes * resident, 16 * 1024.0)
        read = work.footprint * resident
        misses_l1 = min(1.0, read / l1)
        device = (read + work.stored_bytes * resident) * machine.multiprocessors
        l2 = rates.l2_mib * (1 << 20)
        misses_l2 = max(0.0, 1 - l2 / device) if device else 0.0
        spilled = float(setting.spill_bytes * setting.threads * resident)
        outside_l1 = SPILL_L2 if spilled * machine.multiprocessors < l2 else machine.dram
        return cls(misses_l1, misses_l2, SPILL_L1 if spilled < l1 else outside_l1)


@dataclass(slots=True)
class Turn:
    """Cycles of each unit for one block; ``chain`` what a block does one after the other, by what it is spent on;
    ``waits`` the latency of its loads."""

    units: dict[Bound, float] = field(default_factory=dict)
    chain: dict[Bound, float] = field(default_factory=dict)
    waits: float = 0.0

    def add(self, unit: Bound, cycles: float) -> None:
        self.units[unit] = self.units.get(unit, 0.0) + cycles

    def follow(self, bound: Bound, cycles: float) -> None:
        """A link of the chain."""
        self.chain[bound] = self.chain.get(bound, 0.0) + cycles


def cycles_of(dot: Dot, setting: KernelSetting, machine: Machine) -> tuple[float, float]:
    """Cycles of the tensor cores and of shared memory for one product."""
    flops = 2.0 * dot.m * dot.n * dot.k * dot.batch
    rates = machine.rates
    wider = max(bits(dot.a), bits(dot.b))
    if setting.tensor_core is TensorCore.NONE or (wider >= 32 and not dot.tf32):
        # Each operand element is read from shared memory once for some eight results that a thread holds.
        return flops / (2 * rates.lanes), (dot.a_bytes * dot.n + dot.b_bytes * dot.m) / 64 / rates.shared_bytes
    speed = 16 / max(wider, 8) if wider < 64 else 1 / 16
    asynchronous = setting.tensor_core in (TensorCore.WGMMA, TensorCore.TCGEN05) and dot.m >= 64
    if asynchronous:
        # Each 64 rows of A pass over all of B, and each group of four warps over its rows of A.
        rows = max(dot.m // 64, 1)
        across = max(setting.warps // 4 // rows, 1)
        read = rows * dot.b_bytes + (dot.a_bytes * across if dot.a_from_memory else 0)
        # One instruction takes 32 bytes of every row of A (PTX ISA, wgmma: k).
        instructions = rows * across * dot.batch * max(dot.k * bits(dot.a) / 8 / 32, 1)
        tensor = max(flops / (rates.matrix_flops * speed), instructions * LEAST_PRODUCT)
        return tensor, read / rates.shared_bytes
    part = rates.older_matrix if machine.fastest is not setting.tensor_core or dot.m < 64 else 1.0
    # Warps tile the rows first, and each reads its rows of A and its columns of B.
    rows = min(setting.warps, max(dot.m // 16, 1))
    columns = max(setting.warps // rows, 1)
    read = dot.b_bytes * rows + (dot.a_bytes * columns if dot.a_from_memory else 0)
    padded = max(dot.m, 16) / dot.m
    return flops * padded / (rates.matrix_flops * speed * part), read / rates.shared_bytes


def turn(body: Body, setting: KernelSetting, machine: Machine, caches: Caches, spilled: bool) -> Turn:
    """One turn of a loop's own body, without the loops inside; ``spilled``: registers are, in it."""
    rates, cycles = machine.rates, Turn()
    lanes = body.lanes + TURN_INSTRUCTIONS * setting.threads
    for dot in body.dots:
        tensor, shared = cycles_of(dot, setting, machine)
        cycles.add(Bound.TENSOR_CORES, tensor)
        cycles.add(Bound.SHARED_MEMORY, shared)
        # A warp has the tensor core of one of four partitions.
        alone = tensor * max(1.0, 4 / setting.warps)
        cycles.follow(*max((Bound.TENSOR_CORES, alone), (Bound.SHARED_MEMORY, shared), key=lambda link: link[1]))
        cycles.follow(Bound.LATENCY, DOT_LATENCY)
        if not dot.a_from_memory and setting.warps > dot.m // MATRIX_ROWS:
            # Warps share rows, so the computed operand goes to the others through shared memory.
            exchanged = 2 * dot.a_bytes / rates.shared_bytes
            cycles.add(Bound.SHARED_MEMORY, exchanged)
            cycles.follow(Bound.SHARED_MEMORY, exchanged)
            cycles.follow(Bound.LATENCY, 2 * BARRIER)
    if body.dots and setting.register_copies:
        largest = max(max(dot.a_bytes, dot.b_bytes) for dot in body.dots)
        # Read once, written in the other order with bank conflicts; the product waits for it.
        copied = setting.register_copies * largest * (1 + CONFLICTS) / rates.shared_bytes
        cycles.add(Bound.SHARED_MEMORY, copied)
        cycles.follow(Bound.SHARED_MEMORY, copied)
        cycles.follow(Bound.LATENCY, 2 * BARRIER)
    for access in (*body.loads, *body.stores):
        if not access.by_descriptor:
            lanes += access.bytes / min(VECTOR_BYTES, access.row_bytes) * VECTOR_INSTRUCTIONS
    for access in body.loads:
        _load(access, cycles, machine, caches, staged=access.feeds_dot and bool(body.dots))
    for access in body.stores:
        cycles.add(Bound.L2, access.bytes / rates.cache_bytes)
        cycles.add(Bound.DRAM, access.bytes / machine.dram)
    for elements, along in body.reduced:
        across = min(along, MATRIX_SHUFFLED if body.dots else MOST_SHUFFLED)
        steps = math.log2(max(across, 2))
        lanes += elements / along * across * steps * 2
        rows = elements / along
        # Where warps share rows, their partial results meet in shared memory.
        shares_rows = setting.warps > (rows / MATRIX_ROWS if body.dots else rows)
        cycles.follow(Bound.LATENCY, SHUFFLE * steps + (2 * BARRIER if shares_rows else 0))
    cycles.add(Bound.ISSUE, lanes / rates.lanes + _DIVIDES * body.special / rates.special)
    cycles.add(Bound.SPECIAL, body.special / rates.special)
    # A warp issues on one of four partitions.
    few = max(1.0, 4 / setting.warps)
    cycles.follow(Bound.ISSUE, few * lanes / rates.lanes)
    cycles.follow(Bound.SPECIAL, few * body.special / rates.special)
    if body.dots:
        cycles.follow(Bound.LATENCY, BARRIER)
    if setting.spill_bytes and spilled:
        spills = 2 * setting.spill_bytes * setting.threads / caches.spill_rate
        cycles.add(Bound.SPILLS, spills)
        # What is read back is waited for: the registers that could hold it earlier are taken.
        cycles.follow(Bound.SPILLS, spills + setting.spill_bytes / 4 * L1_LATENCY)
    return cycles


def _load(access: BlockAccess, cycles: Turn, machine: Machine, caches: Caches, staged: bool) -> None:
    rates = machine.rates
    moved = access.bytes / rates.cache_bytes
    if not access.by_descriptor:
        moved = max(moved, LINE * access.bytes / min(max(access.row_bytes, SECTOR_BYTES / 2), LINE_BYTES))
    if staged:
        cycles.add(Bound.SHARED_MEMORY, access.bytes / rates.shared_bytes)
        cycles.add(Bound.L2, moved)
        cycles.waits = max(cycles.waits, MEMORY_LATENCY)
    elif access.again or access.by_all:
        missed = access.bytes * caches.misses_l1
        cycles.add(Bound.L2, moved * caches.misses_l1)
        if not access.by_all:
            cycles.add(Bound.DRAM, missed * caches.misses_l2 / machine.dram)
        cycles.waits = max(cycles.waits, L1_LATENCY + caches.misses_l1 * (L2_LATENCY - L1_LATENCY))
    else:
        cycles.add(Bound.L2, moved)
        cycles.add(Bound.DRAM, access.bytes / machine.dram)
        cycles.waits = max(cycles.waits, MEMORY_LATENCY)


LEAST_PRODUCT = 32.0
"""Cycles of an asynchronous matrix instruction, however few columns it has."""
FULL = 0.85
"""Of a thread's registers: a loop that needs more is where values are spilled."""


def pressure(loop: WorkLoop, setting: KernelSetting) -> float:
    """Registers that the tensors of a loop need, as a part of those that there are."""
    return needed_registers(loop, setting.threads, setting.tensor_core) / most_registers(setting.threads)


def _is_full(body: Body, setting: KernelSetting) -> bool:
    return any(pressure(loop, setting) > FULL or _is_full(loop.body, setting) for loop in body.loops)


def is_pipelined(loop: WorkLoop, setting: KernelSetting) -> bool:
    """Whether loads of a turn begin in an earlier turn: Triton does so for loads that feed a matrix product."""
    stages = loop.stages or setting.stages
    feeds = bool(loop.body.dots) and any(access.feeds_dot for access in loop.body.loads)
    return stages > 1 and (feeds or loop.stages is not None)


def block(work: BlockWork, setting: KernelSetting, machine: Machine, resident: int) -> dict[Bound, float]:
    """Cycles by what bounds them until ``resident`` blocks that share a multiprocessor have ended."""
    caches = Caches.of(work, setting, machine, resident)
    total: dict[Bound, float] = {}
    for cycles in _parts(work.body, 1.0, None, setting, machine, caches, resident):
        for bound, amount in cycles.items():
            total[bound] = total.get(bound, 0.0) + amount
    return total


def _parts(
    body: Body,
    times: float,
    loop: WorkLoop | None,
    setting: KernelSetting,
    machine: Machine,
    caches: Caches,
    resident: int,
) -> Iterator[dict[Bound, float]]:
    # Where no loop is too full, the spills are outside of loops.
    spilled = (loop is not None and pressure(loop, setting) > FULL) or (loop is None and not _is_full(body, setting))
    here = turn(body, setting, machine, caches, spilled)
    chain = sum(here.chain.values())
    if loop is not None and is_pipelined(loop, setting):
        ahead = (loop.stages or setting.stages) - 1
        moved = here.units.get(Bound.L2, 0.0)
        late = (here.waits + moved + ISSUED_LATE * chain) / ahead - chain
        here.follow(Bound.LATENCY, max(late, 0.0))
        yield {Bound.LATENCY: here.waits * times / max(loop.trips, 1.0)}
    elif here.waits:
        here.follow(Bound.LATENCY, here.waits)
        here.follow(Bound.SHARED_MEMORY, here.units.get(Bound.SHARED_MEMORY, 0.0) if body.dots else 0.0)
    yield {unit: cycles * times for unit, cycles in _joined(here, resident).items()}
    for inner in body.loops:
        yield from _parts(inner.body, times * inner.trips, inner, setting, machine, caches, resident)


def _joined(here: Turn, resident: int) -> dict[Bound, float]:
    """Cycles of a turn of ``resident`` blocks, by what they are spent on."""
    chain = sum(here.chain.values())
    amounts = [chain, *(amount * resident for amount in here.units.values())]
    powers = sum(amount**ORDER for amount in amounts)
    if not powers:
        return {}
    scale = powers ** (1 / ORDER) / powers
    spent = {unit: (amount * resident) ** ORDER * scale for unit, amount in here.units.items()}
    for bound, link in here.chain.items():
        spent[bound] = spent.get(bound, 0.0) + chain**ORDER * scale * (link / chain if chain else 0.0)
    return spent
