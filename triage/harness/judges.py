"""Has ended runs judged: at once, or in a process of its own where the log is long (``judgement.py``)."""

from __future__ import annotations

import selectors
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from triage.harness import observe
from triage.harness.judgement import Judged, Judging, Question
from triage.harness.remote import unregister
from triage.harness.run import Run
from triage.harness.ulimits import ulimits
from triage.harness.work import Work

OnJudged: TypeAlias = Callable[[Work, Run, Judged], None]


class Judges:
    """Calls ``judged`` with what each ended run shows, sooner or later."""

    def __init__(self, selector: selectors.BaseSelector, judged: OnJudged) -> None:
        self._selector = selector
        self._judged = judged

    def settle(self, work: Work, run: Run) -> None:
        """Judge a run whose process has ended."""
        if work.reads is None:
            work.reads = run.reads
        if not run.facts.returned:
            run.facts.ulimits = ulimits(work.request.limits)
        request, how = work.request, work.mode if isinstance(work.mode, observe.How) else None
        question = Question(request.case, run.facts, request.limits, run.token, run.folder, how)
        if question.is_long:
            with suppress(OSError):  # without another process it is judged here
                judging = work.judging = Judging(question)
                self._selector.register(judging.fd, selectors.EVENT_READ, partial(self._answered, work, run, judging))
                return
        self._judged(work, run, question.answer())

    def _answered(self, work: Work, run: Run, judging: Judging) -> None:
        """The process that judges a run has ended."""
        unregister(self._selector, judging.fd)
        work.judging = None
        self._judged(work, run, judging.judgement())

    def watch(self, works: list[Work], now: float) -> None:
        """Kill the processes that take too long."""
        for work in works:
            if work.judging is not None and now > work.judging.deadline:
                work.judging.kill()

    def abandon(self, work: Work) -> None:
        """End the process that judges a run of this request, if there is one."""
        if work.judging is not None:
            unregister(self._selector, work.judging.fd)
            work.judging.close()
