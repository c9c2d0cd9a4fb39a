"""What a sweep costs: 1,000 small compiles with two jobs, against a plain loop in one interpreter and against two
workers of Dask; and the share of triage's own process.

Run with ``pytest -m slow tests/benchmarks``, on a machine that has nothing else to do.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from small_compiles import AXES, CELLS, Usage, bare_loop, case_in, measured

import triage
from triage import knowledge
from triage.sweeps.dask_address import DaskAddress
from triage.sweeps.dask_engine import dask_executor
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellState
from triage.sweeps.sweep import SweepOptions

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

MOST_OF_A_LOOP, MOST_OWN, MOST_OF_TWO_JOBS = 0.60, 0.02, 1.10


@pytest.fixture(autouse=True)
def own_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that end with their engine, and are counted: see ``warm_servers.py``."""
    monkeypatch.setenv("TRIAGE_TEST_MARK", "benchmark")
    # Entries are parsed once after each change of triage, and stored.
    knowledge.load_all()


def two_jobs(folder: Path) -> Usage:
    with measured() as usage:
        sweep = triage.sweep(case_in(folder), AXES, options=SweepOptions(folder=folder, jobs=2, cache=False))
    _check(sweep)
    return usage


def two_workers(folder: Path) -> tuple[Usage, Usage]:
    """With the start and the end of the workers, and without them. Their processor time is known with them alone."""
    with measured() as whole, dask_executor(DaskAddress.parse("local:2")) as executor, measured() as compiling:
        sweep = triage.sweep(case_in(folder), AXES, executor, options=SweepOptions(folder=folder, cache=False))
    _check(sweep)
    return whole, compiling


def _check(sweep: SweepMap) -> None:
    assert sweep.cells_in(CellState.COMPILED).bit_count() == CELLS


def test_a_thousand_small_compiles(tmp_path: Path) -> None:
    loop, sweep = bare_loop(case_in(tmp_path)), two_jobs(tmp_path)
    # Where both processors are busy, this is what the wall shows; and it is the same on a machine that is shared.
    ratio = sweep.all_s / 2 / loop.all_s
    figures = (
        f"{sweep.wall_s:.1f} s against {loop.wall_s:.1f} s: {sweep.wall_s / loop.wall_s:.2f}, "
        f"by processor time {ratio:.2f}; triage's own share {sweep.share:.4f}"
    )
    print(figures)
    assert sweep.wall_s <= MOST_OF_A_LOOP * loop.wall_s, figures
    assert sweep.share <= MOST_OWN, figures


def test_two_workers_of_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "workers").mkdir()
    jobs = two_jobs(tmp_path / "jobs")
    whole, compiling = two_workers(tmp_path / "workers")
    figures = (
        f"{whole.wall_s:.1f} s, {compiling.wall_s:.1f} s without start and end, against {jobs.wall_s:.1f} s: "
        f"{whole.wall_s / jobs.wall_s:.2f} and {compiling.wall_s / jobs.wall_s:.2f}; "
        f"by processor time {whole.all_s / jobs.all_s:.2f}"
    )
    print(figures)
    assert whole.wall_s <= MOST_OF_TWO_JOBS * jobs.wall_s, figures
