"""From a failing case to the smallest that fails alike, on disk, with a script that shows it anywhere."""

import hashlib
import json
import math
import time
from dataclasses import dataclass, replace
from pathlib import Path

from triage.filesystem import scratch
from triage.frontends.frontend import frontend
from triage.harness.deadline import BUDGET_MARGIN, Deadline
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchains
from triage.minimize import launch_script, reproducer
from triage.minimize.failure import OriginalFailure
from triage.minimize.ir.failure_point import NoIR
from triage.minimize.ir.replays import Replays
from triage.minimize.ir.run import SECONDS as IR_SECONDS
from triage.minimize.ir.run import ReducedIR, reduce_ir
from triage.minimize.launcher import Launcher
from triage.minimize.memory_check import check_memory
from triage.minimize.oracle import CountingRunner, Oracle
from triage.minimize.problem import (
    INTERRUPTED,
    STOPPED,
    BudgetUsed,
    ReductionProblem,
    RunBudget,
    Verdict,
    finishing,
    search,
)
from triage.minimize.result import DOCUMENT, MinimizeOptions, MinimizeResult, OtherFailure, SourceSize
from triage.minimize.result_folder import Earlier, ResultFolder, write
from triage.minimize.source.compiling import CandidateCompiler
from triage.minimize.source.reduce import anonymize, reduce
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError, unreadable
from triage.model.measurement import MemoryCheck, NotMeasured
from triage.model.outcome import Stage
from triage.model.progress import Progress
from triage.source.imports import with_imports_inlined
from triage.source.module import Module
from triage.source.names import undefined

_LEARNING = 0.2
"""Share of a time budget in which the original is compiled again and again."""
_RESERVED = 0.3
"""Share of a time budget for the IR, whose search takes ``IR_SECONDS`` at most."""


def minimize(case: Case, options: MinimizeOptions, progress: Progress | None = None) -> MinimizeResult:
    """Reduce a case. An interrupt (KeyboardInterrupt) ends the search and keeps the best. Raises InputError when the
    case does not fail, EnvironmentFault when that cannot be decided."""
    started = time.monotonic()
    progress = progress or Progress()
    progress.caveats([case.target])
    deadline = Deadline(started + BUDGET_MARGIN * options.seconds)
    toolchains = Toolchains(progress=progress.note, deadline=deadline)
    language = frontend(case.language)
    if options.launch and not language.has_launches:
        raise InputError(f"--launch: kernels of {case.compiler.title} are compiled only; leave it out")
    toolchain = toolchains.resolve(options.release(case), options.python, case.compiler)
    original = _original(case.with_release(toolchain.release))
    identity = hashlib.sha256(json.dumps([original.key(), toolchain.identity]).encode()).hexdigest()[:24]
    folder = ResultFolder(options.folder, identity)
    earlier = folder.begin()
    try:
        with (
            scratch.folder("minimize") as work,
            Engine(options.jobs, spare=toolchains.installed, deadline=deadline) as engine,
        ):
            runner = CountingRunner(Launcher(engine, deadline) if options.launch else engine, deadline)
            compiler = CandidateCompiler(runner, toolchain, options.limits, work)
            reduction = _Reduction(original, options, progress, folder, compiler, engine, started)
            result = reduction.run(earlier if options.resume else None)
            write(folder.folder / DOCUMENT, json.dumps(result.stored(), indent=2) + "\n")
            return result
    finally:
        folder.close()


def _original(case: Case) -> Specimen:
    if case.is_ir:
        raise InputError(f"{case.path}: is IR, and minimize begins with the kernel's source; give that")
    try:
        text = case.text()
    except OSError as error:
        raise unreadable(case.path, error) from None
    module = Module.parse(text)
    return Specimen(text, case, frozenset(undefined(module.tree)) if module else frozenset(), in_package=True)


@dataclass(frozen=True, slots=True)
class _Settled:
    """The specimen that is on disk, the failure as it shows it, and the limits with which it does."""

    best: Specimen
    case: Case
    confirmed: bool | None
    failure: OriginalFailure
    limits: Limits


@dataclass(slots=True)
class _Scripts:
    """The reproducer, the exit codes of two runs of it, those of the one that launches, or why it has none, and what
    compute-sanitizer reports of that."""

    script: Path
    reproduced: tuple[int, int] | None = None
    launched: tuple[int, int] | None = None
    not_launched: str | None = None
    memory: MemoryCheck | NotMeasured | None = None


@dataclass(frozen=True, slots=True)
class _Reduction:
    original: Specimen
    options: MinimizeOptions
    progress: Progress
    folder: ResultFolder
    compiler: CandidateCompiler
    engine: Engine
    started: float

    def run(self, earlier: Earlier | None) -> MinimizeResult:
        started, options, compiler, deadline = self.started, self.options, self.compiler, self.engine.deadline
        end, deadline.until = deadline.until, math.inf
        self.progress.step("compiling the original, to see how reliably it fails")
        failure = compiler.learn(self.original, options.repeat, started + _LEARNING * options.seconds)
        deadline.until = end
        search_end = started + options.seconds - self._reserved_s(failure)
        repeat = options.repeat or failure.repeats
        oracle = Oracle(compiler.runner, compiler.trials(failure), Specimen.key, repeat, record=self.folder.record)
        try:
            start = self._start(oracle, earlier)
        except BudgetUsed:
            raise EnvironmentFault(
                f"{self.original.case.path}: the time budget of {options.seconds:g} s was used up before the first "
                f"candidate; one compile takes {failure.outcome.duration_s:.0f} s"
            ) from None
        before = SourceSize.of(replace(self.original, text=self._inlined()))
        problem = ReductionProblem(
            oracle,
            start,
            Specimen.size,
            width=max(4, 3 * compiler.runner.jobs),
            budget=RunBudget(options.compiles, search_end),
            improved=self.folder.save,
            report=lambda name, best: self._report(name, best, before),
        )
        self.folder.save(start)
        deadline.until = search_end
        ended = search(lambda: reduce(problem))
        deadline.until = end
        if time.monotonic() > search_end:
            self.progress.note("the time budget is used up: compiling the result once more, and running its script")
        anonymous = None
        if options.anonymize and not ended.startswith(STOPPED):
            # Whatever ended the search, the result must not contain the original's names.
            problem.budget, anonymous = RunBudget(), False
            with finishing(ended, deadline):
                anonymous = anonymize(problem)
        settled = self._settled(problem, failure, repeat, ended)
        scripts = self._run_scripts(settled, ended)
        if options.sanitize:
            self._sanitize(scripts, settled, ended)
        reduced_ir, no_ir = self._reduce_ir(settled, repeat, ended)
        if deadline.until == -math.inf:
            ended = INTERRUPTED
        return MinimizeResult(
            case=settled.case,
            folder=self.folder.folder,
            signature=failure.identity.signature,
            headline=settled.failure.diagnosis.headline,
            rate=failure.rate,
            repeat=repeat,
            before=before,
            after=SourceSize.of(settled.best),
            compiles=compiler.runner.runs,
            seconds=time.monotonic() - started,
            ended=ended,
            confirmed=settled.confirmed,
            reproduced=scripts.reproduced,
            anonymous=anonymous,
            findings=tuple(OtherFailure(*finding) for finding in compiler.findings.items()),
            script=scripts.script,
            launched=scripts.launched,
            not_launched=scripts.not_launched,
            ir=reduced_ir,
            no_ir=no_ir,
            memory_check=scripts.memory if isinstance(scripts.memory, MemoryCheck) else None,
            no_memory_check=scripts.memory.reason if isinstance(scripts.memory, NotMeasured) else None,
        )

    def _reserved_s(self, failure: OriginalFailure) -> float:
        """Seconds of the budget that are kept for the reduction of the IR, where there is one."""
        has_stages = frontend(self.original.case.language).has_stages
        has_ir = (
            self.options.ir and has_stages and failure.outcome.stage not in (Stage.SOURCE, Stage.LOAD, Stage.LAUNCH)
        )
        return min(_RESERVED * self.options.seconds, IR_SECONDS) if has_ir else 0.0

    def _start(self, oracle: Oracle[Specimen], earlier: Earlier | None) -> Specimen:
        """The best of an earlier run where it still fails alike, else the original as a single file where that does."""
        original = self.original
        if earlier is not None:
            case = replace(earlier.case, folder=original.case.folder)
            best = replace(original, text=earlier.text, case=case, in_package=False)
            if oracle.ask([best])[0] is Verdict.SAME:
                oracle.remember(earlier.verdicts)
                tried = len(earlier.verdicts)
                self.progress.note(f"continuing from {self.folder.folder}, where {tried} candidates were tried")
                return best
        alone = replace(original, in_package=False)
        for candidate in dict.fromkeys([self._inlined(), alone.text]):
            start = replace(alone, text=candidate)
            if oracle.ask([start])[0] is Verdict.SAME:
                return start
        raise EnvironmentFault(
            f"{original.case.path}: fails differently as a single file; what it imports from its folder cannot "
            "be inlined"
        )

    def _inlined(self) -> str:
        """What the kernel reaches of its file and of others beside it, as one file."""
        return with_imports_inlined(self.original.text, self.original.case)

    def _report(self, name: str, best: Specimen, before: SourceSize) -> None:
        size = SourceSize.of(best)
        share = 100 * size.tokens // max(before.tokens, 1)
        self.progress.step(
            f"{name}: {size.tokens} of {before.tokens} tokens ({share} %), {size.lines} lines, "
            f"{self.compiler.runner.runs} compiles"
        )

    def _settled(
        self, problem: ReductionProblem[Specimen], failure: OriginalFailure, repeat: int, ended: str
    ) -> _Settled:
        """Write the best and compile it once more, observed, with the original's whole time; where it is slow rather
        than endless, with the time after which candidates counted as endless. Where it does not fail alike, the last
        on the way to it that does."""
        self.progress.step("compiling the result once more")
        history, limits, deadline = problem.history, self.compiler.limits, self.engine.deadline

        def written(best: Specimen) -> _Settled:
            return _Settled(best, self.folder.save(best, last=True), None, failure, limits)

        def settled(best: Specimen) -> _Settled:
            result = written(best)
            confirmed = self.compiler.confirm(result.case, failure, repeat, limits)
            return replace(result, confirmed=confirmed is not None, failure=confirmed or failure)

        result = written(problem.best)
        with finishing(ended, deadline):
            result = settled(problem.best)
            hang_s = failure.hang_s(limits)
            if not result.confirmed and hang_s is not None and hang_s < limits.timeout_s:
                limits = replace(limits, timeout_s=hang_s)
                result = settled(problem.best)
        if result.confirmed is not False:
            return result
        low, high = 0, len(history) - 1
        with finishing(ended, deadline):
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if settled(history[middle]).confirmed else (low, middle - 1)
            return settled(history[low])
        return written(history[low])

    def _run_scripts(self, settled: _Settled, ended: str) -> _Scripts:
        """Write the reproducers and run each twice."""
        self.progress.step("running the reproducer twice")
        failure, toolchain, deadline = settled.failure, self.compiler.toolchain, self.engine.deadline
        scripts = _Scripts(self.folder.folder / "reproducer.py")
        if self.options.launch or failure.outcome.beyond_shared is not None:
            with finishing(ended, deadline):
                scripts.launched, scripts.not_launched = self._run_launch_script(settled)
        if launch_script.needed(failure.outcome):
            scripts.script = self.folder.folder / launch_script.FILE
            scripts.reproduced = scripts.launched or ((125, 125) if scripts.not_launched else None)
            return scripts
        write(scripts.script, reproducer.reproducer(settled.best, failure, toolchain.release))
        with finishing(ended, deadline):
            scripts.reproduced = reproducer.run_twice(scripts.script, toolchain, settled.limits.timeout_s, deadline)
        return scripts

    def _run_launch_script(self, settled: _Settled) -> tuple[tuple[int, int] | None, str | None]:
        """Exit codes of the reproducer that launches, or why it was not launched here."""
        case, toolchain, file = settled.case, self.compiler.toolchain, launch_script.FILE
        # Candidates were launched with their own inputs; a failure to compile may launch with the original's.
        by_launch = launch_script.was_launched(settled.failure.outcome)
        inputs = [case.inputs] if by_launch else [case.inputs, self.original.case.inputs]
        try:
            arguments = launch_script.arguments(settled.best.case, *inputs)
        except launch_script.UnsupportedArgument as error:
            return None, f"{file} was not written: {error}"
        script = self.folder.folder / file
        write(script, launch_script.reproducer(settled.best, arguments, settled.failure, toolchain.release))
        patience_s, deadline = settled.limits.timeout_s, self.engine.deadline
        first, second = (reproducer.run_once(script, toolchain, patience_s, deadline) for _ in range(2))
        for run in (first, second):
            if run.last_line.startswith(launch_script.NOT_LAUNCHED):
                return None, f"{file} was not launched here:{run.last_line.removeprefix(launch_script.NOT_LAUNCHED)}"
        return (first.code, second.code), None

    def _sanitize(self, scripts: _Scripts, settled: _Settled, ended: str) -> None:
        """Run the script that launches under compute-sanitizer, where it launches anything."""
        if scripts.not_launched:
            scripts.memory = NotMeasured(scripts.not_launched)
        elif not launch_script.needed(settled.failure.outcome):
            scripts.memory = NotMeasured("the kernel fails before it is launched")
        else:
            scripts.memory = NotMeasured("there was no time for it")
            script, patience_s = self.folder.folder / launch_script.FILE, reproducer.patience_s(settled.failure.outcome)
            self.progress.step("running the reproducer under compute-sanitizer")
            with finishing(ended, self.engine.deadline):
                scripts.memory = check_memory(script, self.compiler.toolchain, patience_s, self.engine.deadline)

    def _reduce_ir(self, settled: _Settled, repeat: int, ended: str) -> tuple[ReducedIR | None, str | None]:
        """The input of the failing pass, or why there is none."""
        if settled.confirmed is False:
            return None, "the case on disk fails differently"
        if not self.options.ir:
            return None, "it was not asked for"
        if not frontend(settled.case.language).has_stages:
            return None, f"stages of {settled.case.compiler.title} cannot be run alone"
        if launch_script.needed(settled.failure.outcome):
            return None, "it compiles: only its launch fails"
        deadline = self.engine.deadline
        left_s = self.started + self.options.seconds - time.monotonic()
        # Where the search was stopped, the module is written, but not reduced.
        seconds = max(0.0, min(IR_SECONDS, left_s)) if ended in ("complete", "budget") else 0.0
        replays = Replays(
            CountingRunner(self.engine, deadline),
            settled.case,
            self.compiler.toolchain,
            settled.limits,
            settled.failure,
            self.compiler.folder / "ir",
            repeat,
        )
        with finishing(ended, deadline):
            try:
                return reduce_ir(replays, self.folder.folder, self.progress.step, seconds), None
            except NoIR as reason:
                return None, str(reason)
            except EnvironmentFault as error:
                return None, f"could not tell: {error}"
        return None, "there was no time for it"
