"""The estimate moves with what costs time: spills, resident blocks, stages, short rows, waves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from triage.model.case import Case, frozen
from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.target import Target
from triage.performance.estimate import estimate
from triage.performance.estimate.estimate import ProblemSizes, TimeEstimate
from triage.performance.estimate.resources import predicted, shared_bytes
from triage.performance.estimate.roofline import Bound
from triage.performance.estimate.work import BlockAccess, BlockWork, Body, Dot, WorkLoop

COMPILED = Resources(98304, 120, 0, TensorCore.WGMMA, threads=256)


def case(**options: int) -> Case:
    options = {"num_warps": 8, "num_stages": 3, **options}
    return Case(Path(), "kernel.py", "kernel", frozen(), options=frozen(options))


def matmul(m: int = 128, n: int = 128, k: int = 64, trips: float = 64, row_bytes: float = 128) -> BlockWork:
    loads = [
        BlockAccess(m * k * 2, m * k, feeds_dot=True, row_bytes=row_bytes),
        BlockAccess(k * n * 2, k * n, feeds_dot=True, row_bytes=row_bytes),
    ]
    inside = Body(dots=[Dot(m, n, k, "f16", "f16", "f32", tf32=True)], loads=loads)
    stores = [BlockAccess(m * n * 2, m * n)]
    return BlockWork(Body(stores=stores, loops=[WorkLoop(trips, inside, carried_bytes=m * n * 4)], widest=m * n * 4))


def seconds(work: BlockWork, resources: Resources = COMPILED, blocks: int = 1024, **options: int) -> float:
    return of(work, resources, blocks, options).seconds


def of(work: BlockWork, resources: Resources, blocks: int, options: Mapping[str, int]) -> TimeEstimate:
    found = estimate.of_work(work, case(**options), resources, ProblemSizes({}, blocks))
    assert found is not None
    return found


def test_a_matmul_that_fits_is_near_the_peak() -> None:
    work = matmul()
    flops = 2 * 4096 * 4096 * 4096
    found = seconds(work)
    assert 0.4 * 989e12 < flops / found < 989e12


def test_terms_add_up() -> None:
    found = of(matmul(), COMPILED, 1024, {})
    assert sum(found.terms.values()) == pytest.approx(found.seconds)
    assert found.resident == 2 and found.waves == pytest.approx(1024 / 264)


def test_spills_in_the_loop_cost_more_than_all_else() -> None:
    spilling = replace(COMPILED, registers=255, spill_bytes=1024)
    found = of(matmul(256, 256), spilling, 256, {})
    assert found.bound in (Bound.SPILLS, Bound.LATENCY)
    assert found.seconds > 2 * of(matmul(256, 256), replace(spilling, spill_bytes=0), 256, {}).seconds


def test_spills_of_an_epilogue_cost_little() -> None:
    spilling = replace(COMPILED, spill_bytes=256)
    assert seconds(matmul(), spilling) < 1.2 * seconds(matmul())


def test_without_a_pipeline_the_loads_are_waited_for() -> None:
    assert seconds(matmul(), num_stages=1) > 1.3 * seconds(matmul(), num_stages=3)


def test_rows_shorter_than_a_line_waste_it() -> None:
    assert seconds(matmul(row_bytes=32)) > 1.2 * seconds(matmul(row_bytes=128))


def test_a_started_wave_takes_as_long_as_a_full_one() -> None:
    assert seconds(matmul(), blocks=265) > 1.3 * seconds(matmul(), blocks=264)


def test_operands_through_registers_are_slower() -> None:
    assert seconds(matmul(), replace(COMPILED, register_copies=1)) > 1.3 * seconds(matmul())


def test_a_copy_is_bound_by_memory() -> None:
    moved = BlockAccess(4096 * 4, 4096, row_bytes=4096)
    work = BlockWork(Body(loads=[moved], stores=[moved], lanes=4096))
    found = of(work, Resources(0, 32, 0, TensorCore.NONE, threads=256), 65536, {})
    moved_bytes = 2 * 65536 * 4096 * 4
    assert found.bound in (Bound.DRAM, Bound.LATENCY)
    assert 0.3 * 3.35e12 < moved_bytes / found.seconds < 3.4e12


def typical_seconds(work: BlockWork) -> TimeEstimate:
    found = estimate.of_work(work, case(), COMPILED, ProblemSizes({}))
    assert found is not None
    return found


def test_without_sizes_the_problem_is_the_same_for_all_tiles() -> None:
    three = [typical_seconds(BlockWork(elementwise(tile))) for tile in (64, 128, 512)]
    assert three[0].blocks == 2 * three[1].blocks == 8 * three[2].blocks


def elementwise(tile: int) -> Body:
    access = BlockAccess(tile * 4, tile, row_bytes=tile * 4)
    return Body(loads=[access] * 3, stores=[access], lanes=tile)


def test_a_sum_has_as_many_blocks_as_its_reads() -> None:
    body = replace(elementwise(1024), stores=[BlockAccess(4, 1)])
    assert typical_seconds(BlockWork(body)).blocks == 4096 * 4096 / (3 * 1024)


def test_a_grid_that_loops_over_data_shares_the_problem() -> None:
    """Loops that only data end: a block of more turns does more of the problem, which stays what it is."""
    once, often = (Body(loops=[WorkLoop(turns, matmul().body)]) for turns in (1 << 14, 1 << 17))
    times = [typical_seconds(BlockWork(body)) for body in (once, often)]
    assert times[0].blocks == times[1].blocks
    assert times[0].seconds == pytest.approx(times[1].seconds, rel=0.05)


def test_a_target_without_rates_has_no_estimate() -> None:
    other = replace(case(), target=Target.parse("cuda:88"))
    assert estimate.of_work(matmul(), other, COMPILED, ProblemSizes({}, 64)) is None


def test_what_does_not_fit_has_an_estimate_only_where_asked() -> None:
    large = replace(COMPILED, shared_bytes=300_000)
    sizes = ProblemSizes({}, 64)
    assert estimate.of_work(matmul(), case(), large, sizes) is None
    assert estimate.of_work(matmul(), case(), large, sizes, fits=False) is not None


@pytest.mark.parametrize(("stages", "expected"), [(1, 32768), (3, 98304), (4, 131072)])
def test_the_pipeline_keeps_its_stages_in_shared_memory(stages: int, expected: int) -> None:
    assert shared_bytes(matmul(), stages) == expected


def test_an_accumulator_too_large_for_its_threads_is_predicted_to_spill() -> None:
    few, many = predicted(matmul(256, 256), case(num_warps=4)), predicted(matmul(), case(num_warps=8))
    assert few.spill_bytes and not many.spill_bytes
    assert many.tensor_core is TensorCore.WGMMA
    assert predicted(matmul(), case(num_warps=2)).tensor_core is TensorCore.MMA_SYNC
