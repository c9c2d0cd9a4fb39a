"""From a failing case to the smallest that fails alike, on disk, with a script that shows it anywhere."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

from triage import scratch
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
from triage.minimize.oracle import CountingRunner, Oracle
from triage.minimize.problem import STOPPED, ReductionProblem, RunBudget, Verdict, search
from triage.minimize.result import DOCUMENT, MinimizeOptions, MinimizeResult, OtherFailure, SourceSize
from triage.minimize.result_folder import Earlier, ResultFolder, write
from triage.minimize.source.compiling import Compiler
from triage.minimize.source.reduce import anonymize, reduce
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.source.imports import with_imports_inlined
from triage.source.module import Module
from triage.source.names import undefined


def minimize(case: Case, options: MinimizeOptions, progress: Progress | None = None) -> MinimizeResult:
    """Reduce a case. An interrupt (KeyboardInterrupt) ends the search and keeps the best. Raises InputError when the
    case does not fail, EnvironmentFault when it cannot be told whether it does."""
    progress = progress or Progress()
    progress.caveats([case.target])
    toolchains = Toolchains(progress=progress.note)
    triton = options.triton or (None if options.python else case.triton)
    toolchain = toolchains.resolve(triton, options.python)
    original = _original(replace(case, triton=toolchain.triton))
    identity = hashlib.sha256(json.dumps([original.key(), toolchain.identity]).encode()).hexdigest()[:24]
    folder = ResultFolder(options.folder, identity)
    earlier = folder.open()
    try:
        with (
            scratch.folder("minimize") as work,
            Engine(options.jobs, spare=toolchains.installed) as engine,
        ):
            runner = CountingRunner(Launcher(engine) if options.launch else engine)
            compiler = Compiler(runner, toolchain, options.limits, work)
            reduction = _Reduction(original, options, progress, folder, compiler, engine)
            result = reduction.run(earlier if options.resume else None)
            write(folder.folder / DOCUMENT, json.dumps(result.stored(), indent=2) + "\n")
            return result
    finally:
        folder.close()


def _original(case: Case) -> Specimen:
    if case.is_ir:
        raise InputError(f"{case.path}: is IR, and minimize begins with the kernel's source; give that")
    try:
        text = case.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{case.path}: cannot be read as text: {error}") from None
    module = Module.parse(text)
    return Specimen(text, case, frozenset(undefined(module.tree)) if module else frozenset(), in_package=True)


@dataclass(frozen=True, slots=True)
class _Settled:
    """The specimen that is on disk, the failure as it shows it, and the limits with which it does."""

    best: Specimen
    case: Case
    confirmed: bool
    failure: OriginalFailure
    limits: Limits


@dataclass(frozen=True, slots=True)
class _Reduction:
    original: Specimen
    options: MinimizeOptions
    progress: Progress
    folder: ResultFolder
    compiler: Compiler
    engine: Engine

    def run(self, earlier: Earlier | None) -> MinimizeResult:
        started, options, compiler = time.monotonic(), self.options, self.compiler
        # Only the search is bounded, not what is needed to begin and to end.
        budget = RunBudget(options.compiles, started + options.seconds)
        self.progress.step("compiling the original, to see how reliably it fails")
        failure = compiler.learn(self.original, options.repeat)
        repeat = options.repeat or failure.repeats
        oracle = Oracle(compiler.runner, compiler.trials(failure), Specimen.key, repeat, record=self.folder.record)
        start = self._start(oracle, earlier)
        before = SourceSize.of(self.original)
        problem = ReductionProblem(
            oracle,
            start,
            Specimen.size,
            width=max(4, 3 * compiler.runner.jobs),
            budget=budget,
            improved=self.folder.save,
            report=lambda name, best: self._report(name, best, before),
        )
        self.folder.save(start)
        ended = search(lambda: reduce(problem))
        anonymous = None
        if options.anonymize and not ended.startswith(STOPPED):
            # Whatever ended the search, the result must not contain the original's names.
            problem.budget = RunBudget()
            anonymous = anonymize(problem)
        settled = self._settled(problem, failure, repeat)
        self.progress.step("running the reproducer twice")
        script, reproduced, launched, not_launched = self._run_scripts(settled)
        reduced_ir, no_ir = self._reduce_ir(settled, repeat, ended)
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
            reproduced=reproduced,
            anonymous=anonymous,
            findings=tuple(OtherFailure(*finding) for finding in compiler.findings.items()),
            script=script,
            launched=launched,
            not_launched=not_launched,
            ir=reduced_ir,
            no_ir=no_ir,
        )

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
        inlined = replace(alone, text=with_imports_inlined(original.text, original.case.path))
        for candidate in dict.fromkeys([inlined.text, alone.text]):
            start = replace(alone, text=candidate)
            if oracle.ask([start])[0] is Verdict.SAME:
                return start
        raise EnvironmentFault(
            f"{original.case.path}: fails differently as a single file; what it imports from its folder cannot "
            "be inlined"
        )

    def _report(self, name: str, best: Specimen, before: SourceSize) -> None:
        size = SourceSize.of(best)
        share = 100 * size.tokens // max(before.tokens, 1)
        self.progress.step(
            f"{name}: {size.tokens} of {before.tokens} tokens ({share} %), {size.lines} lines, "
            f"{self.compiler.runner.runs} compiles"
        )

    def _settled(self, problem: ReductionProblem[Specimen], failure: OriginalFailure, repeat: int) -> _Settled:
        """Write the best and compile it once more, observed, with the original's whole time; where it is slow rather
        than endless, with the time after which candidates counted as endless. Where it does not fail alike, the last
        on the way to it that does."""
        self.progress.step("compiling the result once more")
        history, limits = problem.history, self.compiler.limits

        def settled(best: Specimen) -> _Settled:
            case = self.folder.save(best, last=True)
            confirmed = self.compiler.confirm(case, failure, repeat, limits)
            return _Settled(best, case, confirmed is not None, confirmed or failure, limits)

        result = settled(problem.best)
        hang_s = failure.hang_s(limits)
        if not result.confirmed and hang_s is not None and hang_s < limits.timeout_s:
            limits = replace(limits, timeout_s=hang_s)
            result = settled(problem.best)
        if result.confirmed:
            return result
        low, high = 0, len(history) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if settled(history[middle]).confirmed else (low, middle - 1)
        return settled(history[low])

    def _run_scripts(self, settled: _Settled) -> tuple[Path, tuple[int, int], tuple[int, int] | None, str | None]:
        """Write the reproducers and run each twice."""
        failure, toolchain = settled.failure, self.compiler.toolchain
        launched, not_launched = self._run_launch_script(settled) if self.options.launch else (None, None)
        if launch_script.needed(failure.outcome):
            return self.folder.folder / launch_script.FILE, launched or (125, 125), launched, not_launched
        script = self.folder.folder / "reproducer.py"
        write(script, reproducer.reproducer(settled.best, failure, toolchain.triton))
        return script, reproducer.run_twice(script, toolchain, settled.limits.timeout_s), launched, not_launched

    def _run_launch_script(self, settled: _Settled) -> tuple[tuple[int, int] | None, str | None]:
        """Exit codes of the reproducer that launches, or why it was not launched here."""
        case, toolchain, file = settled.case, self.compiler.toolchain, launch_script.FILE
        # Candidates were launched with their own inputs; a failure to compile may launch with the original's.
        by_launch = launch_script.needed(settled.failure.outcome)
        inputs = [case.inputs] if by_launch else [case.inputs, self.original.case.inputs]
        try:
            arguments = launch_script.arguments(settled.best.case, *inputs)
        except launch_script.UnsupportedArgument as error:
            return None, f"{file} was not written: {error}"
        script = self.folder.folder / file
        write(script, launch_script.reproducer(settled.best, arguments, settled.failure, toolchain.triton))
        first, second = (reproducer.run_once(script, toolchain, settled.limits.timeout_s) for _ in range(2))
        for run in (first, second):
            if run.last_line.startswith(launch_script.NOT_LAUNCHED):
                return None, f"{file} was not launched here:{run.last_line.removeprefix(launch_script.NOT_LAUNCHED)}"
        return (first.code, second.code), None

    def _reduce_ir(self, settled: _Settled, repeat: int, ended: str) -> tuple[ReducedIR | None, str | None]:
        """The input of the failing pass, or why there is none."""
        if not settled.confirmed:
            return None, "the case on disk fails differently"
        if not self.options.ir:
            return None, "it was not asked for"
        if launch_script.needed(settled.failure.outcome):
            return None, "it compiles: only its launch fails"
        # After an interrupt the module is written, but not reduced.
        seconds = min(IR_SECONDS, self.options.seconds) if ended in ("complete", "budget") else 0.0
        replays = Replays(
            CountingRunner(self.engine),
            settled.case,
            self.compiler.toolchain,
            settled.limits,
            settled.failure,
            self.compiler.folder / "ir",
            repeat,
        )
        try:
            return reduce_ir(replays, self.folder.folder, self.progress.step, seconds), None
        except NoIR as reason:
            return None, str(reason)
        except EnvironmentFault as error:
            return None, f"could not tell: {error}"
        except KeyboardInterrupt:
            return None, "interrupted"
