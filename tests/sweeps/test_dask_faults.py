"""Whatever of a distributed sweep is killed, nothing finished is lost, and the next run compiles what is missing."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from cluster_runs import (
    CELLS,
    DASK_SCHEDULER,
    DASK_WORKER,
    SPACE,
    SweepProcess,
    cells,
    environment,
    free_port,
    merged_document,
    process,
    rows,
    slurm,
    until,
)
from commands import call_triage

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def whole(cache: Path) -> Any:
    """The map as this process makes it."""
    pytest.importorskip("distributed")
    return call_triage(cache, "sweep", *SPACE, "--jobs", "2", "--json").document


def resumed(cache: Path, folder: Path, *arguments: str, **variables: str) -> Any:
    """The map after another run, which began with all results that the ledger had."""
    before = rows(folder)
    run = SweepProcess(cache, "--resume", folder, "--no-cache", "--json", *arguments, **variables).end()
    assert run.code == 0, run.err
    known = re.search(r"(\d+) of \d+ cells are in the ledger", run.err)
    assert (int(known[1]) if known else 0) == before
    return run.document


def test_two_local_workers_make_the_same_map(whole: Any, cache: Path, tmp_path: Path) -> None:
    run = SweepProcess(cache, *SPACE, "--dask", "local:2", "--json", "-o", tmp_path).end()
    assert run.code == 0, run.err
    assert cells(run.document) == cells(whole)
    assert "\ndask: 2 workers with 2 threads at tcp://127.0.0.1:" in f"\n{run.err}"


def test_the_tool_is_killed(whole: Any, cache: Path, tmp_path: Path) -> None:
    sweep = SweepProcess(cache, *SPACE, "--dask", "local:2", "-o", tmp_path)
    sweep.await_rows(tmp_path, 8)
    left = sweep.kill()
    until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in left))
    assert 8 <= rows(tmp_path) < CELLS
    assert cells(resumed(cache, tmp_path, "--dask", "local:2")) == cells(whole)


def test_a_worker_is_killed(whole: Any, cache: Path, tmp_path: Path) -> None:
    sweep = SweepProcess(cache, *SPACE, "--dask", "local:2", "--json", "-o", tmp_path)
    for least in (4, 16):
        sweep.await_rows(tmp_path, least)
        sweep.workers()[0].kill()
    run = sweep.end()
    assert run.code == 0, run.err
    assert cells(run.document) == cells(whole)
    assert "distributed" not in run.err  # Nothing of Dask's own: the rest is how far the sweep is.


@pytest.mark.parametrize("returns", [True, False], ids=["restarted", "gone"])
def test_the_scheduler_is_killed(whole: Any, cache: Path, tmp_path: Path, returns: bool) -> None:
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = (*DASK_SCHEDULER, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    worker = (*DASK_WORKER, address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard")
    options = {"env": environment(cache), "cwd": tmp_path}
    folder = tmp_path / "sweep"
    with process(*scheduler, **options) as first, process(*worker, **options):
        sweep = SweepProcess(cache, *SPACE, "--dask", address, "--json", "-o", folder)
        sweep.await_rows(folder, 8)
        first.kill()
        first.wait()
        if returns:
            with process(*scheduler, **options), process(*worker, **options):
                run = sweep.end()
            assert run.code == 0, run.err
            assert cells(run.document) == cells(whole)
            return
        run = sweep.end()
    assert (run.code, run.out) == (3, "")
    assert "what is finished is kept" in run.err.splitlines()[-1]
    assert rows(folder) >= 8
    assert cells(resumed(cache, folder)) == cells(whole)


def test_slurm(whole: Any, cache: Path, tmp_path: Path) -> None:
    """An array of parts without an engine; then jobs of dask-jobqueue, cancelled in the middle."""
    pytest.importorskip("dask_jobqueue")
    with slurm(tmp_path / "slurm") as variables:
        everywhere = environment(cache, **variables)
        _array(everywhere, tmp_path)
        merged = SweepProcess(cache, "merge", *sorted(tmp_path.glob("part-?")), "-o", tmp_path / "merged").end()
        assert merged.code == 0, merged.err
        assert cells(merged_document(tmp_path / "merged")) == cells(whole)

        (tmp_path / "dask").mkdir()
        settings = f'cores: 1, memory: 1GB, walltime: "00:20:00", interface: lo, log-directory: "{tmp_path}"'
        (tmp_path / "dask" / "jobqueue.yaml").write_text(f"jobqueue: {{slurm: {{{settings}}}}}\n")
        described = {**variables, "DASK_CONFIG": str(tmp_path / "dask")}
        folder = tmp_path / "queue"
        sweep = SweepProcess(cache, *SPACE, "--dask", "slurm:2", "--json", "-o", folder, **described)
        sweep.await_rows(folder, 8)
        subprocess.run(["scancel", "-n", "dask-worker"], env=everywhere, check=True)
        run = sweep.end()
        assert run.code == 0, run.err
        assert cells(run.document) == cells(whole)

        folder = tmp_path / "killed"
        sweep = SweepProcess(cache, *SPACE, "--dask", "slurm:2", "--json", "-o", folder, **described)
        sweep.await_rows(folder, 8)
        sweep.kill()
        subprocess.run(["scancel", "-n", "dask-worker"], env=everywhere, check=True)
        assert 8 <= rows(folder) < CELLS
        assert cells(resumed(cache, folder, "--dask", "slurm:2", **described)) == cells(whole)


def _array(everywhere: dict[str, str], folder: Path) -> None:
    """Eight parts, of which some are cancelled and submitted again."""
    words = " ".join(f"'{word}'" for word in SPACE)
    number = "$SLURM_ARRAY_TASK_ID"
    script = folder / "array.sh"
    script.write_text(
        f"#!/bin/sh\n{sys.executable} -m triage sweep {words} --shard {number}/8 -o {folder}/part-{number}\n"
    )
    submit = ["sbatch", "--parsable", "-n1", "-o", f"{folder}/part-%a.txt", "-a", "1-8", str(script)]

    def queued() -> str:
        return subprocess.run(["squeue", "-h"], env=everywhere, capture_output=True, text=True, check=True).stdout

    job = subprocess.run(submit, env=everywhere, capture_output=True, text=True, check=True).stdout.strip()
    until(lambda: any(rows(part) for part in folder.glob("part-?")))
    subprocess.run(["scancel", job], env=everywhere, check=True)
    until(lambda: not queued())
    time.sleep(1)
    subprocess.run(submit, env=everywhere, check=True, capture_output=True)
    until(lambda: not queued(), 400)
