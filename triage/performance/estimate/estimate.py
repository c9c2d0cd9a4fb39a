"""What a kernel will cost: its blocks in waves over a GPU, each as long as the roofline of its work says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from triage.legality import occupancy
from triage.model.case import Case
from triage.model.launch_plan import BadInputs, resolve
from triage.model.outcome import Resources
from triage.model.target import Target
from triage.performance.estimate.reader import read
from triage.performance.estimate.resources import predicted, stages_of
from triage.performance.estimate.roofline import Bound, KernelSetting, Machine, block
from triage.performance.estimate.work import TYPICAL, BlockWork

LAUNCH_CYCLES = 1500.0
"""From the launch of a grid until its first blocks run, and from its last until the next may begin."""


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """``seconds`` of a launch on the target's product, and what they are spent on (``terms``, the same sum).

    ``blocks``: of the grid; ``resident``: of them on a multiprocessor at a time; ``waves``: how often the device is
    filled. ``typical``: the case states no sizes, so the problem is ``TYPICAL`` elements along each axis; then only
    ratios of estimates mean something.
    """

    seconds: float
    terms: Mapping[Bound, float]
    blocks: float
    resident: int
    waves: float
    typical: bool

    @property
    def bound(self) -> Bound:
        """What most of the time is spent on."""
        return max(self.terms, key=lambda bound: self.terms[bound])


@dataclass(frozen=True, slots=True)
class ProblemSizes:
    """The sizes of a launch: values by integer argument, and the number of blocks, None where the case does not say."""

    sizes: Mapping[str, float]
    blocks: int | None = None
    extent: int = TYPICAL

    @classmethod
    def of(cls, case: Case, extent: int = TYPICAL) -> ProblemSizes:
        """What the case's inputs state. ``extent``: of an axis where they state nothing."""
        if not case.inputs:
            return cls({}, None, extent)
        try:
            plan = resolve(case.inputs, case.signature, case.constexprs, {})
        except BadInputs:
            return cls({}, None, extent)
        sizes: dict[str, float] = {name: value for name, value in plan.scalars.items() if isinstance(value, int)}
        for axis, blocks in zip("xyz", plan.grid, strict=True):
            # A block in the middle stands for all.
            sizes[f"program_id.{axis}"] = (blocks - 1) / 2
            sizes[f"num_programs.{axis}"] = blocks
        return cls(sizes, math.prod(plan.grid), extent)


def machine(target: Target) -> Machine | None:
    """The product of a target, None where its rates are not known."""
    gpu = target.gpu
    if gpu is None or gpu.product is None or gpu.product.rates is None:
        return None
    return Machine(gpu.product.rates, gpu.product.multiprocessors, gpu.matrix)


def of_case(
    case: Case, ttir: str, resources: Resources | None, problem: ProblemSizes | None = None
) -> TimeEstimate | None:
    """The estimate for a compile's TTIR and resources, predicted ones where there are none yet; None where the TTIR
    cannot be read, no block fits, or the target's rates are not known."""
    problem = problem or ProblemSizes.of(case)
    work = read(ttir, problem.sizes, problem.extent)
    return None if work is None else of_work(work, case, resources, problem)


def of_work(
    work: BlockWork, case: Case, resources: Resources | None, problem: ProblemSizes, fits: bool = True
) -> TimeEstimate | None:
    """As :func:`of_case`, for TTIR that was read before. ``fits``: None where no block fits; otherwise one is taken to
    fit, which is what the kernel was asked for."""
    known = machine(case.target)
    if known is None:
        return None
    setting = setting_of(case, resources or predicted(work, case), fits)
    return None if setting is None else _estimate(work, setting, known, problem)


def setting_of(case: Case, resources: Resources, fits: bool = True) -> KernelSetting | None:
    """How a case was compiled; None where no block of it fits on a multiprocessor and ``fits`` asks that."""
    warp_size = case.target.warp_size
    threads = resources.threads or int(case.options.get("num_warps", 4)) * warp_size
    registers = resources.registers or 32
    held = occupancy.of(shared_bytes=resources.shared_bytes, registers=registers, threads=threads, target=case.target)
    if held is None or (fits and not held.blocks_per_sm):
        return None
    return KernelSetting(
        warps=max(threads // warp_size, 1),
        warp_size=warp_size,
        stages=stages_of(case),
        registers=registers,
        spill_bytes=resources.spill_bytes or 0,
        shared_bytes=resources.shared_bytes,
        tensor_core=resources.tensor_core,
        resident=max(held.blocks_per_sm, 1),
        register_copies=resources.register_copies,
    )


def _estimate(work: BlockWork, setting: KernelSetting, known: Machine, problem: ProblemSizes) -> TimeEstimate:
    blocks = float(problem.blocks or _typical_blocks(work, problem.extent))
    slots = known.multiprocessors * setting.resident
    full = math.floor(blocks / slots)
    cycles: dict[Bound, float] = {Bound.LATENCY: LAUNCH_CYCLES}
    rest = math.ceil((blocks - full * slots) / known.multiprocessors)
    rounds: tuple[tuple[float, int], ...] = ((full, setting.resident), (1, rest))
    if blocks < 1:
        # Loops that only data end do more than the problem: a grid that fills the device once shares it.
        rounds, blocks = ((blocks / slots, setting.resident),), float(slots)
    for times, resident in rounds:
        if times and resident:
            for bound, amount in block(work, setting, known, resident).items():
                cycles[bound] = cycles.get(bound, 0.0) + times * amount
    second = known.rates.clock_mhz * 1e6
    terms = {bound: amount / second for bound, amount in cycles.items() if amount}
    return TimeEstimate(
        sum(terms.values()), terms, blocks, setting.resident, blocks / slots, typical=problem.blocks is None
    )


def _typical_blocks(work: BlockWork, extent: int) -> float:
    """Blocks that write a square of the problem, or read one where they write next to nothing; below 1 where one block
    does more."""
    share = work.loaded if work.reduces else work.stored
    return extent * extent / max(share, 1.0)
