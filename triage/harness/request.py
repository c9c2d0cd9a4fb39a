"""What the engine takes, requests, and what it gives back, attempts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from triage import logs
from triage.harness.ir_tasks import IrTask
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage, Undecided


@dataclass(frozen=True, slots=True)
class FullCompile:
    """Compile the kernel through all stages. The only action whose outcome the store remembers.

    ``observe``: if it fails inside a pass pipeline, run it again, observed, to name the pass. ``keep``: keep the
    artifacts of a failure (log, IR, PTX). ``use_cache``: a remembered outcome may answer. ``entry``: a folder that does
    not exist yet, to which the finished entry of Triton's cache is moved; the kernel is then compiled under the names
    and at the line numbers that its capture recorded (``origin``'s ``functions``).
    """

    observe: bool = False
    keep: bool = False
    use_cache: bool = True
    entry: Path | None = None


@dataclass(frozen=True, slots=True)
class PartialCompile:
    """Compile the kernel and stop after the stage ``until``; what was compiled then counts as the whole, and of its
    resources only those that the metadata state are known. ``observe``: as for FullCompile."""

    until: Stage
    observe: bool = False


Action = FullCompile | PartialCompile | IrTask


@dataclass(frozen=True, slots=True)
class Request:
    """One action on one case with one toolchain. ``tag`` is the caller's own and comes back with the attempt."""

    case: Case
    toolchain: Toolchain
    limits: Limits = field(default_factory=Limits)
    action: Action = field(default_factory=FullCompile)
    tag: Any = None


@dataclass(frozen=True)
class Attempt:
    """The answer to one request. ``cached``: it was remembered, nothing ran."""

    request: Request
    result: Outcome | Undecided
    cached: bool = False

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What the failure is; None when the case compiles or when triage could not tell."""
        if isinstance(self.result, Undecided):
            return None
        return logs.diagnose_outcome(self.result, self.request.case.path)
