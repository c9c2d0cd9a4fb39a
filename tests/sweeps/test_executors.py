"""Chunks: plain JSON that any executor runs. Few compiles of one small kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from commands import DATA

import triage
from triage.frontends.documents import load
from triage.harness.toolchains import Toolchains
from triage.model.errors import EnvironmentFault, InputError
from triage.sweeps.axes import axes_of, case_space
from triage.sweeps.chunk_sizes import ChunkSizes
from triage.sweeps.chunks import ChunkMaker, ChunkSettings, refusal_of, results_of, run_chunk
from triage.sweeps.keys import conditions
from triage.sweeps.ledger import FILE, Ledger
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellState
from triage.sweeps.plan import SweepPlan
from triage.sweeps.space import CaseSpace
from triage.sweeps.sweep import SweepOptions

AXES = {"BLOCK": [64, 96], "num_warps": [1, 2]}
OK = DATA / "ok.json"


@pytest.fixture(scope="module")
def space(toolchains: Toolchains) -> CaseSpace:
    case = load(OK).with_release(toolchains.default().release)
    return case_space(case, axes_of(AXES, case), ())


def chunk(space: CaseSpace) -> dict[str, Any]:
    return ChunkMaker(space, ChunkSettings(conditions(), cache=False)).chunk(range(4))


def states(sweep: SweepMap) -> list[str]:
    return [seen.state.value for seen in sweep.observations.values()]


class Inline(Executor):
    """Runs each chunk at once, as JSON text; the chunks in ``lost`` never come back."""

    _max_workers = 1

    def __init__(self, *lost: int) -> None:
        self.lost, self.chunks = lost, list[dict[str, Any]]()

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        future = Future[Any]()
        self.chunks.append(json.loads(json.dumps(arguments[0])))
        if len(self.chunks) in self.lost:
            future.set_exception(ConnectionError("the worker was killed"))
        else:
            future.set_result(json.loads(json.dumps(function(self.chunks[-1]))))
        return future


def test_a_chunk_needs_none_of_the_senders_files(space: CaseSpace, tmp_path: Path) -> None:
    document = json.loads(json.dumps(chunk(space)))
    assert str(DATA) not in json.dumps(document)
    results = {cell: seen.state for cell, _, seen, _, _ in results_of(json.loads(json.dumps(run_chunk(document))))}
    assert results == {0: CellState.COMPILED, 1: CellState.COMPILED, 2: CellState.FAILED, 3: CellState.FAILED}


def test_a_worker_with_another_triage_refuses_chunks(space: CaseSpace) -> None:
    answer = json.loads(json.dumps(run_chunk({**chunk(space), "conditions": "other"})))
    refusal = refusal_of(answer)
    assert refusal is not None
    assert "another triage" in refusal.reason
    assert list(results_of(answer)) == []
    assert refusal_of(run_chunk(chunk(space))) is None
    with pytest.raises(InputError, match="not a chunk"):
        run_chunk({"schema": "other"})


@pytest.fixture(params=["threads", pytest.param("processes", marks=pytest.mark.slow)])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    # A fork would take over the servers that this process keeps for the next test (warm_servers.py).
    processes = partial(ProcessPoolExecutor, mp_context=get_context("spawn"))
    with ThreadPoolExecutor(1) if request.param == "threads" else processes(2) as executor:
        yield executor


def test_any_executor(executor: Executor) -> None:
    sweep = triage.sweep(str(OK), AXES, executor)
    assert states(sweep) == ["compiled", "compiled", "failed", "failed"], sweep.observations
    assert [failure.kind for failure in sweep.failures] == ["frontend-error"]
    assert sweep.failures[0].matches[0]["id"] == "block-shape-not-power-of-two"


def test_a_lost_chunk_is_compiled_by_the_next_run(tmp_path: Path) -> None:
    options = SweepOptions(folder=tmp_path)
    with pytest.raises(EnvironmentFault, match="the worker was killed"):
        triage.sweep(str(OK), AXES, Inline(*range(1, 99)), options=options)
    with Ledger(tmp_path / FILE) as ledger:
        assert list(ledger.rows()) == []
    again = Inline()
    assert states(triage.sweep(str(OK), AXES, again, options=options)) == ["compiled", "compiled", "failed", "failed"]
    last = Inline()
    assert len(triage.sweep(str(OK), AXES, last, options=options).observations) == 4
    assert (len(again.chunks), len(last.chunks)) == (1, 0)


@pytest.mark.parametrize(
    ("cells", "submitted", "workers", "size"),
    [
        (4, 0, 1, 4), (100, 0, 2, 13), (1000, 0, 2, 64), (1000, 800, 2, 25), (1000, 990, 2, 4), (1000, 0, 40, 7),
        (30, 0, 8, 4), (1, 0, 8, 1), (4, 9, 2, 1),
    ],
)  # fmt: skip
def test_the_size_of_chunks(cells: int, submitted: int, workers: int, size: int) -> None:
    assert ChunkSizes(cells).size(submitted, workers) == size


@pytest.mark.parametrize(("cells", "workers", "size"), [(120, 2, 3), (120, 40, 1), (130_000, 100, 64)])
def test_who_learns_from_results_gets_small_chunks(cells: int, workers: int, size: int) -> None:
    assert {ChunkSizes(cells, learning=True).size(submitted, workers) for submitted in (0, 100)} == {size}


def test_a_lost_chunk_is_submitted_again_in_halves(space: CaseSpace) -> None:
    executor = Inline(1, 2)
    assert states(triage.sweep(str(OK), AXES, executor)) == ["compiled", "compiled", "failed", "failed"]
    assert [[each["id"] for each in chunk["configurations"]] for chunk in executor.chunks] == [
        [0, 1, 2, 3], [0, 1], [2, 3], [0], [1]
    ]  # fmt: skip


def test_an_active_strategy_learns_while_chunks_are_under_way() -> None:
    options = SweepOptions(plan=SweepPlan(budget=3))
    sweep = triage.sweep(str(OK), {"BLOCK": [32, 64, 96], "num_warps": [1, 2]}, Inline(), options=options)
    assert len(sweep.observations) == 3


@pytest.mark.parametrize(
    ("axes", "problem"),
    [
        ({"BLOCK": 64}, "BLOCK: 64 is not a list of values"),
        ({"BLOCK": []}, "BLOCK: no values"),
        ({"BLOK": [64]}, "BLOK: add has no parameter"),
        ({"num_warps": [3]}, "num_warps: must be a power of two"),
        ({"target": ["cuda:1"]}, "target 'cuda:1'"),
        ({"triton": ["1.0", "3.9"]}, "1.0"),
        ({"x_ptr": [3]}, "x_ptr: expected a Triton type"),
        ({"target": ["cuda:90"]}, "nothing varies"),
    ],
)
def test_wrong_axes_are_an_input_error(axes: Any, problem: str) -> None:
    with pytest.raises(InputError) as error:
        triage.sweep(str(OK), axes, Inline())
    assert problem in str(error.value)
