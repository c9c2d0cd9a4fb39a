"""The terms of an estimate, for ``triage explain cost``."""

from __future__ import annotations

from collections.abc import Iterator

from triage.legality import occupancy
from triage.legality.explanation import Explanation, Fact
from triage.model.case import Case
from triage.model.outcome import Resources
from triage.model.report import MEASURED_TARGETS, NOT_MEASURED, is_measured
from triage.model.words import unit
from triage.performance.estimate.compiled import Estimated
from triage.performance.estimate.estimate import TimeEstimate
from triage.performance.estimate.resources import predicted, stages_of

RULE = "cost"
_SOURCES = (
    "triage/performance/README.md: the terms, and how far to believe them",
    "triage/model/gpus.py: rates of the product",
)


def explained(estimate: Estimated) -> Explanation:
    """The explanation of an estimate, which must have a ``time``. ``legal`` says whether the case compiles."""
    done, time = estimate.compiled, estimate.time
    assert time is not None and estimate.work is not None
    case = done.case
    gpu = case.target.gpu
    product = gpu.product.name if gpu is not None and gpu.product is not None else str(case.target)
    resources = done.resources or predicted(estimate.work, case)
    return Explanation(
        rule=RULE,
        title="Time of a kernel by the static model",
        headline=f"{case.name}: {_microseconds(time.seconds)} on {product}, bound by {unit(time.bound.value)}",
        given={"kernel": case.name, "target": str(case.target), **case.constexprs, **case.options},
        legal=not done.failure,
        facts=(*_resources(case, resources, done.resources is None), *_grid(estimate, resources, time), *_terms(time)),
        notes=tuple(_notes(estimate, time)),
        sources=_SOURCES,
    )


def _microseconds(seconds: float) -> str:
    amount = seconds * 1e6
    return f"{amount:.0f} µs" if amount >= 100 else f"{amount:.3g} µs"


def _resources(case: Case, resources: Resources, are_predicted: bool) -> Iterator[Fact]:
    yield Fact("resources_predicted", are_predicted, "resources", "predicted" if are_predicted else "as compiled")
    yield Fact("tensor_core", resources.tensor_core.value, "matrix instruction")
    yield Fact("threads", resources.threads or int(case.options.get("num_warps", 4)) * case.target.warp_size, "threads")
    yield Fact("num_stages", stages_of(case), "stages")
    yield Fact("registers", resources.registers, "registers", _amount(resources.registers, "a thread"))
    yield Fact("spill_bytes", resources.spill_bytes, "spills", _amount(resources.spill_bytes, "B a thread"))
    yield Fact("shared_bytes", resources.shared_bytes, "shared memory", f"{resources.shared_bytes} B a block")


def _amount(number: int | None, of: str) -> str:
    return "not known" if number is None else f"{number} {of}"


def _grid(estimate: Estimated, resources: Resources, time: TimeEstimate) -> Iterator[Fact]:
    case, problem = estimate.compiled.case, estimate.problem
    stated = {name: value for name, value in problem.sizes.items() if "." not in name}
    text = " ".join(f"{name}={value:g}" for name, value in stated.items())
    if time.typical:
        text = f"{text}{', otherwise ' if text else ''}{problem.extent} along each axis (typical: the case states none)"
    yield Fact("sizes", stated, "sizes", text or "none: the kernel has no integer argument")
    yield Fact("typical", time.typical, "grid", "as the sizes need" if time.typical else "as the case states")
    yield Fact("blocks", round(time.blocks), "blocks", f"{time.blocks:.0f}")
    held = occupancy.of(
        shared_bytes=resources.shared_bytes,
        registers=resources.registers or 0,
        threads=resources.threads or int(case.options.get("num_warps", 4)) * case.target.warp_size,
        target=case.target,
    )
    limit = "" if held is None else held.limited_by
    where = "an SM" if case.target.backend == "cuda" else "a compute unit"
    fits = held is None or held.blocks_per_sm > 0
    text = f"{time.resident} {where}" if fits else f"none fits {where}; one is assumed"
    yield Fact("resident_blocks", time.resident, "resident blocks", text)
    yield Fact("limited_by", limit or None, "limited by", limit or "not known")
    yield Fact("waves", round(time.waves, 3), "waves", f"{time.waves:.2f} fillings of the device")


def _terms(time: TimeEstimate) -> Iterator[Fact]:
    yield Fact("total_us", round(time.seconds * 1e6, 3), "time", _microseconds(time.seconds))
    yield Fact("bound_by", time.bound.value, "bound by", unit(time.bound.value))
    for bound, seconds in sorted(time.terms.items(), key=lambda entry: -entry[1]):
        name = f"{bound.value.replace('-', '_')}_us"
        share = seconds / time.seconds
        yield Fact(name, round(seconds * 1e6, 3), f"  {unit(bound.value)}", f"{_microseconds(seconds)} ({share:.0%})")


def _notes(estimate: Estimated, time: TimeEstimate) -> Iterator[str]:
    done = estimate.compiled
    if done.failure:
        yield f"It does not compile ({done.failure}): this is what it would take if it did."
    if time.typical:
        yield "Without sizes only ratios to other configurations of the kernel mean something; state inputs or --size."
    if not is_measured(done.case.target):
        measured = ", ".join(sorted(MEASURED_TARGETS))
        yield f"{NOT_MEASURED}, only on {measured}: here they rest on public numbers."
