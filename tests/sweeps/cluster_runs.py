"""Sweeps as processes that can be killed, and a Slurm of one node."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from commands import DATA, Run, _variables

import triage
from triage.sweeps.ledger import FILE

SPACE = (str(DATA / "ok.json"), "--set", "BLOCK=32,48,64,96,128,256", "--set", "num_warps=1,2,4,8",
         "--set", "num_stages=1,2", "--no-cache")  # fmt: skip
CELLS = 48
DASK_WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")
DASK_SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler")


def environment(cache: Path, **variables: str) -> dict[str, str]:
    """That of ``commands.start_triage``."""
    return {**os.environ, "PYTHONPATH": str(Path(triage.__file__).parent.parent), **_variables(cache), **variables}


class SweepProcess:
    """``triage sweep ARGUMENTS`` as a process."""

    def __init__(self, cache: Path, *arguments: str | Path, **variables: str) -> None:
        command = [sys.executable, "-m", "triage", "sweep", *map(str, arguments)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdout=pipe, stderr=pipe, text=True, env=environment(cache, **variables)
        )

    def await_rows(self, folder: Path, least: int) -> None:
        """Wait until its ledger has so many results."""
        until(lambda: rows(folder) >= least or self._process.poll() is not None)
        if self._process.poll() is not None:
            pytest.fail(f"ended before it was killed: {self.end()}")

    def kill(self) -> list[psutil.Process]:
        """kill -9; the processes that it had."""
        children = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        self._process.communicate()
        return children

    def workers(self) -> list[psutil.Process]:
        """The worker processes of ``--dask local:N``."""
        children = psutil.Process(self._process.pid).children()
        return [child for child in children if any("spawn_main" in word for word in child.cmdline())]

    def end(self) -> Run:
        """Wait for its end."""
        out, err = self._process.communicate(timeout=250)
        return Run(self._process.returncode, out, err)


def rows(folder: Path) -> int:
    """How many results a ledger has."""
    with suppress(sqlite3.Error):
        connection = sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)
        with connection:
            return int(connection.execute("SELECT count(*) FROM results").fetchone()[0])
    return 0


def cells(document: Any) -> Any:
    """What a map says of its cells, whenever and wherever they were compiled."""
    return [{name: value for name, value in cell.items() if name != "duration_s"} for cell in document["cells"]]


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def process(*command: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process with all its children, killed at the end."""
    started = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options
    )
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """A Slurm of this machine alone; the variables with which its commands find it. Needs root."""
    if os.geteuid() or not all(shutil.which(name) for name in ("slurmctld", "slurmd", "sbatch")):
        pytest.skip("needs root, and Debian's slurmctld, slurmd and slurm-client")
    host, control, node = socket.gethostname(), free_port(), free_port()
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    settings = {
        "ClusterName": "one", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": control, "SlurmdPort": node,
        "SlurmUser": "root", "SlurmdUser": "root", "AuthType": "auth/none", "CredType": "cred/none",
        "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "MpiDefault": "none", "KillWait": 1,
        "AccountingStorageType": "accounting_storage/none", "JobAcctGatherType": "jobacct_gather/none",
        "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core", "ReturnToService": 2,
        "StateSaveLocation": folder / "state", "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid", "SlurmdPidFile": folder / "slurmd.pid",
        "SlurmctldLogFile": folder / "slurmctld.log", "SlurmdLogFile": folder / "slurmd.log",
    }  # fmt: skip
    lines = [f"{name}={value}" for name, value in settings.items()]
    lines.append(f"NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=8000")
    lines.append(f"PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP")
    (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
    variables = {"SLURM_CONF": str(folder / "slurm.conf")}
    whole = {**os.environ, **variables}

    def idle() -> bool:
        return "idle" in subprocess.run(["sinfo"], env=whole, capture_output=True, text=True, check=False).stdout

    with process("slurmctld", "-D", "-i", env=whole), process("slurmd", "-D", "-N", host, env=whole):
        until(idle)
        try:
            yield variables
        finally:
            subprocess.run(["scancel", "-u", "root", "-s", "KILL"], env=whole, check=False, capture_output=True)
            time.sleep(2)


def merged_document(folder: Path) -> Any:
    """The map of a folder."""
    return json.loads((folder / "map.json").read_text())
