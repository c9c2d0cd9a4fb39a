"""``--dask`` without processes of its own: what it means, what is wrong with it, and a scheduler in this process."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from commands import DATA

import triage
from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.sweeps import chunks, dask_engine
from triage.sweeps.dask_address import DaskAddress, DaskKind
from triage.sweeps.dask_engine import dask_executor
from triage.sweeps.executors import workers_of
from triage.sweeps.walltime import lifetime_s, walltime_s

OK = str(DATA / "ok.json")


@pytest.mark.parametrize(
    ("text", "kind", "detail", "number"),
    [
        ("tcp://10.0.0.1:8786", DaskKind.SCHEDULER, "tcp://10.0.0.1:8786", None),
        ("head:8786", DaskKind.SCHEDULER, "head:8786", None),
        ("tls://head:8786", DaskKind.SCHEDULER, "tls://head:8786", None),
        ("/shared/scheduler.json", DaskKind.SCHEDULER, "/shared/scheduler.json", None),
        ("local", DaskKind.LOCAL, "local", None),
        ("local:4", DaskKind.LOCAL, "local", 4),
        ("ssh:a,b", DaskKind.SSH, "a,b", None),
        ("slurm:8", DaskKind.QUEUE, "slurm", 8),
        ("htcondor", DaskKind.QUEUE, "htcondor", None),
    ],
)
def test_words(text: str, kind: DaskKind, detail: str, number: int | None) -> None:
    assert DaskAddress.parse(text) == DaskAddress(text, kind, detail, number)


def test_a_scheduler_file_is_no_address() -> None:
    assert DaskAddress.parse("/shared/scheduler.json").is_file
    assert not DaskAddress.parse("tcp://head:8786").is_file


@pytest.mark.parametrize("text", ["", "slurmm", "local:x", "local:0", "local:", "slurm:many", "ssh:", "ssh: ,", "host"])
def test_words_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="--dask"):
        DaskAddress.parse(text)


@pytest.mark.parametrize(
    ("text", "queue", "seconds"),
    [
        ("30", "slurm", 1800),
        ("30", "pbs", 30),
        ("30", "lsf", 1800),
        ("10:30", "slurm", 630),
        ("10:30", "lsf", 37800),
        ("00:30:00", "slurm", 1800),
        ("00:30:00", "sge", 1800),
        ("2-12", "slurm", 216000),
        ("1-00:30:10", "slurm", 88210),
        ("", "slurm", None),
        ("UNLIMITED", "slurm", None),
    ],
)
def test_walltimes(text: str, queue: str, seconds: int | None) -> None:
    assert walltime_s(text, queue) == seconds


@pytest.mark.parametrize("walltime", [60, 1800, 86400])
def test_a_worker_ends_before_its_job(walltime: int) -> None:
    lifetime, stagger = lifetime_s(walltime)
    assert walltime * 0.7 <= lifetime + stagger < walltime


def test_without_dask_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(InputError, match=r"needs dask; `pip install 'triton-triage\[dask\]'`"), executor("local:1"):
        pass


@contextmanager
def executor(text: str) -> Iterator[Any]:
    with dask_executor(DaskAddress.parse(text)) as opened:
        yield opened


@pytest.fixture
def scheduler() -> Iterator[Any]:
    """A scheduler and a worker with two threads, in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None, set_as_default=False
    ) as client:
        yield client


def test_a_scheduler_that_runs(scheduler: Any) -> None:
    with executor(scheduler.scheduler.address) as opened:
        assert workers_of(opened) == 2
        sweep = triage.sweep(OK, {"BLOCK": [64, 96], "num_warps": [1, 2]}, opened)
    assert [seen.state.value for seen in sweep.observations.values()] == ["compiled", "compiled", "failed", "failed"]
    assert scheduler.status == "running"


def test_workers_with_another_triage_are_told_before_anything_is_compiled(
    scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "conditions", _Other())
    with (
        pytest.raises(EnvironmentFault, match=r"worker .*: another triage, .*; install triton-triage"),
        executor(scheduler.scheduler.address),
    ):
        pass


@pytest.mark.slow
def test_a_worker_with_another_triage_gets_no_more_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    own = chunks.conditions()
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None, set_as_default=False
    ) as client:
        other, _ = sorted(client.nthreads())
        monkeypatch.setattr(chunks, "conditions", lambda: "other" if distributed.get_worker().address == other else own)
        warnings: list[str] = []
        address = DaskAddress.parse(client.scheduler.address)
        with dask_executor(address, Progress(warn=warnings.append)) as opened:
            sweep = triage.sweep(OK, {"BLOCK": [64, 96], "num_warps": [1, 2]}, opened)
    assert [seen.state.value for seen in sweep.observations.values()] == ["compiled", "compiled", "failed", "failed"]
    (line,) = warnings
    assert line.startswith(f"--dask {address.text}: worker {other}: another triage")


@pytest.mark.slow
def test_a_late_worker_without_triage_gets_no_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        (first,) = client.nthreads()
        monkeypatch.setattr(dask_engine, "conditions", _OnlyOn(first))
        warnings: list[str] = []
        with dask_executor(DaskAddress.parse(cluster.scheduler_address), Progress(warn=warnings.append)) as opened:
            cluster.scale(2)
            client.wait_for_workers(2, timeout=30)
            sweep = triage.sweep(OK, {"BLOCK": [64, 96]}, opened)
            # Where the only worker that fits ends, Dask would keep what waits for it.
            waiting = opened.submit(time.sleep, 600)
            client.retire_workers([first])
            while not waiting.done():
                opened.cancel_stranded()
                time.sleep(0.05)
    assert [seen.state.value for seen in sweep.observations.values()] == ["compiled", "failed"]
    (line,) = warnings
    assert "No module named 'triage'" in line
    assert waiting.cancelled()


class _OnlyOn:
    """Conditions that only one worker can state: the others have no triage."""

    def __init__(self, worker: str) -> None:
        self.worker = worker

    def __call__(self) -> str:
        return chunks.conditions()

    def __reduce__(self) -> Any:
        return (_only_on, (self.worker,))


def _only_on(worker: str) -> Any:
    def answer(dask_worker: Any) -> str:
        if dask_worker.address != worker:
            raise ModuleNotFoundError("No module named 'triage'")
        return chunks.conditions()

    return answer


class _Other:
    """Says on the worker something else than here."""

    def __call__(self) -> str:
        return "here"

    def __reduce__(self) -> Any:
        return (_there, ())


def _there() -> Any:
    return lambda: "there"


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask_engine, "_CONNECT_S", 0.2)
    line = "--dask 127.0.0.1:9: no Dask scheduler answers there; start one with `dask scheduler`"
    with pytest.raises(EnvironmentFault) as error, executor("127.0.0.1:9"):
        pass
    assert str(error.value) == line
    with pytest.raises(InputError, match="no such scheduler file"), executor("/nowhere/scheduler.json"):
        pass


def test_a_batch_system_that_is_not_described(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("dask_jobqueue")
    with pytest.raises(InputError, match=r"jobqueue\.slurm\.cores is not set; .*jobqueue\.yaml"), executor("slurm:2"):
        pass


@pytest.mark.parametrize(
    ("queue", "walltime", "directives"),
    [
        ("slurm", "00:30:00", ["#SBATCH --cpus-per-task=2", "#SBATCH --mem=4G", "#SBATCH -t 00:30:00"]),
        ("pbs", "00:30:00", ["#PBS -l select=1:ncpus=2:mem=3815MB", "#PBS -l walltime=00:30:00"]),
        ("lsf", "00:30", ["#BSUB -n 2", "#BSUB -W 00:30"]),
        ("sge", "00:30:00", ["#$ -l h_rt=00:30:00"]),
        ("htcondor", "00:30:00", ["RequestCpus = MY.DaskWorkerCores", "MY.DaskWorkerCores = 2", "Queue"]),
    ],
)
def test_the_job_of_a_batch_system(
    monkeypatch: pytest.MonkeyPatch, queue: str, walltime: str, directives: list[str]
) -> None:
    """What is submitted: the job as the user describes it, whose workers end before its walltime."""
    core = pytest.importorskip("dask_jobqueue.core")
    dask = pytest.importorskip("dask")
    jobs: list[dict[str, int]] = []
    monkeypatch.setattr(core.JobQueueCluster, "adapt", lambda self, **numbers: jobs.append(numbers))
    described = {"cores": 2, "memory": "4GB", "disk": "1GB", "walltime": walltime, "interface": "lo"}
    whole = {**dask.config.get(f"jobqueue.{queue}"), **described}
    address = DaskAddress.parse(f"{queue}:3")
    with dask.config.set({f"jobqueue.{queue}": whole}), dask_engine.queue_cluster(address) as cluster:
        script = cluster.job_script()
    lines = [line.strip() for line in script.splitlines()]
    assert [line for line in directives if line not in lines] == [], script
    assert f"{sys.executable} -m distributed.cli.dask_worker tcp://" in script
    assert "--nthreads 1 " in script
    assert "--nworkers 2 " in script
    assert "--lifetime 1440s --lifetime-stagger 180s" in script
    assert jobs == [{"minimum_jobs": 3, "maximum_jobs": 3}]


def test_a_job_of_htcondor_needs_a_disk() -> None:
    pytest.importorskip("dask_jobqueue")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"jobqueue.htcondor.cores": 1, "jobqueue.htcondor.memory": "1GB"}),
        pytest.raises(InputError, match=r"jobqueue\.htcondor\.disk is not set"),
        executor("htcondor"),
    ):
        pass
