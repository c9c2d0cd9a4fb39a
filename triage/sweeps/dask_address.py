"""The words of ``--dask``: which Dask cluster compiles a sweep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from triage.model.errors import InputError

QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "htcondor": "HTCondorCluster",
}
"""Batch systems, with their classes in dask-jobqueue."""
_FORMS = (
    f"an address as tcp://HOST:8786, a scheduler file, local:N, ssh:HOST,HOST, or {', '.join(QUEUES)} as slurm:JOBS"
)
_ADDRESS = re.compile(r"(\w+://)?[^\s:/]+:\d+/?|(\w+)://\S+")


class DaskKind(str, Enum):
    """Who starts the scheduler and the workers."""

    SCHEDULER = "scheduler"
    """They run."""
    LOCAL = "local"
    SSH = "ssh"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True)
class DaskAddress:
    """``text`` as it was written; ``detail``: address or scheduler file, hosts, or the name of a batch system;
    ``number``: workers of a local cluster or jobs of a batch system, None for the default."""

    text: str
    kind: DaskKind
    detail: str
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> DaskAddress:
        """Raises InputError."""
        name, colon, rest = text.partition(":")
        if name == "ssh" and not rest.startswith("//"):
            hosts = [host.strip() for host in rest.split(",") if host.strip()]
            if not hosts:
                raise InputError(f"--dask {text}: no hosts; write ssh:HOST,HOST")
            return cls(text, DaskKind.SSH, ",".join(hosts))
        if name == "local" or name in QUEUES:
            number = int(rest) if re.fullmatch(r"[0-9]{1,6}", rest) else None
            if colon and not number:
                raise InputError(f"--dask {text}: {rest!r} is not a number of {_counted(name)}; write {name}:4")
            return cls(text, DaskKind.LOCAL if name == "local" else DaskKind.QUEUE, name, number)
        if _ADDRESS.fullmatch(text) or text.endswith(".json"):
            return cls(text, DaskKind.SCHEDULER, text)
        raise InputError(f"--dask {text}: not a cluster; give {_FORMS}")

    @property
    def is_file(self) -> bool:
        """Whether ``detail`` is a scheduler file."""
        return self.kind is DaskKind.SCHEDULER and not _ADDRESS.fullmatch(self.detail)


def _counted(name: str) -> str:
    return "workers" if name == "local" else "jobs"
