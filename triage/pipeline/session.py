"""Triage of one or many cases: Case → Outcome → Diagnosis → Matches → Suggestions → Report.

What only a failure needs (knowledge base, search) is imported when a failure is met: a case that compiles is answered
without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING

from triage.filesystem import scratch
from triage.harness.deadline import BUDGET_MARGIN, Deadline
from triage.harness.dialogues import converse
from triage.harness.engine import Engine
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON, Compiler
from triage.model.errors import EnvironmentFault, InputError, Interrupted, TriageError, fault
from triage.model.outcome import Outcome, Undecided
from triage.model.progress import Progress
from triage.model.report import Report
from triage.model.words import count
from triage.pipeline.options import Options
from triage.pipeline.reporting import (
    environment_of,
    of_case,
    unanswered,
    with_arithmetic,
    with_poisoned_entry,
)
from triage.pipeline.suggester import Suggester

if TYPE_CHECKING:
    from triage.drafts.drafting import Settled
    from triage.drafts.model import JitFunction
    from triage.drafts.plans import SurveySettings


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
        self._suggester = Suggester(self.options, self._engine, self._toolchains, self._deadline, self._progress)

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
        if valid:
            first = valid[0]
            label = f"{first.case.name} for {first.case.target}, {first.toolchain.compiler.label(first.case.release)}"
            self._progress.step(f"compiling {label if len(valid) == 1 else count(len(valid), 'case')}")
        missing: TriageError = EnvironmentFault(
            f"--budget {self.options.budget.seconds:g}s was used up before it was compiled; give a larger one"
        )
        try:
            for attempt in self._engine.run(self._in_time(valid)):
                attempts[attempt.request.tag] = attempt
                if len(valid) > 1:
                    self._progress.step(f"compiled {len(attempts)} of {len(valid)} cases")
        except KeyboardInterrupt:
            self._suggester.interrupted, missing = True, Interrupted("interrupted before it was compiled")
        except Exception as error:
            missing = fault(error)
        self._suggester.left = sum(
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
        if self._suggester.interrupted:
            raise KeyboardInterrupt

    def settle(self, functions: Sequence[JitFunction], settings: SurveySettings) -> Iterator[list[Settled]]:
        """Draft and compile kernels that share the workers. What comes first, ends first; one kernel's configurations
        come together. After an interrupt comes KeyboardInterrupt."""
        from triage.drafts.drafting import Tally, settle
        from triage.drafts.plans import plans

        tally = Tally(self._progress, len(functions) * max(1, len(settings.targets)) * len(settings.toolchains))
        return converse(self._engine, (settle(plan, tally) for plan in plans(functions, settings)))

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
        Where only some of the compilers are available, that is reported, and the kernels of the others are left out.
        Raises InputError and EnvironmentFault."""
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
            self._suggester.interrupted = True
            return of_case(attempt.request.case, Interrupted("interrupted"))
        except TriageError as error:
            return error
        except Exception as error:
            return of_case(attempt.request.case, fault(error))

    def _in_time(self, requests: list[Request]) -> Iterator[Request]:
        """The requests that can begin before the budget is used up; the first in any case."""
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
        outcome = with_poisoned_entry(outcome)
        environment = environment_of(case, request.toolchain, outcome)
        diagnosis = attempt.diagnosis
        if diagnosis is None:
            report = Report(case, outcome, environment)
            if not outcome.drawbacks or not self.options.suggest or self._suggester.interrupted:
                return report
            return self._searching(report, partial(self._suggester.with_faster, toolchain=request.toolchain))
        from triage import knowledge
        from triage.knowledge.missing_api import missing_api

        if not outcome.imported and missing_api(outcome) is None:
            # The user's own code: no entry is about it, and no neighbour changes it.
            return Report(case, outcome, environment, diagnosis)
        diagnosis = with_arithmetic(diagnosis, case, outcome, request.toolchain.release)
        entries = knowledge.load_all(self.options.knowledge)
        matches = tuple(knowledge.match(diagnosis, entries, case, request.toolchain.release))
        report = Report(case, outcome, environment, diagnosis, matches, artifacts=outcome.artifacts)
        if not self.options.suggest or self._suggester.interrupted:
            return report
        toolchain = request.toolchain
        suggester = self._suggester

        def with_suggestions(report: Report) -> Report:
            return suggester.with_api(suggester.with_suggestions(report, toolchain, diagnosis), toolchain)

        return self._searching(report, with_suggestions)

    def _searching(self, report: Report, with_suggestions: Callable[[Report], Report]) -> Report:
        """The report with suggestions; without, where the search for them fails."""
        try:
            return with_suggestions(report)
        except Exception as error:
            self._progress.problem(of_case(report.case, fault(error)))
            return report
