"""Chunks by any executor of ``concurrent.futures``, Dask's and MPI's among them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from triage.model.errors import EnvironmentFault, fault
from triage.sweeps.backends import Shows, SweepResult
from triage.sweeps.chunks import ChunkMaker, chunk_size, results_of, run_chunk
from triage.sweeps.grid import Cell
from triage.sweeps.keys import CaseKeys, configuration
from triage.sweeps.ledger import KnownFailure, LedgerRow
from triage.sweeps.observation import CellObservation, CellState
from triage.sweeps.space import Space

_AHEAD = 2
"""Chunks for each worker that are submitted: one runs, one waits."""
_WORKERS = 16
"""Workers of an executor that does not tell how many it has."""


def workers_of(executor: Executor) -> int:
    """How many workers an executor has."""
    number = getattr(executor, "_max_workers", None)
    return number if isinstance(number, int) and number > 0 else _WORKERS


@dataclass(frozen=True, slots=True)
class ExecutorBackend:
    """Implements :class:`triage.sweeps.backends.Backend`. ``expected``: how many cells there are to compile."""

    space: Space
    executor: Executor
    maker: ChunkMaker
    keys: CaseKeys
    shows: Shows
    expected: int

    def results(self, cells: Iterator[Cell | None]) -> Iterator[SweepResult]:
        """See the protocol. A chunk that is lost could not be told; raises EnvironmentFault where the executor is."""
        workers = workers_of(self.executor)
        size = chunk_size(self.expected, workers)
        pending: dict[Future[Any], list[Cell]] = {}
        more = True
        try:
            while more or pending:
                while more and len(pending) < _AHEAD * workers:
                    batch, more = _batch(cells, size)
                    if batch:
                        pending[self._submitted(batch)] = batch
                    if len(batch) < size:
                        break
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from self._results(future, pending.pop(future))
        finally:
            for future in pending:
                future.cancel()

    def _submitted(self, batch: list[Cell]) -> Future[Any]:
        try:
            return self.executor.submit(run_chunk, self.maker.chunk(batch))
        except (BrokenExecutor, RuntimeError) as error:
            raise EnvironmentFault(f"the executor takes no more work: {error}; what is finished is kept") from None

    def _results(self, future: Future[Any], batch: list[Cell]) -> Iterator[SweepResult]:
        left = dict.fromkeys(batch)
        reason = "its worker gave no result for it"
        try:
            for cell, toolchain, seen, failure, input_error in results_of(future.result()):
                if cell not in left:
                    continue
                del left[cell]
                row = self._row(cell, toolchain, seen)
                known = KnownFailure(row.key, failure) if failure and self.shows(failure.signature, row.key) else None
                yield SweepResult(cell, row, known, input_error)
        except (Exception, CancelledError) as error:
            # Whatever a worker, or the way to it, may raise: it concerns this chunk alone.
            reason = f"its worker was lost: {fault(error) if isinstance(error, Exception) else error}"
        for cell in left:
            yield SweepResult(cell, self._row(cell, "", CellObservation(CellState.UNTOLD, reason=reason)))

    def _row(self, cell: Cell, toolchain: str, seen: CellObservation) -> LedgerRow:
        case = self.space.case(cell)
        return LedgerRow(self.keys.key(case), toolchain, configuration(case), seen, self.maker.limits)


def _batch(cells: Iterator[Cell | None], size: int) -> tuple[list[Cell], bool]:
    """The next cells, as many as there are now, and whether there may be more."""
    batch: list[Cell] = []
    while len(batch) < size:
        try:
            cell = next(cells)
        except StopIteration:
            return batch, False
        if cell is None:
            break
        batch.append(cell)
    return batch, True
