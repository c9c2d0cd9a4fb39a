"""What is taken down to its IR: a kernel on disk, and how it fails."""

from __future__ import annotations

from dataclasses import dataclass

from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.minimize.oracle import Failure
from triage.model.case import Case


@dataclass(frozen=True, slots=True)
class Kernel:
    """``repeat``: runs a candidate, as many as it takes to see a failure that does not always show."""

    case: Case
    failure: Failure
    toolchain: Toolchain
    limits: Limits
    repeat: int
