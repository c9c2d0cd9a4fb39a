"""The case of a first compile for the GPU of this machine, which prepares a worker."""

from __future__ import annotations

from pathlib import Path

from triage.harness.machine.clock import Clock
from triage.harness.machine.gpus import gpus
from triage.model.case import Case, frozen
from triage.model.target import Target

_KERNEL = """import triton


@triton.jit
def warm():
    pass
"""
_PATIENCE_S = 5.0


def warm_case(folder: Path) -> Case | None:
    """A kernel that does nothing, for the first GPU here; None without one."""
    target = next((gpu.target for gpu in gpus(Clock(_PATIENCE_S)) if gpu.target is not None), None)
    if target is None:
        return None
    (folder / "warm.py").write_text(_KERNEL)
    return Case(folder=folder, file="warm.py", name="warm", signature=frozen(), target=Target.parse(target))
