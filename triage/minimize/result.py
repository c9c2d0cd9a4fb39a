"""Settings and result of a reduction."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from triage.harness.limits import Limits
from triage.minimize.ir.run import ReducedIR
from triage.minimize.problem import STOPPED
from triage.minimize.source.specimen import Specimen, body_lines, tokens
from triage.model.case import Case
from triage.model.compilers import CUTE
from triage.model.document import Doc, Documented
from triage.model.measurement import MemoryCheck

MOST_COMPILES, MOST_SECONDS = 4000, 1200.0
"""Default bounds of a search: many times what kernels of forty lines took."""
SCHEMA = "triton-triage/minimized/1"
DOCUMENT = "minimized.json"
"""The result's file in its own folder."""


@dataclass(frozen=True, slots=True)
class MinimizeOptions:
    """``repeat``: runs of a candidate; None: derived from how reliably the original fails. ``compiles`` bounds the
    search, ``seconds`` all of it but the first compile (see ``BUDGET_MARGIN``); ``folder`` receives the result, and
    with ``resume`` an earlier run in it is continued. ``triton``, ``cute`` and ``python`` choose the toolchain as for
    ``triage check``. ``launch``: write a reproducer that launches as well, and launch candidates where the failure
    needs it; ``sanitize``: run it under compute-sanitizer at the end. ``ir``: reduce the input of the failing pass as
    well."""

    folder: Path
    triton: str | None = None
    cute: str | None = None
    python: str | None = None
    limits: Limits = field(default_factory=Limits)
    jobs: int | None = None
    repeat: int | None = None
    compiles: int = MOST_COMPILES
    seconds: float = MOST_SECONDS
    anonymize: bool = False
    resume: bool = True
    launch: bool = False
    sanitize: bool = False
    ir: bool = True

    def release(self, case: Case) -> str | None:
        """The release of its compiler that compiles a case; None for the default, or that of ``python``."""
        stated = self.cute if case.compiler == CUTE else self.triton
        return stated or (None if self.python else case.release)


@dataclass(frozen=True, slots=True)
class SourceSize(Documented):
    """Tokens of the file, lines of the kernel's body."""

    tokens: int
    lines: Annotated[int, Doc(name="body_lines")]

    @classmethod
    def of(cls, specimen: Specimen) -> SourceSize:
        """The size of a specimen."""
        return cls(tokens(specimen.text), body_lines(specimen.text, specimen.case.name))


@dataclass(frozen=True, slots=True)
class OtherFailure(Documented):
    """A failure that was met on the way."""

    signature: str
    headline: str


@dataclass(frozen=True, slots=True)
class MinimizeResult(Documented):
    """A finished reduction.

    ``script`` is the reproducer: ``reproducer.py``, or ``reproducer_launch.py`` for a failure that needs a launch;
    ``reproduced``: exit codes of two runs of it. ``confirmed``: the case on disk, compiled anew, has the signature.
    Both are None where an interrupt or the end of the time left no time for it. ``ended``: ``complete``, ``budget``,
    ``interrupted`` or what broke. ``anonymous``: None where that was not asked. ``findings``: other failures met on the
    way. ``launched``: exit codes of two runs of ``reproducer_launch.py``; None where it was not asked for, not written,
    or could not launch here, for the reason ``not_launched``. ``ir``: the input of the failing pass; None for the
    reason ``no_ir``. ``memory_check``: compute-sanitizer's report on a launch of ``reproducer_launch.py``; None where
    that was not asked for, or for the reason ``no_memory_check``."""

    schema_name: ClassVar[str] = SCHEMA

    case: Case
    folder: Path
    signature: str
    headline: str
    rate: float
    repeat: int
    before: SourceSize
    after: SourceSize
    compiles: int
    seconds: Annotated[float, Doc(digits=1)]
    ended: str
    confirmed: bool | None
    reproduced: tuple[int, int] | None
    anonymous: bool | None
    findings: tuple[OtherFailure, ...]
    script: Annotated[Path, Doc(name="reproducer")]
    launched: tuple[int, int] | None = None
    not_launched: str | None = None
    ir: ReducedIR | None = None
    no_ir: str | None = None
    memory_check: Annotated[MemoryCheck | None, Doc(optional=True)] = None
    no_memory_check: Annotated[str | None, Doc(optional=True)] = None

    @property
    def holds(self) -> bool:
        """Whether the result on disk was seen to fail as the original does, in every way that was tried, and nothing
        broke on the way."""
        shown = self.reproduced in (None, (1, 1)) and self.launched in (None, (1, 1))
        return self.confirmed is not False and shown and not self.ended.startswith(STOPPED)

    def stored(self) -> dict[str, Any]:
        """The document for the folder itself: paths are relative to it, and an anonymous result contains nothing of the
        original."""
        document = self.to_json() | {"folder": ".", "reproducer": self.script.name}
        if self.ir is not None:
            paths = {"file": self.ir.file, "script": self.ir.script}
            document["ir"] |= {name: f"{path.parent.name}/{path.name}" for name, path in paths.items()}
        return document | ({"findings": []} if self.anonymous else {})
