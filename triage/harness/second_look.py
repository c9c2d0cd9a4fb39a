"""When a failed run is followed by another, and what the two say together.

A *confirmation* runs the case in a fresh process, for a crash that may come from forking alone; an *observation*, in a
fresh process too, makes MLIR name the pass that failed (``observe.py``).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from triage.filesystem.files import replace_file
from triage.harness import artifacts, observe
from triage.harness.judgement import Judged
from triage.harness.request import FullCompile, PartialCompile, Request
from triage.ir.passes import PassInput
from triage.logs.outcomes import Printed, diagnose_outcome
from triage.model.diagnosis import Trait
from triage.model.outcome import Outcome, Status, Undecided


class Mode(Enum):
    """How a run is isolated: in a fork of a warm server, or in a fresh process."""

    FORK = "fork"
    FRESH = "fresh"


RunMode: TypeAlias = Mode | observe.How
"""How a run is made; a way to observe means a fresh process, observed in that way."""


@dataclass(frozen=True, slots=True)
class FirstRun:
    """A failure that is looked at once more."""

    outcome: Outcome
    folder: Path
    printed: Printed | None = None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The answer to a request. ``folder``: what the compile left; ``printed``: what was read in its log."""

    result: Outcome | Undecided
    folder: Path | None = None
    printed: Printed | None = None


class SecondLook:
    """Decides when a failed run is followed by another, and remembers which failures were confirmed."""

    def __init__(self) -> None:
        self._confirmed: set[tuple[str, str, str]] = set()

    def mode(self, request: Request, outcome: Outcome, printed: Printed | None) -> RunMode | None:
        """How to run the case again after a forked run; None when the outcome is final."""
        if outcome.status is Status.TIMEOUT and outcome.pipeline and _observes(request):
            # A dump shows which pass it is in; MLIR writes no reproducer before a pass has failed.
            return observe.How.DUMP
        if outcome.status not in (Status.CRASH, Status.ERROR, Status.SUSPECT) or outcome.killed_from_outside:
            return None
        if outcome.pipeline and _observes(request):
            return observe.first_way(request.toolchain.release)
        if outcome.status is Status.ERROR or _fingerprint(request, outcome, printed) in self._confirmed:
            return None
        return Mode.FRESH

    def conclude(
        self, request: Request, first: FirstRun, mode: RunMode, folder: Path, second: Judged
    ) -> Conclusion | RunMode:
        """Combine the forked run and a fresh one in ``folder``, made by ``mode``: the answer, or how to run the case
        once more."""
        outcome, result = first.outcome, _usable(second.result)
        if isinstance(result, Undecided):
            # Forking alone may have caused a crash; what the compiler reported needs no second look.
            note = f"not confirmed in a fresh process: {result.reason}"
            unsure = outcome.status is Status.CRASH
            noted = Undecided(note) if unsure else replace(outcome, notes=(*outcome.notes, note))
            return Conclusion(noted, first.folder, first.printed)
        observed = isinstance(mode, observe.How)
        if not result.failed:
            if observed:
                # Observing changes the compile (one thread, a dump): only a plain fresh process can contradict.
                return Mode.FRESH
            ended = outcome.signal or outcome.status.value
            note = f"failed once in a forked process ({ended}), compiles in a fresh one"
            return Conclusion(replace(result, notes=(*result.notes, note)), folder, second.printed)
        # Another failure like it needs no second look.
        self._confirmed.add(_fingerprint(request, outcome, first.printed))
        if observed:
            seen = second.seen
            _write(seen, first.folder)
            if seen is None and mode is observe.How.REPRODUCER:
                return observe.How.DUMP
            outcome = replace(outcome, pass_name=seen.pass_name if seen else None)
        return Conclusion(outcome, first.folder, first.printed)


def _usable(result: Outcome | Undecided) -> Outcome | Undecided:
    """The result of a fresh run, if it says anything about the forked one."""
    if isinstance(result, Outcome) and not result.imported:
        return Undecided("there the kernel's module could not be imported")
    if isinstance(result, Outcome) and result.killed_from_outside:
        return Undecided("that was killed from outside")
    return result


def _write(seen: PassInput | None, folder: Path) -> None:
    """Put the input of the failing pass to a run's artifacts."""
    if seen is not None:
        with suppress(OSError):  # a full disk; the name of the pass is known all the same
            replace_file(folder / artifacts.PASS_INPUT, seen.module)
            if seen.reproducer is not None:
                replace_file(folder / artifacts.REPRODUCER, seen.reproducer)


def _fingerprint(request: Request, outcome: Outcome, printed: Printed | None) -> tuple[str, str, str]:
    """Equal for failures of which one confirmation suffices. A bare signal does not identify a bug, so there the kernel
    has to be the same as well."""
    diagnosis = diagnose_outcome(outcome, request.case.path, printed)
    bare = diagnosis is None or diagnosis.kind.has(Trait.WORDLESS)
    kernel = str(request.case.path) if bare else ""
    return (request.toolchain.identity, kernel, diagnosis.signature if diagnosis else "")


def _observes(request: Request) -> bool:
    return isinstance(request.action, FullCompile | PartialCompile) and request.action.observe
