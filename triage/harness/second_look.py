"""When a failed run is followed by another: to confirm it in a fresh process, or to observe which pass fails."""

from __future__ import annotations

from triage import logs
from triage.harness import observe
from triage.harness.request import FullCompile, PartialCompile, Request
from triage.harness.work import Mode
from triage.model.diagnosis import Trait
from triage.model.outcome import Outcome, Status

Fingerprint = tuple[str, str, str]


class SecondLook:
    """Decides it, and remembers which failures were confirmed."""

    def __init__(self) -> None:
        self._confirmed: set[Fingerprint] = set()

    def mode(self, request: Request, outcome: Outcome) -> Mode | observe.How | None:
        """How to run the case again after a forked run; None when the outcome stands as it is."""
        if outcome.status is Status.TIMEOUT and outcome.pipeline and _observes(request):
            # A dump shows which pass it is in; MLIR writes no reproducer before a pass has failed.
            return observe.How.DUMP
        if outcome.status not in (Status.CRASH, Status.ERROR, Status.SUSPECT) or outcome.killed_from_outside:
            return None
        if outcome.pipeline and _observes(request):
            return observe.first_way(request.toolchain.triton)
        if outcome.status is Status.ERROR or _fingerprint(request, outcome) in self._confirmed:
            return None
        return Mode.FRESH

    def confirm(self, request: Request, outcome: Outcome) -> None:
        """The failure showed in a fresh process as well; another like it needs no second look."""
        self._confirmed.add(_fingerprint(request, outcome))


def _fingerprint(request: Request, outcome: Outcome) -> Fingerprint:
    """Equal for failures of which one confirmation suffices. A bare signal does not identify a bug, so there the kernel
    has to be the same as well."""
    diagnosis = logs.diagnose_outcome(outcome, request.case.path)
    bare = diagnosis is None or diagnosis.kind.has(Trait.WORDLESS)
    kernel = str(request.case.path) if bare else ""
    return (request.toolchain.identity, kernel, diagnosis.signature if diagnosis else "")


def _observes(request: Request) -> bool:
    match request.action:
        case FullCompile(observe=wanted) | PartialCompile(observe=wanted):
            return wanted
        case _:
            return False
