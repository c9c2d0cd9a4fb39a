"""What became of the captured compiles: each is compiled alone, and those that fail alike are one finding."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from triage.capture.captured import Capture, Captured, State
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Options, Session

_MOST_COMPILES = 64
"""Captures that differ and are compiled alone; a program that fails in more ways is told so."""
_MOST_SEARCHES = 3
"""Findings for which neighbours are searched and which are reported whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Captures that are one bug: those with the same signature, or the same case. ``report`` is that of the first,
    None where triage could not tell, for the reason in ``undecided``. ``whole``: it is among the first, for which
    everything was found out."""

    captured: tuple[Captured, ...]
    report: Report | None = None
    undecided: TriageError | None = None
    whole: bool = False

    @property
    def first(self) -> Captured:
        """The first of its captures."""
        return self.captured[0]

    @property
    def signature(self) -> str | None:
        """That of the failure; None where it was not seen again."""
        return self.report.diagnosis.signature if self.report and self.report.diagnosis else None

    @property
    def alone(self) -> bool:
        """Captured as a failure, but compiled when it was compiled alone."""
        return self.report is not None and self.report.diagnosis is None


@dataclass(frozen=True, slots=True)
class Findings:
    """``found`` in the order in which they were met; ``skipped`` are configurations that an autotuner passed over, and
    were not compiled again; ``cut_short`` are compiles that did not end because the process or the program did, and
    that are not to blame: they compile alone; ``left_out`` how many captures were too many."""

    found: tuple[Finding, ...] = ()
    skipped: tuple[Captured, ...] = ()
    cut_short: tuple[Captured, ...] = ()
    left_out: int = 0

    def failed(self, capture: Capture) -> int:
        """How many compiles of a run failed: without those that an autotuner passed over, or only ended with it."""
        return len(capture.failed_cases) - len(self.skipped) - len(self.cut_short)


def look_into(captured: Iterable[Captured], options: Options, progress: Progress) -> Findings:
    """Compile what did not end well, with the interpreter that the program compiled it with. Raises EnvironmentFault
    when no case at all could be compiled."""
    failed = [one for one in captured if one.state is not State.COMPILED]
    skipped = tuple(one for one in failed if one.autotuning)
    distinct = _distinct(one for one in failed if not one.autotuning)
    taken = distinct[:_MOST_COMPILES]
    found: list[Finding] = []
    for group in _alike(taken):
        first = group[0][0]
        own = replace(options, triton=None, python=first.python or None, suggest=False)
        with _variables(first.origin.get("environment")), Session(own, progress) as session:
            singles = list(_compiled(session, group))
            found += _told(session, _merged([*singles]), options.suggest)
    merged = _merged(found)
    blamed = any(one.signature and one.first.state in _ENDING for one in merged)
    cut = [one for one in merged if one.alone and _was_cut_short(one, blamed)]
    return Findings(
        found=tuple(one for one in merged if one not in cut),
        skipped=skipped,
        cut_short=tuple(each for one in cut for each in one.captured),
        left_out=sum(len(one) for one in distinct[_MOST_COMPILES:]),
    )


_ENDING = (State.DIED, State.HUNG)


def _was_cut_short(finding: Finding, blamed: bool) -> bool:
    """Other threads of a process that died, and other workers of a pool that broke, were in a compile as well."""
    states = {one.state for one in finding.captured}
    return states == {State.RUNNING} or (blamed and states <= {State.DIED, State.RUNNING})


def _distinct(captured: Iterable[Captured]) -> list[list[Captured]]:
    """Captures of one case together, which failed alike: each worker of a pool may have met the same."""
    found: dict[object, list[Captured]] = {}
    for one in captured:
        kind = one.error.partition(":")[0]
        key = (one.case.identity(), one.python, one.where, kind) if one.case else one.folder
        found.setdefault(key, []).append(one)
    return list(found.values())


def _alike(distinct: list[list[Captured]]) -> list[list[list[Captured]]]:
    """What can be compiled in one session: same interpreter, same variables."""
    found: dict[object, list[list[Captured]]] = {}
    for one in distinct:
        variables = one[0].origin.get("environment")
        key = (one[0].python, tuple(sorted(variables.items())) if isinstance(variables, dict) else ())
        found.setdefault(key, []).append(one)
    return list(found.values())


def _compiled(session: Session, group: Sequence[list[Captured]]) -> Iterator[Finding]:
    cases = [one[0].case for one in group if one[0].case is not None]
    answers = iter(session.check_all(cases))
    for one in group:
        if one[0].case is None:
            yield Finding(tuple(one), undecided=InputError(one[0].problem))
            continue
        answer = next(answers)
        if isinstance(answer, TriageError):
            yield Finding(tuple(one), undecided=answer)
        else:
            yield Finding(tuple(one), answer)


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings with the same signature are one."""
    found: dict[object, Finding] = {}
    for one in findings:
        key = one.signature or one.first.folder
        before = found.get(key)
        found[key] = one if before is None else replace(before, captured=(*before.captured, *one.captured))
    return list(found.values())


def _told(session: Session, findings: list[Finding], suggest: bool) -> Iterator[Finding]:
    """The first few with everything that can be found out about them."""
    session.options = replace(session.options, suggest=suggest)
    whole = [one for one in findings if one.signature][:_MOST_SEARCHES]
    for one in findings:
        if one not in whole or one.first.case is None:
            yield one
            continue
        try:
            yield replace(one, report=session.check(one.first.case) if suggest else one.report, whole=True)
        except EnvironmentFault:
            yield replace(one, whole=True)


@contextmanager
def _variables(given: object) -> Iterator[None]:
    """The program may have set variables of the compiler for itself: compile with those that it had."""
    if not isinstance(given, Mapping):
        yield
        return
    wanted = {str(name): str(value) for name, value in given.items()}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
