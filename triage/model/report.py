"""The report document (contract: ``triton-triage/report/1``) as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from triage.model.case import Case
from triage.model.compilers import COMPILERS
from triage.model.diagnosis import Diagnosis
from triage.model.document import Amount, Count, Doc, Documented
from triage.model.match import Match, Texts
from triage.model.measurement import Measurement, MemoryCheck
from triage.model.outcome import Outcome, Resources
from triage.model.target import Target

SCHEMA = "triton-triage/report/1"

POISONED = "poisoned_cache_entry"
"""The artifact that is not triage's own: the bad binary of a suspect compile, in Triton's cache."""

LOSSY = "lossy"
"""Word in ``results`` of a suggestion whose types cannot hold all that the data holds."""


class SuggestionKind(str, Enum):
    """What a suggestion changes."""

    CONFIG = "config"
    SOURCE = "source"
    TOOLCHAIN = "toolchain"


EQUAL_ESTIMATES = 1.03
"""Estimates of time that differ by less than this factor say nothing about which suggestion is faster."""
EQUAL_UNMEASURED = 1.15
"""The same where no estimate was ever compared with a measurement: half of those on measured GPUs are off by 11 %, and
the rates of others rest on data sheets."""
MEASURED_TARGETS = frozenset({"cuda:90"})
"""Targets whose estimates were compared with measurements (``tests/benchmarks/measured``: H100 and H200)."""
NOT_MEASURED = "Estimates are not measured on this architecture"


def is_measured(target: Target) -> bool:
    """Whether estimates for a target were compared with measurements."""
    return str(target) in MEASURED_TARGETS


def equal_estimates(target: Target) -> float:
    """The factor within which estimates for a target are equal."""
    return EQUAL_ESTIMATES if is_measured(target) else EQUAL_UNMEASURED


@dataclass(frozen=True, slots=True)
class ExpectedTime(Documented):
    """What the static model says of a suggestion (``performance/estimate``); nothing was run."""

    time_ratio: Annotated[tuple[float, float], Doc("Least and greatest, of the configuration that was asked for.")]
    bound_by: Annotated[str, Doc("What most of the time is spent on, such as tensor-cores.")]


@dataclass(frozen=True, slots=True)
class Suggestion(Documented):
    """What may be done instead; best first in its list. A verified one was compiled, whole and in isolation, in the
    search that offers it; one that is not verified is advice, and has no ``resources``.

    ``note`` says in words what it does and what it costs: ``why`` and ``cost`` together. An empty ``results`` or
    ``caller`` means that results do not differ, and that the caller need not change anything.
    """

    schema_rules: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"verified": {"const": True}}},
        "then": {"properties": {"resources": {"type": "object"}}},
    }

    changes: Annotated[Mapping[str, Any], Doc(schema={"minProperties": 1})]
    kind: SuggestionKind
    distance: Annotated[Amount, Doc(digits=2)]
    resources: Resources | None
    note: str
    verified: Annotated[bool, Doc("Compiled, whole, in isolation.")] = True
    why: Annotated[str, Doc(optional=True)] = ""
    cost: Annotated[str, Doc(optional=True)] = ""
    results: Annotated[str, Doc("How results may differ.", blank=True, optional=True)] = ""
    caller: Annotated[str, Doc("What the caller must do.", blank=True, optional=True)] = ""
    diff: Annotated[
        str | None, Doc("Of the kernel's file, for patch -p1 in the folder of the file.", optional=True)
    ] = None
    caution: Annotated[
        str, Doc("What is known to go wrong when it runs, though it compiles.", blank=True, optional=True)
    ] = ""
    measured: Annotated[
        Measurement | None, Doc("Its time on this machine's GPU, where it was measured.", optional=True)
    ] = None
    expected: Annotated[ExpectedTime | None, Doc("Null where that cannot be estimated.", optional=True)] = None
    memory_check: Annotated[
        MemoryCheck | None, Doc("compute-sanitizer's report on one launch, where it was asked for.", optional=True)
    ] = None


@dataclass(frozen=True, slots=True)
class Tried(Documented):
    """A neighbour that was compiled. ``signature`` is that of its failure, None where it compiled; ``same`` is true
    for the failure that is being triaged."""

    changes: Mapping[str, Any]
    kind: SuggestionKind
    compiled: bool
    signature: str | None = None
    headline: Annotated[str, Doc(blank=True)] = ""
    same: Annotated[bool, Doc(name="same_failure")] = False

    @property
    def release(self) -> str | None:
        """The other release of the compiler that it was compiled with; None where it is another change."""
        return str(*self.changes.values()) if self.kind is SuggestionKind.TOOLCHAIN else None


@dataclass(frozen=True, slots=True)
class Report(Documented):
    """Everything known about one case."""

    schema_name: ClassVar[str] = SCHEMA
    schema_rules: ClassVar[Mapping[str, Any]] = {
        "if": {"properties": {"outcome": {"properties": {"status": {"const": "ok"}}}}},
        "then": {"properties": {"diagnosis": {"type": "null"}}},
        "else": {"properties": {"diagnosis": {"type": "object"}}},
    }

    case: Case
    outcome: Outcome
    environment: Annotated[
        Mapping[str, str],
        Doc(
            "With what it was compiled.",
            schema={"required": ["python", "target"], "anyOf": [{"required": [name]} for name in COMPILERS]},
        ),
    ]
    diagnosis: Annotated[Diagnosis | None, Doc("Null when it compiles.")] = None
    matches: tuple[Match, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    artifacts: Annotated[Mapping[str, Path], Doc("Files that were kept, by what they are.")] = field(
        default_factory=lambda: MappingProxyType({})
    )
    tried: Annotated[
        tuple[Tried, ...], Doc("The neighbours that were compiled to find the suggestions, in order.", optional=True)
    ] = ()
    learnt: Annotated[Texts, Doc("What those that failed have in common, in sentences.")] = ()
    unmeasured: Annotated[Texts, Doc("Why suggestions were not timed, one text a reason; empty if not asked for.")] = ()

    @property
    def release(self) -> str:
        """The release of the compiler."""
        return self.environment[self.case.compiler.name]

    @property
    def compiled_with(self) -> str:
        """The compiler and its release, for people."""
        return self.case.compiler.label(self.release)

    @property
    def searched(self) -> Annotated[Count, Doc(name="neighbours_compiled", optional=True)]:
        """How many neighbours were compiled to find the suggestions."""
        return len(self.tried)
