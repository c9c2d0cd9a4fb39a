"""Chunks by any executor of ``concurrent.futures``, Dask's and MPI's among them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from triage.model.errors import EnvironmentFault
from triage.sweeps.backends import Shows, SweepResult
from triage.sweeps.chunk_sizes import ChunkSizes
from triage.sweeps.chunks import ChunkMaker, ChunkRefusal, refusal_of, results_of, run_chunk
from triage.sweeps.grid import Cell
from triage.sweeps.keys import CaseKeys
from triage.sweeps.ledger import KnownFailure, LedgerRow
from triage.sweeps.observation import CellObservation, CellState
from triage.sweeps.space import Space

AHEAD = 2
"""Chunks for each worker that are submitted: one runs, one waits."""
_WORKERS = 16
"""Workers of an executor that does not tell how many it has."""
_LOOK_S = 2.0
"""Interval of polling for new workers and a lost scheduler."""
_RESUMABLE = "what is finished is kept: repeat the sweep with the same folder"
_MOST_LOSSES = 3
"""How often a lost chunk is submitted again, in halves: a configuration that kills its machine costs few others."""


def workers_of(executor: Executor, before: int = _WORKERS) -> int:
    """How many workers an executor has now; of a Dask cluster its threads, which may grow. ``before``: the number to
    assume where the executor does not tell."""
    match getattr(executor, "_max_workers", None):
        case int() as number if number > 0:
            return number
    threads = getattr(getattr(executor, "_client", None), "nthreads", None)
    try:
        return max(1, sum(threads().values())) if threads is not None else before
    except Exception:
        return before  # The scheduler is lost; its chunks tell.


@dataclass(frozen=True, slots=True)
class _Batch:
    """Cells of a chunk. ``losses``: how often it was lost."""

    cells: list[Cell]
    losses: int = 0

    def halves(self) -> list[_Batch]:
        """Two halves to submit again."""
        middle = (len(self.cells) + 1) // 2
        parts = (self.cells[:middle], self.cells[middle:])
        return [_Batch(part, self.losses + 1) for part in parts if part]


@dataclass(frozen=True, slots=True)
class ExecutorBackend:
    """Implements :class:`triage.sweeps.backends.Backend`."""

    space: Space
    executor: Executor
    maker: ChunkMaker
    keys: CaseKeys
    shows: Shows
    sizes: ChunkSizes

    def results(self, cells: Iterator[Cell | None]) -> Iterator[Sequence[SweepResult]]:
        """See the protocol. The cells of a chunk that is lost again and again are undecided. Raises EnvironmentFault
        where the executor is lost, or has no worker that fits."""
        pending: dict[Future[Any], _Batch] = {}
        lost: deque[_Batch] = deque()
        more, submitted, workers = True, 0, _WORKERS
        try:
            while more or pending or lost:
                workers = workers_of(self.executor, workers)
                room = AHEAD * workers - len(pending)
                waiting = [lost.popleft() for _ in range(min(room, len(lost)))]
                if more and room > len(waiting):
                    size = self.sizes.size(submitted, workers)
                    taken, more = _taken(cells, size * (room - len(waiting)))
                    submitted += len(taken)
                    waiting += _evenly(taken, size, max(1, workers - len(pending)))
                for batch in waiting:
                    pending[self._submitted(batch)] = batch
                done, _ = wait(pending, _LOOK_S, FIRST_COMPLETED)
                if not done:
                    self._look()
                for future in done:
                    yield tuple(self._results(future, pending.pop(future), lost))
        finally:
            for future in pending:
                future.cancel()

    def _look(self) -> None:
        """Cancel chunks that would never end. Raises EnvironmentFault where the scheduler is lost."""
        if getattr(getattr(self.executor, "_client", None), "status", None) == "closed":
            raise EnvironmentFault(f"Dask's scheduler is lost; {_RESUMABLE}")
        if (cancel := getattr(self.executor, "cancel_stranded", None)) is not None:
            cancel()

    def _submitted(self, batch: _Batch) -> Future[Any]:
        chunk = self.maker.chunk(batch.cells)
        try:
            return self.executor.submit(run_chunk, chunk)
        except Exception as error:
            raise EnvironmentFault(f"the executor takes no more work: {_line(error)}; {_RESUMABLE}") from None

    def _results(self, future: Future[Any], batch: _Batch, lost: deque[_Batch]) -> Iterator[SweepResult]:
        """The results of a chunk. The cells of a lost chunk go to ``lost``, or are undecided."""
        left = dict.fromkeys(batch.cells)
        reason = "its worker gave no result for it"
        try:
            document = future.result()
            if (refusal := refusal_of(document)) is not None:
                yield from self._refused(refusal, batch, lost)
                return
            results = list(results_of(document))
        except EnvironmentFault:
            raise  # No worker is left.
        except Exception as error:
            # Whatever a worker, or the way to it, may raise: it concerns this chunk alone.
            if batch.losses < _MOST_LOSSES:
                lost.extend(batch.halves())
                return
            reason, results = f"its worker was lost: {_line(error)}", []
        for cell, toolchain, seen, failure, input_error in results:
            if cell in left:
                del left[cell]
                row = self._row(cell, toolchain, seen)
                shown = failure is not None and self.shows(failure.signature, row.key)
                known = KnownFailure(row.key, failure) if failure is not None and shown else None
                yield SweepResult(cell, row, known, input_error)
        yield from self._untold(left, reason)

    def _refused(self, refusal: ChunkRefusal, batch: _Batch, lost: deque[_Batch]) -> Iterator[SweepResult]:
        """Give the chunk to another worker; raises EnvironmentFault where there is none. An executor that cannot choose
        may give it to the same one again: then its cells are undecided."""
        refuse = getattr(self.executor, "refuse", None)
        if refuse is not None:
            refuse(refusal)
            lost.append(batch)
        elif batch.losses < _MOST_LOSSES:
            lost.append(_Batch(batch.cells, batch.losses + 1))
        else:
            yield from self._untold(batch.cells, f"{refusal.worker}: {refusal.reason}")

    def _untold(self, cells: Iterable[Cell], reason: str) -> Iterator[SweepResult]:
        for cell in cells:
            yield SweepResult(cell, self._row(cell, "", CellObservation(CellState.UNTOLD, reason=reason)))

    def _row(self, cell: Cell, toolchain: str, seen: CellObservation) -> LedgerRow:
        case = self.space.case(cell)
        key, stated = self.keys.row_key(case)
        return LedgerRow(key, toolchain, stated, seen, self.maker.limits)


def _taken(cells: Iterator[Cell | None], most: int) -> tuple[list[Cell], bool]:
    """The next cells, as many as there are now, and whether there may be more."""
    taken: list[Cell] = []
    while len(taken) < most:
        try:
            cell = next(cells)
        except StopIteration:
            return taken, False
        if cell is None:
            break
        taken.append(cell)
    return taken, True


def _evenly(cells: list[Cell], most: int, workers: int) -> Iterator[_Batch]:
    """Cells in parts, so that few of them are shared by the workers that wait."""
    size = max(1, min(most, -(-len(cells) // workers)))
    for start in range(0, len(cells), size):
        yield _Batch(cells[start : start + size])


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
