"""The report document (contract: ``triton-triage/report/1``) as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.measurement import Measurement
from triage.model.outcome import Outcome, Resources

SCHEMA = "triton-triage/report/1"

POISONED = "poisoned_cache_entry"
"""The artifact that is not triage's own: the bad binary of a suspect compile, in Triton's cache."""


@dataclass(frozen=True, slots=True)
class Match:
    """A knowledge-base entry that recognises the diagnosis. ``confidence`` is 0…1."""

    id: str
    title: str
    cause: str
    confidence: float
    fixed_in: str | None = None
    upstream: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    does_not_help: tuple[str, ...] = ()
    rewrites: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's ``matches`` element."""
        return {
            "id": self.id,
            "title": self.title,
            "cause": self.cause,
            "confidence": round(self.confidence, 3),
            "fixed_in": self.fixed_in,
            "upstream": list(self.upstream),
            "evidence": list(self.evidence),
            "helps": list(self.helps),
            "does_not_help": list(self.does_not_help),
        }


class SuggestionKind(str, Enum):
    """What a suggestion changes."""

    CONFIG = "config"
    SOURCE = "source"
    TOOLCHAIN = "toolchain"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What may be done instead. A verified one was compiled, whole and in isolation, in the search that offers it;
    one that is not verified is advice, and has no ``resources``.

    ``note`` says in words what it does and what it costs: ``why`` and ``cost`` together. ``results`` says how results
    differ or may differ, and ``caller`` what the caller must do differently; empty means not at all. ``diff`` is the
    change of the kernel's own file, as ``patch -p1`` takes it in the folder of the file.
    """

    changes: Mapping[str, Any]
    kind: SuggestionKind
    distance: float
    resources: Resources | None
    note: str
    verified: bool = True
    why: str = ""
    cost: str = ""
    results: str = ""
    caller: str = ""
    diff: str | None = None
    caution: str = ""
    """What is known to go wrong when it runs, though it compiles."""
    measured: Measurement | None = None
    """Its time on this machine's GPU, where it was asked for and could be had."""

    def to_json(self) -> dict[str, Any]:
        """The contract's ``suggestions`` element."""
        return {
            "changes": dict(self.changes),
            "kind": self.kind.value,
            "verified": self.verified,
            "distance": round(self.distance, 2),
            "resources": self.resources.to_json() if self.resources else None,
            "note": self.note,
            "why": self.why,
            "cost": self.cost,
            "results": self.results or None,
            "caller": self.caller or None,
            "diff": self.diff,
            "caution": self.caution or None,
            "measured": self.measured.to_json() if self.measured else None,
        }


@dataclass(frozen=True, slots=True)
class Tried:
    """One neighbour that was compiled, and how that ended: ``signature`` is that of its failure, None where it
    compiled; ``same`` is true for the very failure that is being triaged."""

    changes: Mapping[str, Any]
    kind: SuggestionKind
    compiled: bool
    signature: str | None = None
    headline: str = ""
    same: bool = False

    def to_json(self) -> dict[str, Any]:
        """One element of the report's ``tried``."""
        return {
            "changes": dict(self.changes),
            "kind": self.kind.value,
            "compiled": self.compiled,
            "signature": self.signature,
            "headline": self.headline or None,
            "same_failure": self.same,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """Everything known about one case. ``command`` repeats the triage."""

    case: Case
    outcome: Outcome
    environment: Mapping[str, str]
    diagnosis: Diagnosis | None = None
    matches: tuple[Match, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    artifacts: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    tried: tuple[Tried, ...] = ()
    """The neighbours that were compiled to find the suggestions, in the order in which they were asked for."""
    learnt: tuple[str, ...] = ()
    """What those that failed have in common, in sentences."""
    unmeasured: tuple[str, ...] = ()
    """Why suggestions were not timed, a line each reason; empty where that was not asked for."""

    @property
    def searched(self) -> int:
        """How many neighbours were compiled to find the suggestions."""
        return len(self.tried)

    def to_json(self) -> dict[str, Any]:
        """The contract's report document."""
        return {
            "schema": SCHEMA,
            "case": self.case.to_json(),
            "environment": dict(self.environment),
            "outcome": self.outcome.to_json(),
            "diagnosis": self.diagnosis.to_json() if self.diagnosis else None,
            "matches": [match.to_json() for match in self.matches],
            "suggestions": [suggestion.to_json() for suggestion in self.suggestions],
            "neighbours_compiled": self.searched,
            "tried": [tried.to_json() for tried in self.tried],
            "learnt": list(self.learnt),
            "unmeasured": list(self.unmeasured),
            "artifacts": {name: str(path) for name, path in self.artifacts.items()},
        }
