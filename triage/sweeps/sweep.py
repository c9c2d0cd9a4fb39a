"""Runs a sweep from its parts: what is swept, with which toolchains, where."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from triage import knowledge
from triage.filesystem import scratch
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
from triage.sweeps.keys import CaseKeys, conditions, toolchain_identity
from triage.sweeps.ledger import FILE, Ledger, LedgerRow
from triage.sweeps.lists.cases import TunedList
from triage.sweeps.map import SweepMap
from triage.sweeps.plan import SweepPlan
from triage.sweeps.runner import SweepRunner, known_rows, obstacles
from triage.sweeps.shards import Shard
from triage.sweeps.space import Space
from triage.sweeps.stored import StoredSweep, ended, keep_ended


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
    listed: TunedList | None = None
    """The files of a list; kept with the ledger, too."""


def run(space: Space, options: SweepOptions, progress: Progress | None = None) -> SweepMap:
    """Compile the cells of a space. Raises InputError, EnvironmentFault, and KeyboardInterrupt where an interrupt left
    nothing."""
    progress = progress or Progress()
    whole = space
    options.plan.check(space)
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
        commands, plan = options.commands, options.plan
        StoredSweep(
            whole, under, options.shard, plan, options.python, commands.check, commands.members, options.listed
        ).keep(ledger)
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
            rows = known_rows(space, ledger.rows(), lambda row: row.holds(options.limits), keys)
        else:
            chosen = _toolchains(space, toolchains, options.python)
            store = Store(note=progress.warn) if options.cache else None
            if store is not None:
                stack.callback(store.close)
            engine = stack.enter_context(Engine(options.jobs, store, toolchains.installed))
            entries = knowledge.load_all(options.knowledge)
            backend = LocalBackend(
                space.case,
                engine,
                chosen,
                keys,
                options.limits,
                entries,
                ledger.shows,
                options.cache,
                keep=options.listed is not None,
                ahead=options.plan.is_exhaustive(space),
            )
            jobs = engine.jobs
            rows = known_rows(space, ledger.rows(), _holding(chosen, options.limits), keys)
        if rows:
            progress.note(f"{len(rows)} of {len(space.grid)} cells are in the ledger")
        strategy, budget = plan.strategy(space, len(rows)), plan.left(len(rows))
        if not plan.is_exhaustive(space) and (before := ended(ledger, plan)) is not None and before <= len(rows):
            progress.note("the sweep has ended, and nothing is compiled; --budget N or --exhaustive compiles more")
            strategy, budget = plan.strategy(space, len(space.grid)), 0
        known = {**{cell: row.observation for cell, row in rows.items()}, **obstacles(space)}
        purposes = {cell: row.purpose for cell, row in rows.items() if row.purpose is not None}
        runner = SweepRunner(space, backend, ledger, known, purposes, progress, most, jobs)
        # Rules of a part would be refuted by the others.
        sweep = runner.run(strategy, budget, learns_rules=options.shard is None and not space.is_list)
        if not sweep.interrupted:
            keep_ended(ledger, plan, len(rows) + runner.stored)
        return sweep


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
