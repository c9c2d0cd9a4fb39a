"""A sweep from its parts: what is swept, with which toolchains, where, and what its folder keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from triage import knowledge, scratch
from triage.cases.portable import packed, unpacked
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.compilers import Compiler
from triage.model.errors import InputError, TriageError, fault
from triage.model.progress import Progress
from triage.sweeps.backends import Backend, LocalBackend, ToolchainsByRelease
from triage.sweeps.chunk_sizes import ChunkSizes
from triage.sweeps.chunks import ChunkMaker, ChunkSettings
from triage.sweeps.commands import SweepCommands
from triage.sweeps.executors import ExecutorBackend, workers_of
from triage.sweeps.grid import Grid, SweepAxis, cells_of
from triage.sweeps.keys import CaseKeys, conditions, toolchain_identity
from triage.sweeps.ledger import FILE, Ledger, LedgerRow
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellObservation, CellState
from triage.sweeps.plan import SweepPlan
from triage.sweeps.rules.search import RuleSearch
from triage.sweeps.runner import SweepRunner, assembled, known_cells, with_rules
from triage.sweeps.shards import Shard
from triage.sweeps.space import CaseSpace, ListSpace, Space

_SWEEP = "sweep"
"""The document in the ledger that says what is swept."""
_SHARD, _COMMANDS, _OPTIONS = "shard", "commands", "options"
_SAME = {
    "bases": "the case differs",
    "sources": "the source differs",
    "axes": "the axes differ",
    "allowed": "the constraints differ",
    "is_list": "one is a list",
    "conditions": "another version of triage, or other variables of the compiler",
}
"""What parts of one sweep have in common, and what it means where they differ."""


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """``folder``: of the ledger; None for one in memory. ``python``: an environment instead of releases."""

    folder: Path | None = None
    python: str | None = None
    limits: Limits = field(default_factory=Limits)
    jobs: int | None = None
    cache: bool = True
    shard: Shard | None = None
    executor: Executor | None = None
    """What compiles, in chunks; None for the engine of this process."""
    plan: SweepPlan = field(default_factory=SweepPlan)
    knowledge: tuple[Path, ...] = ()
    commands: SweepCommands = field(default_factory=lambda: SweepCommands((), ()))
    """Kept with the ledger, for a later run."""


def run(space: Space, options: SweepOptions, progress: Progress | None = None) -> SweepMap:
    """Compile the cells of a space. Raises InputError, EnvironmentFault, and KeyboardInterrupt where an interrupt left
    nothing."""
    progress = progress or Progress()
    whole = space
    if options.shard is not None:
        if not options.plan.is_exhaustive(space):
            raise InputError("--shard: each part is compiled whole; add --exhaustive, or leave out --budget")
        space = replace(space, grid=options.shard.part(space))
    most = options.plan.expected(space)
    progress.caveats(case.target for case in space.bases)
    scratch.tidy()
    toolchains = Toolchains(progress=progress.note)
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(None if options.folder is None else options.folder / FILE))
        under = conditions()
        keys = CaseKeys(under)
        ledger.keep(_SWEEP, _document(whole, under))
        ledger.keep(_SHARD, options.shard and str(options.shard))
        ledger.keep(_COMMANDS, {"check": options.commands.check, "members": options.commands.members})
        ledger.keep(_OPTIONS, {"python": options.python, **asdict(options.plan)})
        if options.executor is not None:
            settings = ChunkSettings(
                under, options.limits, options.python, options.cache, options.jobs or 1, options.knowledge
            )
            maker = ChunkMaker(space, settings)
            sizes = ChunkSizes(most, learning=not options.plan.is_exhaustive(space))
            backend: Backend = ExecutorBackend(space, options.executor, maker, keys, ledger.shows, sizes)
            workers = workers_of(options.executor)
            jobs = workers * sizes.size(0, workers)
            # Which toolchains the workers have is theirs to know.
            known = known_cells(space, ledger.rows(), lambda row: row.holds(options.limits), keys)
        else:
            chosen = _toolchains(space, toolchains, options.python)
            store = Store(note=progress.warn) if options.cache else None
            if store is not None:
                stack.callback(store.close)
            engine = stack.enter_context(Engine(options.jobs, store, toolchains.installed))
            entries = knowledge.load_all(options.knowledge)
            backend = LocalBackend(
                space.case, engine, chosen, keys, options.limits, entries, ledger.shows, options.cache
            )
            jobs = engine.jobs
            known = known_cells(space, ledger.rows(), _holding(chosen, options.limits), keys)
        reasons = ((cell, space.obstacle(cell)) for cell in cells_of(space.grid.allowed) if space.is_list)
        untold = {cell: CellObservation(CellState.UNTOLD, reason=reason) for cell, reason in reasons if reason}
        if known:
            progress.note(f"{len(known)} of {len(space.grid)} cells are in the ledger")
        runner = SweepRunner(space, backend, ledger, {**known, **untold}, progress, most, jobs)
        strategy, budget = options.plan.strategy(space, len(known)), options.plan.left(len(known))
        # Those of a part would be refuted by the others.
        return runner.run(strategy, budget, learns_rules=options.shard is None and not space.is_list)


@dataclass(frozen=True, slots=True)
class StoredSweep:
    """What the ledger of a folder is of: the space, which part of it, how much of that is compiled and by what, and the
    words of ``triage check`` as in :class:`~triage.sweeps.commands.SweepCommands`."""

    space: Space
    shard: Shard | None
    plan: SweepPlan
    python: str | None
    check: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, folder: Path, into: Path) -> StoredSweep:
        """That of a folder; its sources are written to ``into``. Raises InputError where there is none."""
        with _ledger_of(folder) as ledger:
            document, shard = _kept(ledger, folder), ledger.kept(_SHARD)
            words = ledger.kept(_COMMANDS) or {"check": (), "members": ()}
            stated = ledger.kept(_OPTIONS) or {}
        members = tuple(map(tuple, words["members"]))
        return cls(
            _space(document, into),
            shard and Shard.parse(shard),
            SweepPlan(stated.get("budget"), stated.get("exhaustive", False)),
            stated.get("python"),
            tuple(words["check"]),
            members,
        )


def merge(folders: Sequence[Path], folder: Path, into: Path) -> SweepMap:
    """The map of what several folders have of the same sweep; the ledger of ``folder`` has then all of their results.
    Sources are written to ``into``. Raises InputError where their sweeps differ."""
    with ExitStack() as stack:
        others = [stack.enter_context(_ledger_of(each)) for each in folders]
        documents = [_kept(ledger, each) for ledger, each in zip(others, folders, strict=True)]
        for each, document in zip(folders[1:], documents[1:], strict=True):
            if differing := [name for name in _SAME if document[name] != documents[0][name]]:
                what = _SAME[differing[0]]
                raise InputError(f"{each}: of another sweep than {folders[0]}: {what}; merge parts of one sweep")
        merged = stack.enter_context(Ledger(folder / FILE))
        merged.keep(_SWEEP, documents[0])
        for name in (_COMMANDS, _OPTIONS):
            merged.keep(name, others[0].kept(name))
        merged.take(others)
        space = _space(documents[0], into)
        known = known_cells(space, merged.rows(), lambda row: True, CaseKeys(documents[0]["conditions"]))
        return with_rules(
            assembled(space, known, merged), RuleSearch(space.grid, known, space.bases[0].target, budget=0)
        )


def _ledger_of(folder: Path) -> Ledger:
    if not (folder / FILE).is_file():
        raise InputError(f"{folder}: no {FILE} in it; name the -o folder of a sweep")
    return Ledger(folder / FILE)


def _kept(ledger: Ledger, folder: Path) -> dict[str, Any]:
    document = ledger.kept(_SWEEP)
    if not isinstance(document, dict):
        raise InputError(f"{folder / FILE}: says nothing of what was swept; give the case and --set again")
    return document


def _space(document: dict[str, Any], into: Path) -> Space:
    bases = [unpacked(each, into / str(number)) for number, each in enumerate(_with_sources(document))]
    axes = [SweepAxis(name, tuple(values)) for name, values in document["axes"]]
    grid = Grid(axes, int(document["allowed"], 16) if document["allowed"] else None)
    if document["is_list"]:
        return ListSpace(tuple(bases), grid, tuple(document["unclear"]))
    return CaseSpace(bases[0], grid)


def _with_sources(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in document["bases"]:
        yield {**each, "files": document["sources"][each["files"]]} if "files" in each else each


def _document(space: Space, under: str) -> dict[str, Any]:
    grid = space.grid
    bases = [packed(case) for case in space.bases]
    # Configurations of a list share their sources.
    texts: dict[str, int] = {}
    for each in bases:
        if "files" in each:
            each["files"] = texts.setdefault(json.dumps(each["files"]), len(texts))
    return {
        "bases": bases,
        "sources": [json.loads(text) for text in texts],
        "axes": [[axis.name, axis.values] for axis in grid.axes],
        "allowed": None if grid.allowed == grid.whole else f"{grid.allowed:x}",
        "is_list": space.is_list,
        "unclear": space.unclear if isinstance(space, ListSpace) else [],
        "conditions": under,
    }


def _toolchains(space: Space, toolchains: Toolchains, python: str | None) -> ToolchainsByRelease:
    """The toolchain of each release of the space, or why there is none. Raises what a single one raises."""
    asked: dict[tuple[str, str | None], Compiler] = {}
    for case in space.bases:
        axis = space.grid.positions.get(case.compiler.name)
        for release in space.grid.axes[axis].values if axis is not None else (case.release,):
            asked[case.compiler.name, release] = case.compiler
    resolved: dict[tuple[str, str | None], Toolchain | TriageError] = {}
    for (name, release), compiler in asked.items():
        try:
            resolved[name, release] = toolchains.resolve(None if python else release, python, compiler)
        except Exception as error:
            resolved[name, release] = fault(error)
            if len(asked) == 1:
                raise
    return resolved


def _holding(chosen: ToolchainsByRelease, limits: Limits) -> Callable[[LedgerRow], bool]:
    """Whether a row of the ledger was compiled by one of these toolchains, and counts under these limits."""
    identities = {toolchain_identity(each) for each in chosen.values() if isinstance(each, Toolchain)}
    return lambda row: row.toolchain in identities and row.holds(limits)
