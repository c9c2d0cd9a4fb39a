"""Triage of one or many cases: Case → Outcome → Diagnosis → Matches → Suggestions → Report.

What only a failure needs (knowledge base, search) is imported when a failure is met: a case that compiles is answered
without it.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from triage import scratch
from triage._version import __version__
from triage.files import make_folder, read_file, replace_file, writing
from triage.harness.artifacts import MOST_BYTES, give_up
from triage.harness.deadline import BUDGET_MARGIN, Deadline
from triage.harness.dialogues import converse
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.machine.caches import triton_cache_folder
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.logs.outcomes import refused_operation
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON, Compiler
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import EnvironmentFault, InputError, Interrupted, TriageError, fault
from triage.model.outcome import Outcome, Status, Undecided
from triage.model.progress import Progress
from triage.model.releases import in_range
from triage.model.report import POISONED, Match, Report, SuggestionKind
from triage.suggest.budget import Budget

if TYPE_CHECKING:
    from triage.drafts.drafting import Plan, Settled
    from triage.drafts.model import JitFunction
    from triage.performance.cost import FastPath
    from triage.suggest.neighbour import Neighbour
    from triage.suggest.search import Search


@dataclass(frozen=True, slots=True)
class Options:
    """Toolchain, limits and extent of a triage.

    ``triton``, ``cute`` and ``python`` choose the toolchain for every case of that compiler; without them it is the
    case's own ``toolchain``, else the compiler beside triage. ``jobs``: compiles at a time, None for one per core.
    ``knowledge``: folders with knowledge-base entries beside those that ship with triage. ``bench``: time the
    suggestions on this machine's GPU and order them by that; ``sanitize``: also launch each under compute-sanitizer.
    """

    triton: str | None = None
    cute: str | None = None
    python: str | None = None
    limits: Limits = field(default_factory=Limits)
    jobs: int | None = None
    cache: bool = True
    suggest: bool = True
    budget: Budget = field(default_factory=Budget)
    bench: bool = False
    sanitize: bool = False
    knowledge: tuple[Path, ...] = ()

    def release(self, case: Case) -> str | None:
        """The release of its compiler that compiles a case; None for the default, or that of ``python``. Raises
        InputError where that of another compiler alone is stated."""
        stated, others = (self.cute, self.triton) if case.compiler == CUTE else (self.triton, self.cute)
        if others and not stated:
            other, own = (TRITON, CUTE) if case.compiler == CUTE else (CUTE, TRITON)
            raise InputError(f"{other.option} {others}: {case.name} is compiled by {own.title}; use {own.option}")
        return stated or (None if self.python else case.release)


class Session:
    """Toolchains, engine and store that several triages share. Use as a context manager."""

    def __init__(self, options: Options | None = None, progress: Progress | None = None) -> None:
        self.options = options or Options()
        scratch.tidy()
        self._progress = progress or Progress()
        budget = self.options.budget
        self._deadline = Deadline(budget.end + (BUDGET_MARGIN - 1) * budget.seconds)
        self._toolchains = Toolchains(progress=self._progress.note, deadline=self._deadline)
        self._store = Store(note=self._progress.warn) if self.options.cache else None
        self._engine = Engine(self.options.jobs, self._store, self._toolchains.installed, keep=True)
        self._interrupted = False
        self._searches = 1

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        self._engine.close()
        if self._store is not None:
            self._store.close()

    def check(self, case: Case) -> Report:
        """Triage one case.

        Raises InputError when the case does not fit the kernel, EnvironmentFault when triage could not tell or the
        toolchain cannot be made.
        """
        (report,) = self.check_all([case])
        if isinstance(report, TriageError):
            raise report
        return report

    def check_all(self, cases: Iterable[Case]) -> Iterator[Report | TriageError]:
        """Triage several cases that share the workers. All are compiled first, in any order; the reports come in the
        order of the cases, with an error for each case that could not be triaged. After an interrupt come the reports
        of what was compiled until then, and at the end KeyboardInterrupt."""
        cases = list(cases)
        self._progress.caveats(case.target for case in cases)
        requests = [self._request(case, index) for index, case in enumerate(cases)]
        valid = [request for request in requests if isinstance(request, Request)]
        attempts: dict[int, Attempt] = {}
        missing: TriageError = EnvironmentFault(
            f"--budget {self.options.budget.seconds:g}s was used up before it was compiled; give a larger one"
        )
        try:
            for attempt in self._engine.run(self._in_time(valid)):
                attempts[attempt.request.tag] = attempt
                if len(valid) > 1:
                    self._progress.step(f"compiled {len(attempts)} of {len(valid)} cases")
        except KeyboardInterrupt:
            self._interrupted, missing = True, Interrupted("interrupted before it was compiled")
        except Exception as error:
            missing = fault(error)
        self._searches = sum(
            attempt.diagnosis is not None or (isinstance(attempt.result, Outcome) and bool(attempt.result.drawbacks))
            for attempt in attempts.values()
        )
        for index, (case, request) in enumerate(zip(cases, requests, strict=True)):
            if isinstance(request, TriageError):
                yield request
            elif index in attempts:
                yield self._answer(attempts[index])
            else:
                yield of_case(case, missing)
        if self._interrupted:
            raise KeyboardInterrupt

    def settle(self, plans: Iterable[Plan]) -> Iterator[list[Settled]]:
        """Draft and compile kernels that share the workers. What comes first, ends first; one kernel's configurations
        come together. After an interrupt comes KeyboardInterrupt."""
        from triage.drafts.drafting import settle

        return converse(self._engine, map(settle, plans))

    def answer(self, settled: Settled) -> Report | TriageError:
        """The report of a draft that was compiled, or why there is none."""
        if settled.attempt is None or settled.unclear is not None:
            return unanswered(settled)
        return self._answer(settled.attempt)

    def toolchain(self, release: str | None = None, compiler: Compiler = TRITON) -> Toolchain:
        """The toolchain of a release, by default that of the options. Raises InputError and EnvironmentFault."""
        stated = self.options.cute if compiler == CUTE else self.options.triton
        return self._toolchains.resolve(release or stated, None if release else self.options.python, compiler)

    def toolchains(
        self, kernels: Iterable[JitFunction], releases: Mapping[Compiler, list[str | None]] | None = None
    ) -> list[Toolchain]:
        """The toolchains of the compilers that kernels are for. ``releases``: of each, where not that of the options.
        Where only some of the compilers are here, that is said, and the kernels of the others are left out. Raises
        InputError and EnvironmentFault."""
        resolved: list[Toolchain] = []
        missing: list[TriageError] = []
        for compiler in dict.fromkeys(kernel.language.compiler for kernel in kernels):
            try:
                resolved += [self.toolchain(each, compiler) for each in (releases or {}).get(compiler, [None])]
            except EnvironmentFault as error:
                missing.append(error)
        if missing and not resolved:
            raise missing[0]
        for problem in missing:
            self._progress.problem(problem)
        return resolved

    def compiling(self, keep: bool = True) -> FullCompile:
        """The action that makes a report. ``keep``: with the artifacts of a failure."""
        return FullCompile(observe=True, keep=keep, use_cache=self.options.cache)

    def _answer(self, attempt: Attempt) -> Report | TriageError:
        try:
            return self._report(attempt)
        except KeyboardInterrupt:
            self._interrupted = True
            return of_case(attempt.request.case, Interrupted("interrupted"))
        except TriageError as error:
            return error
        except Exception as error:
            return of_case(attempt.request.case, fault(error))

    def _in_time(self, requests: list[Request]) -> Iterator[Request]:
        """Those that can begin before the budget is used up; the first in any case."""
        for number, request in enumerate(requests):
            if number and time.monotonic() > self.options.budget.end:
                self._progress.note(f"the time budget is used up: {len(requests) - number} cases are not compiled")
                return
            yield request

    def _request(self, case: Case, index: int) -> Request | TriageError:
        options = self.options
        try:
            toolchain = self._toolchains.resolve(options.release(case), options.python, case.compiler)
        except Exception as error:
            return fault(error)
        return Request(case.with_release(toolchain.release), toolchain, options.limits, self.compiling(), tag=index)

    def _report(self, attempt: Attempt) -> Report:
        request, outcome = attempt.request, attempt.result
        if isinstance(outcome, Undecided):
            where = f"{request.case.path}::{request.case.name}"
            if outcome.input_error:
                raise InputError(f"{where}: {outcome.reason}")
            raise EnvironmentFault(f"{where}: could not tell: {outcome.reason}")
        case = request.case
        outcome = _with_poisoned_entry(outcome)
        environment = _environment(case, request.toolchain, outcome)
        diagnosis = attempt.diagnosis
        if diagnosis is None:
            report = Report(case, outcome, environment)
            if not outcome.drawbacks or not self.options.suggest or self._interrupted:
                return report
            return self._searching(report, partial(self._with_faster, toolchain=request.toolchain))
        from triage import knowledge
        from triage.knowledge.observed import missing_api

        if not outcome.imported and missing_api(outcome) is None:
            # The user's own code: no entry is about it, and no neighbour changes it.
            return Report(case, outcome, environment, diagnosis)
        diagnosis = _with_arithmetic(diagnosis, case, outcome, request.toolchain.release)
        entries = knowledge.load_all(self.options.knowledge)
        matches = tuple(knowledge.match(diagnosis, entries, case, request.toolchain.release))
        report = Report(case, outcome, environment, diagnosis, matches, artifacts=outcome.artifacts)
        if not self.options.suggest or self._interrupted:
            return report
        toolchain = request.toolchain
        return self._searching(
            report, lambda report: self._with_api(self._with_suggestions(report, toolchain, diagnosis), toolchain)
        )

    def _searching(self, report: Report, with_suggestions: Callable[[Report], Report]) -> Report:
        """The report with suggestions; without, where the search for them fails."""
        try:
            return with_suggestions(report)
        except Exception as error:
            self._progress.problem(of_case(report.case, fault(error)))
            return report

    def _with_suggestions(self, report: Report, toolchain: Toolchain, diagnosis: Diagnosis) -> Report:
        from triage.suggest.plan import NeighbourPlan

        options, case, outcome, matches = self.options, report.case, report.outcome, report.matches
        search = self._search(_intended_fast_path(case, outcome), diagnosis.signature)
        with scratch.folder("rewrites") as folder:
            plan = NeighbourPlan(case, toolchain, outcome, diagnosis, matches, folder)
            search.tuning = plan.tuning(options.limits)
            search.further = plan.further
            releases = partial(self._other_releases, toolchain, matches)
            # Timed before the folder with the rewritten sources is removed.
            searched = self._searched(report, search, plan.neighbours(releases))
            learnt = (*searched.learnt, *plan.unhelpful)
        suggestions = (*searched.suggestions, *plan.advice(searched.suggestions))
        return replace(searched, suggestions=suggestions, learnt=learnt)

    def _with_faster(self, report: Report, toolchain: Toolchain) -> Report:
        """The report of a compile with configurations that are surely faster, where its drawbacks suggest that there
        are some."""
        from triage.suggest.faster import fast_path_of_compiled, surely_faster, tuning_of_compiled

        tuning = tuning_of_compiled(report.case, toolchain, report.outcome, self.options.limits)
        if tuning is None:
            return report
        search = self._search(fast_path_of_compiled(report.case, report.outcome))
        search.tuning = tuning
        searched = self._searched(report, search, ())
        return replace(searched, suggestions=surely_faster(searched.suggestions))

    def _search(self, meant: FastPath, signature: str | None = None) -> Search:
        from triage.suggest.search import Search

        return Search(
            engine=self._engine,
            limits=self.options.limits,
            budget=self._share(),
            meant=meant,
            signature=signature,
            use_cache=self.options.cache,
            progress=self._progress.tried,
            over=partial(self._progress.note, "the time of the search is used up: waiting for the compiles under way"),
        )

    def _searched(self, report: Report, search: Search, neighbours: Iterable[Neighbour]) -> Report:
        """The report with what a search gives, timed where the options ask that."""
        from triage.suggest.learnt import learnt
        from triage.suggest.timed import checked, timed

        options, case, outcome = self.options, report.case, report.outcome
        try:
            suggestions = search.run(neighbours, None if outcome.status is Status.TIMEOUT else outcome.duration_s)
        except KeyboardInterrupt:
            self._interrupted, suggestions = True, search.best()
        unmeasured: list[str] = []
        if options.bench and suggestions and not self._interrupted:
            limits, deadline = options.limits, self._deadline
            try:
                suggestions, unmeasured = timed(
                    search.compiled(suggestions), case, limits, self._progress.timing, deadline
                )
                if options.sanitize:
                    self._progress.step("launching under compute-sanitizer")
                    suggestions, unchecked = checked(search.compiled(suggestions), case, limits, deadline)
                    unmeasured += unchecked
            except KeyboardInterrupt:
                self._interrupted, unmeasured = True, ["not measured: interrupted"]
        return replace(
            report,
            suggestions=tuple(map(partial(search.with_expected, outcome=outcome), suggestions)),
            tried=search.tried,
            learnt=learnt(search.tried),
            unmeasured=tuple(unmeasured),
        )

    def _share(self) -> Budget:
        """The budget of the next search: what bounds the whole call is shared by those that are left."""
        budget = self.options.budget
        if budget.end == math.inf:
            return budget
        left_s = max(0.0, budget.end - time.monotonic()) / max(1, self._searches)
        self._searches -= 1
        return replace(budget, seconds=left_s)

    def _other_releases(self, toolchain: Toolchain, matches: tuple[Match, ...]) -> list[Toolchain]:
        """Other installed releases, the nearest newer one first. If the fix is known to be in a release newer than all
        of them, an environment with that release is made."""
        from triage.suggest.releases import near

        installed = self._toolchains.installed(toolchain.compiler)
        fixed = _fixed_in(matches)
        others = {other.release for other in installed} - {toolchain.release}
        if fixed and not any(in_range(version, f">={fixed}") for version in others):
            installed = [*installed, *self._environment_of(fixed, toolchain.compiler)]
        return near(toolchain.release, installed)

    def _environment_of(self, fixed: str, compiler: Compiler) -> list[Toolchain]:
        """The environment of the release that has a fix; none, with a note, where it cannot be made."""
        self._progress.note(f"known to be fixed in release {fixed}: making an environment to see")
        try:
            return [self._toolchains.managed(fixed, compiler)]
        except TriageError as error:
            self._progress.note(str(error))
            return []

    def _with_api(self, report: Report, toolchain: Toolchain) -> Report:
        """The report with releases that have the API for whose lack all others refused the kernel: installed ones, and
        if none of them compiles it, the release that is known to have the fix."""
        from triage.suggest.releases import fix_to_make, refusals, with_api

        own, tried = toolchain.release, report.tried
        refused = refusals(tried, own, report.diagnosis)
        compiled = any(attempt.compiled for attempt in tried if attempt.kind is SuggestionKind.TOOLCHAIN)
        if not refused or compiled or self._interrupted:
            return report
        more = self._with_releases(
            report, with_api(own, self._toolchains.installed(toolchain.compiler), tried, refused)
        )
        fixed = fix_to_make(own, _fixed_in(report.matches), more.tried, refused)
        if fixed is None or len(more.suggestions) > len(report.suggestions) or self._interrupted:
            return more
        return self._with_releases(more, self._environment_of(fixed, toolchain.compiler))

    def _with_releases(self, report: Report, toolchains: list[Toolchain]) -> Report:
        """The report with the unchanged case tried on further releases."""
        from triage.performance.cost import order
        from triage.suggest.learnt import learnt
        from triage.suggest.neighbour import releases
        from triage.suggest.search import Search

        options, outcome = self.options, report.outcome
        left_s = min(options.budget.seconds, max(0.0, options.budget.end - time.monotonic()))
        budget = replace(options.budget, compiles=len(toolchains), seconds=left_s)
        meant = _intended_fast_path(report.case, outcome)
        search = Search(self._engine, options.limits, budget, meant, use_cache=options.cache)
        try:
            others = search.run(releases(report.case, toolchains), outcome.duration_s)
        except KeyboardInterrupt:
            self._interrupted, others = True, search.best()
        suggestions = list(report.suggestions)
        for suggestion in others:
            # Those that are there keep their order.
            worse = (
                index for index, other in enumerate(suggestions) if order([other, suggestion], meant)[0] is not other
            )
            suggestions.insert(next(worse, len(suggestions)), suggestion)
        tried = (*report.tried, *search.tried)
        label = report.case.compiler.label
        unmeasured = [f"{label(*each.changes.values())}: not timed" for each in others] if options.bench else []
        return replace(
            report,
            suggestions=tuple(suggestions),
            tried=tried,
            learnt=learnt(tried),
            unmeasured=(*report.unmeasured, *unmeasured),
        )


def _fixed_in(matches: tuple[Match, ...]) -> str | None:
    return next((match.fixed_in for match in matches if match.fixed_in), None)


def unanswered(settled: Settled) -> TriageError:
    """Why a draft has no answer."""
    case, reason = settled.case, settled.unclear or "it was not compiled"
    if settled.input_error:
        return InputError(f"{case.path}::{case.name}: {reason}")
    return of_case(case, EnvironmentFault(reason))


def of_case(case: Case, error: TriageError) -> TriageError:
    """The error with the case that it is of."""
    named = type(error)(f"{case.path}::{case.name}: could not tell: {error}")
    named.__cause__ = error.__cause__
    return named


def _intended_fast_path(case: Case, outcome: Outcome) -> FastPath:
    """The fast path that the failing case would have taken, read from the last IR that was written."""
    from triage.performance.cost import FastPath, fast_path

    # 3 is what every back-end's options default to (triton/backends/*/compiler.py).
    stages = case.options.get("num_stages", 3)
    texts = [outcome.artifacts[name] for name in ("ir", "ttgir", "ttir", "source") if name in outcome.artifacts]
    paths = [fast_path(path.read_text(errors="replace"), case.target, stages) for path in texts]
    specialized = any(path.warp_specialized for path in paths)
    best = next((path for path in paths if path.tensor_core is not None), FastPath(stages=stages))
    return replace(best, warp_specialized=specialized)


def _with_arithmetic(diagnosis: Diagnosis, case: Case, outcome: Outcome, triton: str) -> Diagnosis:
    """The diagnosis of a failure of sizes with their arithmetic, and the command that explains it: the buffers that
    the compiler allocated where shared memory does not suffice, the tile of an operation that was refused."""
    return replace(diagnosis, notes=(*diagnosis.notes, *_arithmetic(diagnosis, case, outcome, triton)))


def _arithmetic(diagnosis: Diagnosis, case: Case, outcome: Outcome, triton: str) -> list[str]:
    if diagnosis.kind is Kind.FRONTEND_ERROR and (refused := refused_operation(outcome.errors)):
        from triage.legality.refused import arithmetic as of_tile

        return of_tile(refused.operation, refused.operands, case, triton)
    ttgir = outcome.artifacts.get("ttgir")
    required, limit = diagnosis.required, diagnosis.limit
    if diagnosis.resource != "shared memory" or ttgir is None or required is None or limit is None:
        return []
    from triage.legality.smem import arithmetic

    stages = int(case.options.get("num_stages", 3))
    with suppress(OSError):
        text = read_file(ttgir, ttgir.parent, MOST_BYTES).decode("utf-8", "replace")
        return arithmetic(text, required, limit, stages, case.target, triton)
    return []


def _environment(case: Case, toolchain: Toolchain, outcome: Outcome) -> Mapping[str, str]:
    return {
        toolchain.compiler.name: outcome.environment.get(toolchain.compiler.name, toolchain.release),
        "python": outcome.environment.get("python", toolchain.python_version),
        "target": str(case.target),
        **({"ptxas": outcome.environment["ptxas"]} if "ptxas" in outcome.environment else {}),
        "triage": __version__,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def _with_poisoned_entry(outcome: Outcome) -> Outcome:
    """Name the entry that a suspect compile leaves in Triton's cache: every later run takes it for a good one."""
    if outcome.status is not Status.SUSPECT or outcome.cache_key is None:
        return outcome
    entry = triton_cache_folder() / outcome.cache_key
    advice = "exists now: delete it" if entry.is_dir() else "is where a program that compiles this keeps it"
    note = f"poisoned cache entry: {entry} ({advice})"
    artifacts = {**outcome.artifacts, POISONED: entry}
    return replace(outcome, notes=(*outcome.notes, note), artifacts=artifacts)


def keep_artifacts(report: Report, folder: Path, top: Path | None = None) -> Report:
    """Copy a report's artifacts to ``folder``, without following a link below ``top``, by default ``folder``; move
    temporary ones. Raises EnvironmentFault when it cannot be written."""
    top = top or folder
    artifacts: dict[str, Path] = {}
    with writing(f"-o {folder}"):
        make_folder(folder, top)
        for name, path in report.artifacts.items():
            artifacts[name] = path
            if path.is_file():
                artifacts[name] = folder / path.name
                replace_file(artifacts[name], read_file(path, path.parent, MOST_BYTES), top)
    give_up(report.artifacts.values())
    return replace(report, artifacts=artifacts)
