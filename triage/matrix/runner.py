"""Fills a table, or finds its edges, with the engine, while toolchains are created in the background."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.matrix import bisection
from triage.matrix.bisection import Answer
from triage.matrix.cell import CellVerdict, MatrixCell, judge
from triage.matrix.history import history
from triage.matrix.releases import Row, Selection, between
from triage.matrix.supply import Supply
from triage.matrix.table import Bisected, MatrixTable
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.progress import Progress

_ANSWER = {
    CellVerdict.COMPILES: Answer.GOOD,
    CellVerdict.FAILS: Answer.BAD,
    CellVerdict.SUSPECT: Answer.BAD,
    CellVerdict.TIMEOUT: Answer.BAD,
    CellVerdict.NOT_APPLICABLE: Answer.ABSENT,
    CellVerdict.UNDECIDED: Answer.UNKNOWN,
}


class Runner:
    """One case for some targets. ``cases``: the case by target, in the order of the columns. ``keep``: keep the
    artifacts of failures."""

    def __init__(
        self,
        cases: Mapping[str, Case],
        engine: Engine,
        toolchains: Toolchains,
        limits: Limits,
        use_cache: bool = True,
        keep: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._cases = dict(cases)
        self._compiler = next(iter(self._cases.values())).compiler
        self._engine = engine
        self._toolchains = toolchains
        self._limits = limits
        self._use_cache = use_cache
        self._keep = keep
        self._progress = progress or Progress()
        self._progress.caveats(case.target for case in cases.values())
        self._resolved: dict[Row, Toolchain] = {}
        self._cells: dict[tuple[str, str], MatrixCell] = {}
        self._asked = 0
        self.interrupted = False

    def table(self, selection: Selection, builds: Sequence[Row] = ()) -> MatrixTable:
        """Every release for every target; then, inside a range, the patch releases between two rows of which one
        fails, so that an edge names a release. Raises InputError and EnvironmentFault when no cell could be decided. An
        interrupt ends it, with the cells until then; without any, KeyboardInterrupt is raised."""
        names = list(selection.chosen)
        with self._until_interrupted():
            self._fill((Row(name, release=name), target) for name in names for target in self._cases)
            self._fill((row, target) for row in builds for target in self._cases)
            while inside := self._inside_edges(names, selection.known):
                names = [name for name in selection.known if name in {*names, *inside}]
                self._fill((Row(name, release=name), target) for name in inside for target in self._cases)
        return self._finished(names, builds, selection.chosen, None)

    def bisect(self, selection: Selection, builds: Sequence[Row] = ()) -> MatrixTable:
        """The edges of each target among all known releases, within bisection's budget; builds are compiled as well,
        outside of it. Raises as :meth:`table` does."""
        names = selection.known
        with self._until_interrupted():
            self._fill((row, target) for row in builds for target in self._cases)
            while wanted := [
                (Row(names[index], release=names[index]), target)
                for target in self._cases
                for index in bisection.next_probes(self._known(names, target))
            ]:
                self._fill(wanted)
        compiles = {target: sum((name, target) in self._cells for name in names) for target in self._cases}
        tried = [name for name in names if any((name, target) in self._cells for target in self._cases)]
        return self._finished(tried, builds, names, Bisected(len(names), bisection.budget(len(names)), compiles))

    @contextmanager
    def _until_interrupted(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True
            if all(cell.verdict is CellVerdict.UNDECIDED for cell in self._cells.values()):
                raise

    def _known(self, names: Sequence[str], target: str) -> list[Answer | None]:
        cells = [self._cells.get((name, target)) for name in names]
        return [None if cell is None else _ANSWER[cell.verdict] for cell in cells]

    def _inside_edges(self, names: Sequence[str], known: Sequence[str]) -> list[str]:
        inside: set[str] = set()
        for target in self._cases:
            cells = [(name, self._cells[name, target].verdict) for name in names]
            decided = [(name, verdict) for name, verdict in cells if verdict is not CellVerdict.UNDECIDED]
            for (older, before), (newer, after) in pairwise(decided):
                if before.bad != after.bad:
                    inside |= set(between(older, newer, known)) - set(names)
        return [name for name in known if name in inside]

    def _finished(
        self, names: Sequence[str], builds: Sequence[Row], asked: Sequence[str], bisected: Bisected | None
    ) -> MatrixTable:
        if self._cells and all(cell.verdict is CellVerdict.UNDECIDED for cell in self._cells.values()):
            raise self._nothing_decided()
        histories = tuple(
            history(
                target,
                names,
                {name: cell for (name, column), cell in self._cells.items() if column == target},
                asked,
                self._compiler.releases,
            )
            for target in self._cases
        )
        rows = (*(Row(name, release=name) for name in names), *builds)
        case = next(iter(self._cases.values()))
        return MatrixTable(case, rows, tuple(self._cases), dict(self._cells), histories, bisected)

    def _nothing_decided(self) -> TriageError:
        (name, _), cell = next(iter(self._cells.items()))
        kind = InputError if all(cell.input_error for cell in self._cells.values()) else EnvironmentFault
        rest = len(self._cells) - 1
        more = f" ({rest} more cells of the table could not be told either)" if rest else ""
        return kind(f"{name}: could not tell: {cell.reason}{more}")

    # ---- compiling

    def _fill(self, wanted: Iterable[tuple[Row, str]]) -> None:
        """Compile what has no cell yet."""
        waiting: dict[Row, list[str]] = {}
        for row, target in wanted:
            if (row.name, target) not in self._cells:
                waiting.setdefault(row, []).append(target)
                self._asked += 1
        if not waiting:
            return
        installed = {toolchain.release for toolchain in self._toolchains.installed(self._compiler)}
        # Installed ones first: they compile while the others are created.
        supply = Supply(self._resolve, sorted(waiting, key=lambda row: row.release not in installed))
        try:
            while waiting and not self._engine.deadline.over:
                for attempt in self._engine.run(self._requests(supply, waiting)):
                    self._take(attempt)
        except BaseException:
            self._toolchains.deadline.stop()
            supply.stop()
            raise

    def _requests(self, supply: Supply, waiting: dict[Row, list[str]]) -> Iterator[Request]:
        """Requests for the toolchains that are ready. Waits only for the first, when nothing runs yet: the engine is
        blocked meanwhile."""
        wait = True
        while (arrived := supply.take(wait)) is not None:
            row, toolchain = arrived
            for target in waiting.pop(row):
                if isinstance(toolchain, Toolchain):
                    wait = False
                    yield self._request(row, target, toolchain)
                else:
                    wrong = isinstance(toolchain, InputError)
                    self._tell(row, target, MatrixCell(CellVerdict.UNDECIDED, reason=str(toolchain), input_error=wrong))

    def _request(self, row: Row, target: str, toolchain: Toolchain) -> Request:
        case = self._cases[target].with_release(toolchain.release)
        action = FullCompile(observe=True, keep=self._keep, use_cache=self._use_cache)
        return Request(case, toolchain, self._limits, action, tag=(row, target))

    def _resolve(self, row: Row) -> Toolchain:
        if row not in self._resolved:
            self._resolved[row] = self._toolchains.resolve(row.release, row.python, self._compiler)
        return self._resolved[row]

    def _take(self, attempt: Attempt) -> None:
        row, target = attempt.request.tag
        case, release = attempt.request.case, attempt.request.toolchain.release
        cell = judge(case, release, attempt.result, attempt.diagnosis, attempt.cached)
        if cell.input_error and all(known.verdict is CellVerdict.UNDECIDED for known in self._cells.values()):
            # A case that does not fit its kernel does not fit it on any release: create no further environment.
            raise InputError(f"{case.path}::{case.name}: {cell.reason}")
        self._tell(row, target, cell)

    def _tell(self, row: Row, target: str, cell: MatrixCell) -> None:
        self._cells[row.name, target] = cell
        done = f"{len(self._cells)} of {self._asked}"
        self._progress.step(f"{done}: {self._compiler.label(row.name)}, {target}: {cell.verdict.value}")
