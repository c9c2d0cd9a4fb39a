"""One failure in a text, and how specific it is about the cause."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from triage.logs import text
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation


class Specificity(IntEnum):
    """How close a line is to the cause. Of several findings the most specific wins, then the first."""

    #: Says only that something failed: `PassManager::run failed`, `Aborted (core dumped)`.
    TAIL = 1
    #: A Python exception that is not Triton's own: it may be a consequence of what the compiler printed.
    EXCEPTION = 2
    #: A consequence that names at least the operation: `failed to legalize operation 'tt.load'`.
    SYMPTOM = 3
    #: A message for the user about this program.
    DIAGNOSTIC = 4
    #: The compiler stopped itself here; what it printed before led to this point.
    FATAL = 5


def bounded_diagnosis(kind: Kind, headline: str, message: str, **facts: Any) -> Diagnosis:
    """A diagnosis whose texts have the contract's bounds; ``facts`` are its further fields."""
    return Diagnosis(kind=kind, headline=text.headline(headline), message=text.message(message), **facts)


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnosis read at ``position`` (0-based line number), with its specificity.

    ``locations`` are all its locations, innermost first: the diagnosis has the one that is probably the user's, which
    can be judged better once the kernel's file is known.
    ``extent`` is how many lines after ``position`` are part of it; no recogniser reads them again.
    ``foreign`` is true for a failure without any relation to Triton; None while that is not decided.
    ``beside`` is true where a line near it shows that another program ran.
    ``rank`` is 1 for the root cause, 2 for the next best, and so on; 0 before ranking.
    ``follows`` is the rank of the finding that this one follows from, or repeats; None for a cause.
    """

    diagnosis: Diagnosis
    specificity: Specificity
    position: int
    locations: tuple[SourceLocation, ...] = ()
    extent: int = 0
    foreign: bool | None = False
    beside: bool = False
    rank: int = 0
    follows: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The diagnosis with its line in the log and its rank among the findings."""
        return {**self.diagnosis.to_json(), "log_line": self.position + 1, "rank": self.rank, "follows": self.follows}
