"""The searches of a session: from a report without suggestions to the report with them.

The search itself is imported when a case needs one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from triage.filesystem import scratch
from triage.harness.deadline import Deadline
from triage.harness.engine import Engine
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.compilers import Compiler
from triage.model.diagnosis import Diagnosis
from triage.model.errors import TriageError
from triage.model.match import Match
from triage.model.outcome import Outcome, Status
from triage.model.progress import Progress
from triage.model.releases import in_range
from triage.model.report import Report, SuggestionKind
from triage.pipeline.options import Options
from triage.suggest.budget import Budget

if TYPE_CHECKING:
    from triage.performance.cost import FastPath
    from triage.suggest.neighbour import Neighbour
    from triage.suggest.search import Search
    from triage.suggest.tuning.expectations import Expectations


@dataclass(slots=True)
class Suggester:
    """Adds suggestions to reports, with the engine and the toolchains of a session.

    ``left``: searches still to come, that of now among them, which share what bounds the whole call. ``interrupted``:
    the user wants no more; it stays true, and what was tried until then is used."""

    _options: Options
    _engine: Engine
    _toolchains: Toolchains
    _deadline: Deadline
    _progress: Progress
    left: int = 1
    interrupted: bool = False
    _shared: Expectations | None = None

    def with_suggestions(self, report: Report, toolchain: Toolchain, diagnosis: Diagnosis) -> Report:
        from triage.suggest.plan import NeighbourPlan

        options, case, outcome, matches = self._options, report.case, report.outcome, report.matches
        search = self._search(_intended_fast_path(case, outcome), diagnosis.signature)
        with scratch.folder("rewrites") as folder:
            plan = NeighbourPlan(case, toolchain, outcome, diagnosis, matches, folder)
            search.tuning = plan.tuning(self._expectations(), options.budget.enough)
            if options.configurations_only:
                neighbours = plan.configurations()
            else:
                search.further = plan.further
                neighbours = plan.neighbours(partial(self._other_releases, toolchain, matches))
            # Timed before the folder with the rewritten sources is removed.
            searched = self._searched(report, search, neighbours)
            learnt = (*searched.learnt, *plan.unhelpful)
        suggestions = (*searched.suggestions, *plan.advice(searched.suggestions))
        return replace(searched, suggestions=suggestions, learnt=learnt)

    def with_faster(self, report: Report, toolchain: Toolchain) -> Report:
        """The report of a compile with configurations that are surely faster, where its drawbacks suggest that there
        are some."""
        from triage.suggest.faster import fast_path_of_compiled, surely_faster, tuning_of_compiled

        tuning = tuning_of_compiled(report.case, toolchain, report.outcome, self._options.limits)
        if tuning is None:
            return report
        search = self._search(fast_path_of_compiled(report.case, report.outcome))
        search.tuning = tuning
        searched = self._searched(report, search, ())
        return replace(searched, suggestions=surely_faster(searched.suggestions))

    def _expectations(self) -> Expectations:
        """What is known of the time of configurations: of one kernel's, also by the searches before."""
        from triage.suggest.tuning.expectations import Expectations

        if self._shared is None or not self._options.configurations_only:
            self._shared = Expectations(self._options.limits)
        self._shared.begin()
        return self._shared

    def _search(self, meant: FastPath, signature: str | None = None) -> Search:
        from triage.suggest.search import Search

        return Search(
            engine=self._engine,
            limits=self._options.limits,
            budget=self._share(),
            meant=meant,
            signature=signature,
            use_cache=self._options.cache,
            progress=self._progress.tried,
            over=partial(self._progress.note, "the time of the search is used up: waiting for the compiles under way"),
        )

    def _searched(self, report: Report, search: Search, neighbours: Iterable[Neighbour]) -> Report:
        """The report with what a search gives, timed where the options ask that."""
        from triage.suggest.learnt import learnt
        from triage.suggest.timed import checked, timed

        options, case, outcome = self._options, report.case, report.outcome
        try:
            suggestions = search.run(neighbours, None if outcome.status is Status.TIMEOUT else outcome.duration_s)
        except KeyboardInterrupt:
            self.interrupted, suggestions = True, search.best()
        unmeasured: list[str] = []
        if options.bench and suggestions and not self.interrupted:
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
                self.interrupted, unmeasured = True, ["not measured: interrupted"]
        return replace(
            report,
            suggestions=tuple(map(partial(search.with_expected, outcome=outcome), suggestions)),
            tried=search.tried,
            learnt=learnt(search.tried),
            unmeasured=tuple(unmeasured),
        )

    def _share(self) -> Budget:
        """The budget of the next search: what bounds the whole call is shared by those that are left."""
        budget = self._options.budget
        if budget.end == math.inf:
            return budget
        left_s = max(0.0, budget.end - time.monotonic()) / max(1, self.left)
        self.left -= 1
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

    def with_api(self, report: Report, toolchain: Toolchain) -> Report:
        """The report with releases that have the API for whose lack all others refused the kernel: installed ones, and
        if none of them compiles it, the release that is known to have the fix."""
        from triage.suggest.releases import fix_to_make, refusals
        from triage.suggest.releases import with_api as releases_with_api

        if self._options.configurations_only:
            return report
        own, tried = toolchain.release, report.tried
        refused = refusals(tried, own, report.diagnosis)
        compiled = any(attempt.compiled for attempt in tried if attempt.kind is SuggestionKind.TOOLCHAIN)
        if not refused or compiled or self.interrupted:
            return report
        more = self._with_releases(
            report, releases_with_api(own, self._toolchains.installed(toolchain.compiler), tried, refused)
        )
        fixed = fix_to_make(own, _fixed_in(report.matches), more.tried, refused)
        if fixed is None or len(more.suggestions) > len(report.suggestions) or self.interrupted:
            return more
        return self._with_releases(more, self._environment_of(fixed, toolchain.compiler))

    def _with_releases(self, report: Report, toolchains: list[Toolchain]) -> Report:
        """The report with the unchanged case tried on further releases."""
        from triage.performance.cost import order
        from triage.suggest.learnt import learnt
        from triage.suggest.neighbour import releases
        from triage.suggest.search import Search

        options, outcome = self._options, report.outcome
        left_s = min(options.budget.seconds, max(0.0, options.budget.end - time.monotonic()))
        budget = replace(options.budget, compiles=len(toolchains), seconds=left_s)
        meant = _intended_fast_path(report.case, outcome)
        search = Search(self._engine, options.limits, budget, meant, use_cache=options.cache)
        try:
            others = search.run(releases(report.case, toolchains), outcome.duration_s)
        except KeyboardInterrupt:
            self.interrupted, others = True, search.best()
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
