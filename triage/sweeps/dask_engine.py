"""Dask as the executor of a sweep: a scheduler that runs, or workers started here, by SSH or by a batch system.

Nothing of a result depends on Dask: a task is a chunk (``chunks.py``), and what is finished is in the ledger. So a lost
worker costs the chunks that it had, and a lost scheduler those under way.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from triage._version import __version__
from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.sweeps.chunks import ChunkRefusal
from triage.sweeps.dask_address import QUEUES, DaskAddress, DaskKind
from triage.sweeps.keys import conditions
from triage.sweeps.walltime import lifetime_s, walltime_s

P = ParamSpec("P")
T = TypeVar("T")

_INSTALL = "pip install 'triton-triage[dask]'"
_SETTINGS = {
    # Workers come and go in a batch system; a chunk that kills them is given up after some losses (``executors.py``).
    "distributed.scheduler.allowed-failures": 100,
    # What a chunk lasts until the scheduler has seen one: by half a second, its default, it would move them about.
    "distributed.scheduler.unknown-task-duration": "30s",
    # Dask samples the stacks of a worker a hundred times a second, and looks after itself fifty times: 3 % of a
    # processor for each process, which compiles need.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
_NEEDED = {"htcondor": ("disk",)}
"""What dask-jobqueue needs for a job of a batch system beside cores and memory."""
_CONNECT_S = 30.0
"""How long a scheduler is awaited: at the beginning, and when it was lost and may be started again. Dask's default."""
_LOOK_S = 5.0
"""How often a line says that there are no workers yet."""


@contextmanager
def dask_executor(address: DaskAddress, progress: Progress | None = None) -> Iterator[Executor]:
    """The executor of a Dask cluster; what was started for it ends with it.

    Raises InputError where Dask, or what starts its workers, is not installed or not configured, and EnvironmentFault
    where there is no scheduler, no worker can be started, or no worker has this triage."""
    progress = progress or Progress()
    dask = _module("dask", _INSTALL)
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(_SETTINGS))
        distributed = _module("distributed", _INSTALL)
        stack.enter_context(_quiet())
        progress.step(f"dask: connecting to {address.text}")
        client = stack.enter_context(_client(stack, distributed, address))
        if address.kind is not DaskKind.SCHEDULER:
            _await_workers(client, address, progress)
        executor = DaskExecutor(client, address.text, progress)
        executor.check()
        threads = client.nthreads()
        progress.note(
            f"dask: {len(threads)} workers with {sum(threads.values())} threads at {client.scheduler.address}"
        )
        yield executor


class DaskExecutor(Executor):
    """The executor of a Dask client, which gives nothing more to workers that have refused a chunk."""

    def __init__(self, client: Any, text: str, progress: Progress) -> None:
        self._client, self._text, self._progress = client, text, progress
        self._checked, self._refused = set[str](), set[str]()
        self._restricted: dict[Future[Any], frozenset[str]] = {}

    def submit(self, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """See the base. Workers may come at any time; those that have come are checked first."""
        self.check()
        workers = self._fitting() or None if self._refused else None
        # Not pure: the same chunk again is another task, for another worker.
        executor = self._client.get_executor(pure=False, workers=workers)
        submitted: Future[T] = executor.submit(function, *arguments, **named)
        if workers is not None:
            self._restricted[submitted] = frozenset(workers)
        return submitted

    def refuse(self, refusal: ChunkRefusal) -> None:
        """Give nothing more to a worker, and say so once. Raises EnvironmentFault where no other is left."""
        if refusal.worker in self._refused:
            return
        self._refused.add(refusal.worker)
        line = (
            f"--dask {self._text}: worker {refusal.worker}: {refusal.reason}; "
            f"install triton-triage {__version__} as it is here"
        )
        if not self._fitting():
            raise EnvironmentFault(line)
        self._progress.warn(line)

    def check(self) -> None:
        """Compare triage on the workers that are new with this one. A worker without any cannot read a chunk, and ends
        by it. Raises EnvironmentFault where no worker has it."""
        new = self._client.nthreads().keys() - self._checked
        if not new:
            return
        try:
            answers: dict[str, Any] = self._client.run(conditions, workers=list(new), on_error="return")
        except OSError:  # The scheduler is gone, perhaps for a moment: the next chunk asks again.
            return
        self._checked |= new
        own = conditions()
        for worker, answer in answers.items():
            if isinstance(answer, Exception) and not isinstance(answer, OSError):
                self.refuse(ChunkRefusal(worker, _line(answer)))
            elif not isinstance(answer, OSError) and answer != own:  # An OSError: it has ended.
                self.refuse(ChunkRefusal(worker, "another triage, or other compiler variables"))

    def cancel_stranded(self) -> None:
        """Cancel chunks of which every worker that might compile them has ended: Dask would keep them for ever."""
        there = self._client.nthreads() if self._restricted else {}
        for future, workers in list(self._restricted.items()):
            if future.done() or workers.isdisjoint(there):
                del self._restricted[future]
                future.cancel()

    def _fitting(self) -> list[str]:
        """The workers that have refused nothing."""
        return [worker for worker in self._client.nthreads() if worker not in self._refused]


def _client(stack: ExitStack, distributed: Any, address: DaskAddress) -> Any:
    if address.is_file and not Path(address.detail).is_file():
        raise InputError(f"--dask {address.text}: no such scheduler file; `dask scheduler --scheduler-file` writes it")
    if address.kind is DaskKind.SCHEDULER:
        where = {"scheduler_file" if address.is_file else "address": address.detail}
    else:
        try:
            where = {"address": stack.enter_context(_cluster(distributed, address))}
        except InputError:
            raise
        except Exception as error:
            raise EnvironmentFault(f"--dask {address.text}: cannot start workers: {_line(error)}") from None
    try:
        return distributed.Client(**where, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = "no Dask scheduler answers there" if isinstance(error, OSError) else _line(error)
        raise EnvironmentFault(f"--dask {address.text}: {problem}; start one with `dask scheduler`") from None


def _cluster(distributed: Any, address: DaskAddress) -> Any:
    """The cluster that is started: a context manager."""
    match address.kind:
        case DaskKind.LOCAL:
            return distributed.LocalCluster(
                n_workers=address.number or len(os.sched_getaffinity(0)),
                threads_per_worker=1,
                # Compiles are other processes, with limits of their own.
                memory_limit=0,
                dashboard_address=None,
            )
        case DaskKind.SSH:
            _module("asyncssh", "pip install asyncssh")
            hosts = address.detail.split(",")
            # Its first host has the scheduler.
            return distributed.SSHCluster([hosts[0], *hosts], remote_python=sys.executable)
        case _:
            return queue_cluster(address)


def queue_cluster(address: DaskAddress) -> Any:
    """Jobs of a batch system, as the user's own configuration of dask-jobqueue describes them."""
    jobqueue, name = _module("dask_jobqueue", _INSTALL), address.detail
    settings: Mapping[str, Any] = importlib.import_module("dask").config.get(f"jobqueue.{name}", {})
    needed = ("cores", "memory", *_NEEDED.get(name, ()))
    missing = [each for each in needed if not settings.get(each)]
    if missing:
        raise InputError(
            f"--dask {address.text}: jobqueue.{name}.{missing[0]} is not set; describe a job in "
            f"~/.config/dask/jobqueue.yaml ({', '.join(needed)}, walltime)"
        )
    arguments = [str(each) for each in settings.get("worker-extra-args") or []]
    walltime = walltime_s(str(settings.get("walltime") or ""), name)
    if walltime and not any(each.startswith("--lifetime") for each in arguments):
        lifetime, stagger = lifetime_s(walltime)
        arguments += ["--lifetime", f"{lifetime}s", "--lifetime-stagger", f"{stagger}s"]
    cluster = getattr(jobqueue, QUEUES[name])(worker_extra_args=arguments)
    jobs = address.number or 1
    # A job that ends, or is pre-empted, is submitted again.
    cluster.adapt(minimum_jobs=jobs, maximum_jobs=jobs)
    return cluster


def _await_workers(client: Any, address: DaskAddress, progress: Progress) -> None:
    """Wait for the first worker: jobs may queue for hours."""
    while not client.scheduler_info()["workers"]:
        progress.step(f"dask: waiting for the first worker of {address.text}")
        try:
            client.wait_for_workers(1, timeout=_LOOK_S)
        except TimeoutError:
            if address.kind is not DaskKind.QUEUE:
                raise EnvironmentFault(f"--dask {address.text}: no worker has started") from None


def _module(name: str, install: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"--dask: needs {name}; `{install}`") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Dask's log: that workers come and go is expected, and the sweep reports what is lost."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            # Such as that the port of the dashboard is taken.
            warnings.filterwarnings("ignore", module="distributed")
            yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
