"""Where cells are compiled: by the engine of this process; ``executors.py`` has any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.knowledge import Entry
from triage.model.case import Case
from triage.model.errors import InputError, TriageError
from triage.model.outcome import Undecided
from triage.sweeps.attempts import failure, observation
from triage.sweeps.grid import Cell
from triage.sweeps.keys import CaseKeys, toolchain_identity
from triage.sweeps.ledger import KnownFailure, LedgerRow
from triage.sweeps.observation import CellObservation, CellState

Shows = Callable[[str, str], bool]
"""Whether the failure with this signature is to be described by the result with this key."""


ToolchainsByRelease: TypeAlias = Mapping[tuple[str, str | None], Toolchain | TriageError]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The answer for a cell. ``input_error``: it is undecided because the case does not fit the kernel."""

    cell: Cell
    row: LedgerRow
    failure: KnownFailure | None = None
    input_error: bool = False


class Backend(Protocol):
    """Compiles cells as they are proposed, and gives results as they come, some at a time."""

    def results(self, cells: Iterator[Cell | None]) -> Iterator[Sequence[SweepResult]]:
        """``cells`` gives None when there is none now but may be one after a further result."""


@dataclass(frozen=True, slots=True)
class LocalBackend:
    """The engine of this process. ``case_of``: the case of a cell. ``toolchains``: by the name of the compiler and its
    release, or why there is none; that of a case without a release under None."""

    case_of: Callable[[Cell], Case]
    engine: Engine
    toolchains: ToolchainsByRelease
    keys: CaseKeys
    limits: Limits
    entries: Sequence[Entry]
    shows: Shows
    use_cache: bool = True
    keep: bool = False
    """Whether the store keeps the artifacts of failures, which a search for replacements reads."""
    ahead: bool = True
    """Whether no cell is chosen by the results of others."""

    def results(self, cells: Iterator[Cell | None]) -> Iterator[Sequence[SweepResult]]:
        """See :class:`Backend`."""
        results: list[SweepResult] = []
        for attempt in self.engine.run(self._requests(cells, results), self.ahead):
            results.append(self._result(attempt))
            if not self.engine.has_attempts:
                yield tuple(results)
                results.clear()
        if results:
            yield tuple(results)

    def _requests(self, cells: Iterator[Cell | None], results: list[SweepResult]) -> Iterator[Request | None]:
        """The requests; a cell without a toolchain has its result at once."""
        action = FullCompile(observe=True, keep=self.keep, use_cache=self.use_cache)
        for cell in cells:
            if cell is None:
                yield None
                continue
            case = self.case_of(cell)
            match self.toolchains[case.compiler.name, case.release]:
                case Toolchain() as toolchain:
                    whole = case.with_release(toolchain.release)
                    yield Request(whole, toolchain, self.limits, action, tag=cell)
                case error:
                    untold = CellObservation(CellState.UNTOLD, reason=str(error))
                    key, stated = self.keys.row_key(case)
                    row = LedgerRow(key, "", stated, untold, self.limits)
                    results.append(SweepResult(cell, row, input_error=isinstance(error, InputError)))

    def _result(self, attempt: Attempt) -> SweepResult:
        request, result = attempt.request, attempt.result
        seen = observation(attempt)
        key, stated = self.keys.row_key(request.case)
        row = LedgerRow(key, toolchain_identity(request.toolchain), stated, seen, request.limits)
        known = None
        if seen.signature is not None and self.shows(seen.signature, key):
            known = KnownFailure(key, failure(attempt, seen, self.entries))
        return SweepResult(request.tag, row, known, isinstance(result, Undecided) and result.input_error)
