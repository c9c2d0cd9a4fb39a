"""What the engine takes and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.harness import ir
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.outcome import Outcome, Stage, Undecided


@dataclass(frozen=True, slots=True)
class Request:
    """One case to compile with one toolchain.

    ``observe``: when it fails inside a pass pipeline, run it once more, observed, to name the pass.
    ``keep``: keep what the compiler left of a failure (log, IR, PTX). ``use_cache``: a remembered outcome will do.
    ``until``: stop behind that stage; what was compiled so far then counts as the whole, and of its resources only what
    the metadata say is known. Such an outcome is no answer to other requests: not with ``use_cache``.
    ``task``: do that with the kernel's IR instead of a plain compile; not with ``use_cache`` or ``observe`` either.
    ``entry``: a folder, not there yet, for what Triton's cache holds of a compile that goes well; the kernel is then
    compiled under the names and at the lines that its capture says it has in its program (``origin``'s ``functions``).
    ``tag`` is the caller's own and comes back with the answer.
    """

    case: Case
    toolchain: Toolchain
    limits: Limits = field(default_factory=Limits)
    observe: bool = False
    keep: bool = False
    use_cache: bool = True
    until: Stage | None = None
    task: ir.Task | None = None
    entry: Path | None = None
    tag: Any = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """The answer to one request. ``cached``: it was remembered, nothing ran."""

    request: Request
    result: Outcome | Undecided
    cached: bool = False
