"""How many blocks of a kernel an SM (AMD: compute unit) holds at a time, and what keeps it from holding more.

Every resource allows a number of blocks; the smallest is the answer. NVIDIA: registers are given to warps, in units of
256 (8 a thread), and a warp's come from the partition that it runs on, so a partition holds whole warps only; a block
that leaves partitions unused must still fit as if it did not. Shared memory is given to blocks, in units, with 1 KiB
for the driver from capability 8.0 on, and with the carve-out that suits the kernel best. AMD: a wave's VGPRs come
from its SIMD in granules; a work-group of more than one wave needs a barrier.

Not counted: registers that setmaxnreg moves between warps at run time, SGPRs (a kernel with more than 80 of them may
have fewer waves on gfx9), scratch memory, clusters (all blocks of a cluster start together).
"""

from dataclasses import dataclass

from triage.legality.explanation import Fact, RuleTable
from triage.legality.limits import limits, multiprocessor, multiprocessors
from triage.legality.rule import Arguments, Judgement, LegalityRule, RuleParameter, Syntax
from triage.legality.violation import Violation, refuse
from triage.model.errors import InputError
from triage.model.gpus import Multiprocessor
from triage.model.target import Target

TITLE = "blocks and warps on a multiprocessor, and what limits them"


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Resident blocks and warps.

    ``limited_by`` is the resource that allows the fewest blocks (``shared memory``, ``registers``, ``warps`` or
    ``blocks``), the first in this order where several do; ``allowed`` is what each allows. ``warps_per_sm`` counts
    resident warps, of the ``most_warps`` that there is room for. Shared memory is left out where none is taken.
    """

    blocks_per_sm: int
    warps_per_sm: int
    most_warps: int
    limited_by: str
    allowed: tuple[tuple[str, int], ...]

    @property
    def fraction(self) -> float:
        """Resident warps out of those that there is room for."""
        return self.warps_per_sm / self.most_warps

    def __str__(self) -> str:
        blocks = (
            "no block fits" if not self.blocks_per_sm else f"{self.blocks_per_sm} block{'s'[: self.blocks_per_sm > 1]}"
        )
        return f"{blocks} an SM, limited by {self.limited_by}"


def of(*, shared_bytes: int, registers: int, threads: int, target: Target) -> Occupancy | None:
    """The occupancy of a kernel: shared memory a block in bytes (static and dynamic together), registers a thread
    (AMD: VGPRs and AGPRs together where they are one file), threads a block. No block fits where the kernel asks for
    more than a block may have. None for a target that is not in the table; ValueError where ``threads`` is not
    positive or another number is negative."""
    if threads < 1 or shared_bytes < 0 or registers < 0:
        raise ValueError(f"{threads} threads, {shared_bytes} bytes, {registers} registers: no such kernel")
    sm, block = multiprocessor(target), limits(target)
    if sm is None or block is None:
        return None
    warps = -(-threads // target.warp_size)
    allowed: tuple[tuple[str, int], ...] = (
        ("registers", _by_registers(sm, registers, warps) if registers <= block.registers else 0),
        ("warps", sm.warps // warps if threads <= block.threads else 0),
        # A work-group of one wave needs no barrier, of which there are as many as ``blocks`` on AMD.
        ("blocks", sm.warps if target.backend == "hip" and warps == 1 else sm.blocks),
    )
    if taken := _up(shared_bytes + sm.reserved_bytes, sm.shared_granule):
        by_shared = sm.shared_bytes // taken if shared_bytes <= block.shared_bytes else 0
        allowed = (("shared memory", by_shared), *allowed)
    limited_by, blocks = min(allowed, key=lambda entry: entry[1])
    return Occupancy(blocks, blocks * warps, sm.warps, limited_by, allowed)


def _by_registers(sm: Multiprocessor, registers: int, warps: int) -> int:
    """Warps a partition holds, times partitions, in whole blocks."""
    each = max(_up(registers, sm.register_granule), sm.register_granule)
    resident = sm.registers // each
    if _up(warps, sm.partitions) > resident * sm.partitions:
        return 0
    return resident * sm.partitions // warps


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def register_steps(*, threads: int, target: Target) -> tuple[tuple[int, int], ...]:
    """The most registers a thread with which 1, 2, … blocks fit, by registers alone: ``(blocks, registers)``, fewest
    blocks first; a step that more blocks share is listed for the most of them."""
    sm, block = multiprocessor(target), limits(target)
    if sm is None or block is None:
        return ()
    warps = -(-threads // target.warp_size)
    steps: dict[int, int] = {}
    for registers in range(1, block.registers + 1):
        steps[_by_registers(sm, registers, warps)] = registers
    return tuple(sorted((blocks, most) for blocks, most in steps.items() if 0 < blocks * warps <= sm.warps))


def steps_table(threads: int, target: Target) -> RuleTable:
    """``register_steps`` as a table."""
    rows = tuple((str(blocks), str(most)) for blocks, most in register_steps(threads=threads, target=target))
    return RuleTable(f"at {threads} threads", ("blocks an SM", "registers a thread"), rows)


def violations(*, shared_bytes: int = 0, registers: int = 0, threads: int, target: Target) -> list[Violation]:
    """What keeps even one block from fitting; empty when one fits, or the target is not in the table."""
    block, sm = limits(target), multiprocessor(target)
    if block is None:
        return []
    broken = [
        refuse(f"occupancy.{resource}", value, (most,), block.source, f"{value} {what}; {target} {verb} {most}{unit}")
        for resource, value, most, what, verb, unit in (
            ("shared", shared_bytes, block.shared_bytes, "B of shared memory a block", "has", " B"),
            ("registers", registers, block.registers, "registers a thread", "has", ""),
            ("threads", threads, block.threads, "threads a block", "takes", ""),
        )
        if value > most
    ]
    if sm is None or broken:
        return broken
    occupancy = of(shared_bytes=shared_bytes, registers=registers, threads=threads, target=target)
    if occupancy is None or occupancy.limited_by != "registers" or occupancy.blocks_per_sm:
        return []
    right = [most for _, most in register_steps(threads=threads, target=target)[:1]]
    each, file = _up(registers, sm.register_granule), sm.registers * target.warp_size * sm.partitions
    message = f"{threads} threads with {registers} registers ({each} allocated) do not fit in {file} registers an SM"
    return [refuse("occupancy.registers", registers, right, sm.source, message)]


def _judge(args: Arguments) -> Judgement:
    target, shared, registers, threads = (args[name] for name in ("target", "shared", "registers", "threads"))
    if not threads:
        raise InputError("--threads: a block has 1 or more")
    broken = violations(shared_bytes=shared, registers=registers, threads=threads, target=target)
    occupancy = of(shared_bytes=shared, registers=registers, threads=threads, target=target)
    sm = multiprocessor(target)
    if occupancy is None or sm is None:
        known = [row.source for _, row in multiprocessors()]
        subject = f"{target} is not in the table of multiprocessors"
        return Judgement(subject, broken, sources=known, verdict="unknown target")
    each, taken = _up(registers, sm.register_granule), _up(shared + sm.reserved_bytes, sm.shared_granule)
    of_shared = f"{taken} B allocated: {shared} + {sm.reserved_bytes} of the driver, in steps of {sm.shared_granule}"
    facts = (
        Fact("blocks_per_sm", occupancy.blocks_per_sm, "blocks an SM"),
        Fact("warps_per_sm", occupancy.warps_per_sm, "warps an SM", f"{occupancy.warps_per_sm} of {sm.warps}"),
        Fact("occupancy", round(occupancy.fraction, 4), "occupancy", f"{occupancy.fraction:.0%}"),
        Fact("limited_by", occupancy.limited_by, "limited by"),
        Fact("registers_allocated", each, "registers a thread", f"{each} allocated, in steps of {sm.register_granule}"),
        Fact("shared_allocated", taken, "shared memory a block", of_shared),
    )
    by_resource = sorted(occupancy.allowed, key=lambda entry: entry[1])
    rows = tuple((name, str(count)) for name, count in by_resource)
    tables = steps_table(threads, target), RuleTable("by resource", ("resource", "blocks an SM"), rows)
    notes = ("Not counted: registers moved by setmaxnreg, SGPRs, clusters.",)
    sources = (sm.source, *(violation.source for violation in broken))
    return Judgement(str(occupancy), broken, facts, tables, notes=notes, sources=sources)


def _tables(args: Arguments) -> list[RuleTable]:
    rows = tuple(
        (
            str(target),
            str(row.shared_bytes),
            f"{row.shared_granule} (+{row.reserved_bytes})",
            str(row.registers * row.partitions * target.warp_size),
            f"{row.register_granule} a thread",
            str(row.warps),
            str(row.blocks),
        )
        for target, row in multiprocessors()
    )
    columns = ("target", "shared B", "granule B", "registers", "granule", "warps", "blocks")
    return [RuleTable(TITLE, columns, rows, tuple(row.source for _, row in multiprocessors()))]


RULE = LegalityRule(
    "occupancy",
    TITLE,
    (
        RuleParameter("target", Syntax.TARGET, "cuda:NN or hip:gfxNNN", default="cuda:90"),
        RuleParameter("shared", Syntax.INTEGER, "bytes of shared memory a block", default="0"),
        RuleParameter("registers", Syntax.INTEGER, "registers a thread", default="32"),
        RuleParameter("threads", Syntax.INTEGER, "threads a block", default="128"),
    ),
    _judge,
    _tables,
    (
        "--shared 98304 --registers 168 --threads 128",
        "--registers 128 --threads 1024 --target cuda:80",
        "--shared 32768 --registers 200 --threads 256 --target hip:gfx942",
    ),
    (),
)
