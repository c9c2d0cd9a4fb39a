"""A second, observed run of a failing compile: which pass was running, and on which module.

From 3.3 on ``TRITON_REPRODUCER_PATH`` makes MLIR catch the failure and write a file with the module and a pipeline
of the one pass that failed (``builtin.module(convert-nv-gpu-to-llvm)``); that costs nothing. Before 3.3 the file has
the whole pipeline and shows nothing, so the module is printed before every pass (``MLIR_ENABLE_DUMP=1``) under a header
with the pass as ``mlir-opt`` spells it; the last header is that of the pass that failed.
"""

from enum import Enum
from pathlib import Path

from triage.filesystem.files import read_file
from triage.harness.artifacts import MOST_BYTES
from triage.ir import passes
from triage.ir.passes import PassInput
from triage.model.releases import in_range

LOG_TAIL = 48 << 20
"""Bytes of dump kept from the end: the module before the failing pass has to be in it (seen: up to 3 MB)."""
SLOWDOWN = 3.0
"""Printing the module before each of 45 to 78 passes takes time: the observed run's limit is this many times the
first one's."""
HANGING_S = 30.0
"""How long a compile that did not end is observed: the pass that runs by then is the one that does not end."""


class How(Enum):
    """The two ways to observe."""

    REPRODUCER = "reproducer"
    DUMP = "dump"


def first_way(version: str) -> How:
    """The cheapest way that names the pass on a release."""
    return How.REPRODUCER if in_range(version, ">=3.3") else How.DUMP


def environment(how: How, folder: Path) -> dict[str, str]:
    if how is How.REPRODUCER:
        return {"TRITON_REPRODUCER_PATH": str(folder / "reproducer.mlir")}
    return {"MLIR_ENABLE_DUMP": "1"}


def read(how: How, folder: Path, log: str) -> PassInput | None:
    """What the observed run in ``folder`` showed; None when it does not name one pass."""
    if how is How.DUMP:
        return passes.last_pass(log)
    files = sorted(folder.glob("reproducer.mlir*"), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
    return next(filter(None, (passes.reproduced(_text(path, folder)) for path in files)), None)


def _text(path: Path, folder: Path) -> str:
    """The text of a file that the compiler wrote; empty for what the kernel's module put in its place."""
    try:
        return read_file(path, folder, MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
