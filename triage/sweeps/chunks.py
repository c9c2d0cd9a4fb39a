"""The unit of distributed work: some configurations as plain JSON, compiled wherever :func:`run_chunk` is called.

A chunk has all that it needs: the sources (see ``cases/portable.py``), the toolchain, the limits. Compiles run below
warm servers of the process that runs the chunk, so that no crash of a compiler reaches it, nor the engine that called
it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from triage import knowledge
from triage.cases.portable import packed, unpacked
from triage.filesystem import scratch
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError, TriageError, fault
from triage.sweeps.backends import LocalBackend, SweepResult
from triage.sweeps.grid import Cell
from triage.sweeps.keys import CaseKeys, conditions
from triage.sweeps.observation import CellObservation, CellState, SweepFailure
from triage.sweeps.space import Space, changed

CHUNK, RESULTS = "triton-triage/sweep-chunk/1", "triton-triage/sweep-results/1"

Document: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """What all chunks of a sweep have in common. ``under``: the conditions that results hold for (``keys.py``).
    ``jobs``: compiles at a time in the process that runs a chunk."""

    under: str
    limits: Limits = field(default_factory=Limits)
    python: str | None = None
    cache: bool = True
    jobs: int = 1
    knowledge: tuple[Path, ...] = ()


class ChunkMaker:
    """Makes the chunks of a space. Each base case is packed once."""

    def __init__(self, space: Space, settings: ChunkSettings) -> None:
        self._space, self._settings = space, settings
        self._packed: dict[int, dict[str, Any]] = {}

    @property
    def limits(self) -> Limits:
        """Those of each compile."""
        return self._settings.limits

    def chunk(self, cells: Sequence[Cell]) -> dict[str, Any]:
        """The chunk of some cells; their numbers are the ids of its results. Raises InputError where a source cannot be
        read."""
        space, settings = self._space, self._settings
        bases = sorted({space.base(cell) for cell in cells})
        for number in bases:
            if number not in self._packed:
                self._packed[number] = packed(space.bases[number])
        return {
            "schema": CHUNK,
            "bases": {str(number): self._packed[number] for number in bases},
            "configurations": [
                {"id": cell, "base": space.base(cell), "changes": space.changes(cell)} for cell in cells
            ],
            "python": settings.python,
            "limits": {"timeout_s": settings.limits.timeout_s, "memory_bytes": settings.limits.memory_bytes},
            "conditions": settings.under,
            "jobs": settings.jobs,
            "cache": settings.cache,
            "knowledge": [str(path.absolute()) for path in settings.knowledge],
        }


def run_chunk(document: Document) -> dict[str, Any]:
    """Compile the configurations of a chunk in isolation: their results, as plain JSON. A configuration that could not
    be decided has its reason, and a process that can compile none of them refuses the chunk. Raises InputError alone,
    for another document."""
    if document.get("schema") != CHUNK:
        raise InputError(f"not a chunk: schema is {document.get('schema')!r}, not {CHUNK!r}")
    answer = {"schema": RESULTS, "host": platform.node(), "process": os.getpid(), "worker": _address()}
    try:
        results = list(_worker().results(document))
    except EnvironmentFault as error:
        return {**answer, "refused": str(error), "results": []}
    except Exception as error:
        reason = f"{platform.node()}: {fault(error)}"
        untold = CellObservation(CellState.UNTOLD, reason=reason).to_json()
        input_error = isinstance(error, InputError)
        results = [
            {"id": each["id"], "toolchain": "", "observation": untold, "input_error": input_error}
            for each in document["configurations"]
        ]
    return {**answer, "results": results}


def _address() -> str | None:
    """That of the Dask worker that runs this, if one does."""
    distributed = sys.modules.get("distributed")
    with suppress(ValueError, AttributeError):
        return str(distributed.get_worker().address) if distributed is not None else None
    return None


@dataclass(frozen=True, slots=True)
class ChunkRefusal:
    """A process that can compile nothing of a chunk. ``worker``: its address, where it has one; else its host."""

    worker: str
    reason: str


def refusal_of(document: Document) -> ChunkRefusal | None:
    """The refusal in a document of :func:`run_chunk`."""
    reason = document.get("refused")
    return None if reason is None else ChunkRefusal(str(document.get("worker") or document.get("host")), str(reason))


def results_of(document: Document) -> Iterator[tuple[Cell, str, CellObservation, SweepFailure | None, bool]]:
    """The results of a document of :func:`run_chunk`: cell, identity of the toolchain, observation, failure where it is
    described, and whether the case does not fit its kernel. Raises InputError for another document."""
    if document.get("schema") != RESULTS:
        raise InputError(f"not the results of a chunk: schema is {document.get('schema')!r}")
    for each in document["results"]:
        seen = CellObservation.from_json(each["observation"], "results")
        failure = SweepFailure.from_json(each["failure"], "results") if each.get("failure") else None
        yield int(each["id"]), str(each["toolchain"]), seen, failure, bool(each.get("input_error"))


class _Worker:
    """What a thread of a process that runs chunks has: an engine with warm servers, and the unpacked cases."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._toolchains = Toolchains()
        self._resolved: dict[tuple[str, str | None, str | None], Toolchain | TriageError] = {}
        self._cases: dict[str, Case] = {}
        self._engines: dict[tuple[int, bool], Engine] = {}

    def results(self, document: Document) -> Iterator[dict[str, Any]]:
        if document["conditions"] != conditions():
            raise EnvironmentFault("another triage, or other compiler variables")
        limits = Limits(**document["limits"])
        cases = {each["id"]: self._case(document, each) for each in document["configurations"]}
        shown: dict[str, str] = {}

        def shows(signature: str, key: str) -> bool:
            # As the ledger: the failure is described by the result with the least key.
            least = key < shown.get(signature, "~")
            shown[signature] = key if least else shown[signature]
            return least

        python = document["python"]
        toolchains = {(case.compiler.name, case.release): self._toolchain(case, python) for case in cases.values()}
        missing = [toolchain for toolchain in toolchains.values() if isinstance(toolchain, EnvironmentFault)]
        if missing and len(missing) == len(toolchains):
            raise missing[0]
        backend = LocalBackend(
            cases.__getitem__,
            self._engine(document["jobs"], document["cache"]),
            toolchains,
            CaseKeys(document["conditions"]),
            limits,
            knowledge.load_all(tuple(map(Path, document["knowledge"]))),
            shows,
            document["cache"],
        )
        for results in backend.results(iter(cases)):
            yield from map(_as_json, results)

    def _case(self, document: Document, configuration: Document) -> Case:
        base = document["bases"][str(configuration["base"])]
        digest = hashlib.sha256(json.dumps(base, sort_keys=True).encode()).hexdigest()
        if digest not in self._cases:
            # At the same path for all chunks: servers are kept by that.
            self._cases[digest] = unpacked(base, self._folder / digest[:16])
        return changed(self._cases[digest], configuration["changes"])

    def _toolchain(self, case: Case, python: str | None) -> Toolchain | TriageError:
        asked = (case.compiler.name, case.release, python)
        if asked not in self._resolved:
            try:
                self._resolved[asked] = self._toolchains.resolve(
                    None if python else case.release, python, case.compiler
                )
            except Exception as error:
                return fault(error)  # The next chunk may have more luck with it.
        return self._resolved[asked]

    def _engine(self, jobs: int, cache: bool) -> Engine:
        if (jobs, cache) not in self._engines:
            self._engines[jobs, cache] = Engine(jobs, Store() if cache else None, self._toolchains.installed)
        return self._engines[jobs, cache]

    @cached_property
    def _folder(self) -> Path:
        return scratch.new("chunk").folder

    def __del__(self) -> None:
        if self.process == os.getpid():
            for engine in self._engines.values():
                engine.close()


_local = threading.local()


def _worker() -> _Worker:
    """That of this thread. A fork has none of its parent's servers."""
    worker: _Worker | None = getattr(_local, "worker", None)
    if worker is None or worker.process != os.getpid():
        worker = _local.worker = _Worker()
    return worker


def _as_json(result: SweepResult) -> dict[str, Any]:
    return {
        "id": result.cell,
        "toolchain": result.row.toolchain,
        "observation": result.row.observation.to_json(),
        "failure": result.failure and result.failure.failure.to_json(),
        "input_error": result.input_error,
    }
