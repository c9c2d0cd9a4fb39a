"""Triage of captured compiles: each is compiled alone, and captures that fail alike form one group."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from triage.capture.captured import Captured, CaptureState
from triage.model.errors import EnvironmentFault, InputError, Interrupted, TriageError
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Options, Session

_MOST_COMPILES = 64
"""Distinct captures that are compiled alone; further ones are counted as left out."""
_MOST_SEARCHES = 3
"""Groups for which neighbours are searched and the whole report is printed."""


@dataclass(frozen=True, slots=True)
class CaptureGroup:
    """Captures of one bug: same signature, or same case.

    ``report`` is that of the first capture, None where triage could not tell, for the reason in ``undecided``.
    ``whole``: one of the first groups, which get the full search."""

    captured: tuple[Captured, ...]
    report: Report | None = None
    undecided: TriageError | None = None
    whole: bool = False

    @property
    def first(self) -> Captured:
        return self.captured[0]

    @property
    def signature(self) -> str | None:
        """The failure's signature; None if the failure did not reproduce."""
        return self.report.diagnosis.signature if self.report and self.report.diagnosis else None

    @property
    def compiles_alone(self) -> bool:
        """Whether the captured failure compiled when it was compiled alone."""
        return self.report is not None and self.report.diagnosis is None


@dataclass(frozen=True, slots=True)
class Findings:
    """Captures of a run, triaged.

    ``groups`` in the order in which they occurred. ``skipped``: configurations that an autotuner skipped, not compiled
    again. ``cut_short``: compiles that ended only because the process or program did, and compile alone. ``left_out``:
    number of captures over the limit."""

    groups: tuple[CaptureGroup, ...] = ()
    skipped: tuple[Captured, ...] = ()
    cut_short: tuple[Captured, ...] = ()
    left_out: int = 0


def triage_captures(captured: Iterable[Captured], options: Options, progress: Progress) -> Findings:
    """Compile failed captures with the interpreter that the program used. Raises EnvironmentFault when no case could be
    compiled at all."""
    failed = [capture for capture in captured if capture.state is not CaptureState.COMPILED]
    skipped = tuple(capture for capture in failed if capture.autotuning)
    distinct = _distinct(capture for capture in failed if not capture.autotuning)
    selected = distinct[:_MOST_COMPILES]
    groups: list[CaptureGroup] = []
    for batch in _batches(selected):
        first = batch[0][0]
        own = replace(options, triton=None, python=first.python or None, suggest=False)
        with _variables(first.origin.get("environment")), Session(own, progress) as session:
            groups += _searched(session, _merged(_compiled(session, batch)), options.suggest)
    merged = _merged(groups)
    blamed = any(group.signature and group.first.state in _ENDING for group in merged)
    cut = [group for group in merged if group.compiles_alone and _was_cut_short(group, blamed)]
    return Findings(
        groups=tuple(group for group in merged if group not in cut),
        skipped=skipped,
        cut_short=tuple(capture for group in cut for capture in group.captured),
        left_out=sum(len(captures) for captures in distinct[_MOST_COMPILES:]),
    )


def untriaged(captured: Iterable[Captured]) -> Findings:
    """Failed captures of an interrupted program, none of them compiled alone: who ends a program does not wait for
    compiles."""
    failed = [capture for capture in captured if capture.state is not CaptureState.COMPILED]
    reason = Interrupted("interrupted before it was compiled alone")
    return Findings(
        groups=tuple(
            CaptureGroup(tuple(captures), undecided=reason)
            for captures in _distinct(capture for capture in failed if not capture.autotuning)
        ),
        skipped=tuple(capture for capture in failed if capture.autotuning),
    )


_ENDING = (CaptureState.DIED, CaptureState.HUNG)


def _was_cut_short(group: CaptureGroup, blamed: bool) -> bool:
    """Whether only the death of another compile ended these: other threads of the process, other workers of a broken
    pool."""
    states = {captured.state for captured in group.captured}
    return states == {CaptureState.RUNNING} or (blamed and states <= {CaptureState.DIED, CaptureState.RUNNING})


def _distinct(captured: Iterable[Captured]) -> list[list[Captured]]:
    """Group captures of the same case with the same kind of error: every worker of a pool may hit the same failure."""
    groups: dict[object, list[Captured]] = {}
    for capture in captured:
        kind = capture.error.partition(":")[0]
        key = (capture.case.identity(), capture.python, capture.where, kind) if capture.case else capture.folder
        groups.setdefault(key, []).append(capture)
    return list(groups.values())


def _batches(distinct: list[list[Captured]]) -> list[list[list[Captured]]]:
    """Captures that can share a session: same interpreter, same variables."""
    batches: dict[object, list[list[Captured]]] = {}
    for captures in distinct:
        variables = captures[0].origin.get("environment")
        key = (captures[0].python, tuple(sorted(variables.items())) if isinstance(variables, dict) else ())
        batches.setdefault(key, []).append(captures)
    return list(batches.values())


def _compiled(session: Session, batch: Sequence[list[Captured]]) -> Iterator[CaptureGroup]:
    cases = [captures[0].case for captures in batch if captures[0].case is not None]
    answers = iter(session.check_all(cases))
    for captures in batch:
        answer = InputError(captures[0].problem) if captures[0].case is None else next(answers)
        if isinstance(answer, TriageError):
            yield CaptureGroup(tuple(captures), undecided=answer)
        else:
            yield CaptureGroup(tuple(captures), answer)


def _merged(groups: Iterable[CaptureGroup]) -> list[CaptureGroup]:
    """Merge groups with the same signature."""
    by_signature: dict[object, CaptureGroup] = {}
    for group in groups:
        key = group.signature or group.first.folder
        earlier = by_signature.get(key)
        captured = (*(earlier or group).captured, *(group.captured if earlier else ()))
        by_signature[key] = replace(earlier or group, captured=captured)
    return list(by_signature.values())


def _searched(session: Session, groups: list[CaptureGroup], suggest: bool) -> Iterator[CaptureGroup]:
    """The groups, the first few with the full search."""
    session.options = replace(session.options, suggest=suggest)
    searched = [group for group in groups if group.signature][:_MOST_SEARCHES]
    for group in groups:
        if group not in searched or group.first.case is None:
            yield group
            continue
        try:
            yield replace(group, report=session.check(group.first.case) if suggest else group.report, whole=True)
        except EnvironmentFault:
            yield replace(group, whole=True)


@contextmanager
def _variables(recorded: object) -> Iterator[None]:
    """Set the compiler variables that the program had set for itself."""
    variables = recorded if isinstance(recorded, Mapping) else {}
    wanted = {str(name): str(value) for name, value in variables.items()}
    saved = {name: os.environ[name] for name in wanted if name in os.environ}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            os.environ.pop(name, None)
        os.environ.update(saved)
