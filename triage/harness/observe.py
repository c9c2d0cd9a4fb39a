"""What a second, observed run tells: which pass was running, and the IR it was given.

From 3.3 on ``TRITON_REPRODUCER_PATH`` makes MLIR catch the failure and leave a file with the module and a pipeline
of the one pass that failed (``builtin.module(convert-nv-gpu-to-llvm)``); that costs nothing. Before 3.3 the file holds
the whole pipeline and says nothing, so the module is printed before every pass (``MLIR_ENABLE_DUMP=1``) under a header
that names it as ``mlir-opt`` spells it; the last header is the pass that failed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

LOG_TAIL = 48 << 20
"""Bytes of dump kept from the end: the module before the failing pass has to be in it (seen: up to 3 MB)."""
SLOWDOWN = 3.0
"""Printing the module before each of 45 to 78 passes takes time: the observed run's limit is this many times the
first one's."""
HANGING_S = 30.0
"""How long a compile that did not end is watched: the pass it is in by then is the one that does not end."""

# "IR Dump Before ConvertNVGPUToLLVM (convert-nv-gpu-to-llvm) ('builtin.module' …)"; 3.8 and later print
# "IR Dump Before ConvertTritonGPUToLLVM: convert-triton-gpu-to-llvm{compute-capability=90} (…)".
_HEADER = re.compile(
    r"^// -----// IR Dump Before [\w:<>]{1,200}(?: \(([\w-]{1,200})\)|: ([\w-]{1,200}))[^\n]*$", re.MULTILINE
)
_PIPELINE = re.compile(r'^\s*pipeline: "builtin\.module\(([\w-]{1,200})(?:\{[^{}"]*\})?\)"', re.MULTILINE)
_TRAILER = "\n{-#"
_CLOSING = re.compile(r"\}(?: loc\(.*\))?")
"""The end of a module, which has a location where those are printed."""


class How(Enum):
    """The two ways to observe."""

    REPRODUCER = "reproducer"
    DUMP = "dump"


def first_way(version: str) -> How:
    """The cheapest way that says something on a release."""
    parts = re.findall(r"\d+", version)[:2]
    return How.REPRODUCER if [int(part) for part in parts] >= [3, 3] else How.DUMP


def environment(how: How, folder: Path) -> dict[str, str]:
    """Variables for the observed run."""
    if how is How.REPRODUCER:
        return {"TRITON_REPRODUCER_PATH": str(folder / "reproducer.mlir")}
    return {"MLIR_ENABLE_DUMP": "1"}


def read(how: How, folder: Path, log: str) -> Observed | None:
    """What the observed run in ``folder`` showed; None when it does not name one pass."""
    return last_pass(log) if how is How.DUMP else _rewritten_reproducer(folder)


def _rewritten_reproducer(folder: Path) -> Observed | None:
    files = sorted(folder.glob("reproducer.mlir*"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in files:
        text = path.read_text(errors="replace")
        if found := _PIPELINE.search(text):
            return Observed(found.group(1), text.partition(_TRAILER)[0] + "\n", text)
    return None


@dataclass(frozen=True, slots=True)
class Observed:
    """The pass that was running, as ``mlir-opt`` spells it, the module it was given, and MLIR's reproducer if any."""

    pass_name: str
    module: str
    reproducer: str | None = None


def last_pass(log: str) -> Observed | None:
    """The last pass that a dump announces; None when there is none."""
    last: re.Match[str] | None = None
    for last in _HEADER.finditer(log):  # noqa: B007 - the last one is wanted
        pass
    if last is None:
        return None
    return Observed(last.group(1) or last.group(2), _module(log[last.end() + 1 :]))


def _module(text: str) -> str:
    """The IR at the beginning of ``text``: aliases, ``module … {`` to the ``}`` in the first column, locations."""
    end = 0
    closed = False
    for line in text.splitlines(keepends=True):
        if closed and line.strip() and not line.startswith("#"):
            break
        end += len(line)
        ended = _CLOSING.fullmatch(line.rstrip()) or (line.startswith("module ") and line.rstrip().endswith("}"))
        closed = closed or bool(ended)
    return text[:end]
