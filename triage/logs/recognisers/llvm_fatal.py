"""``report_fatal_error``: ``LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.setmaxnreg…``, then abort.

A text that ends in a colon goes on with the next line. What a pass printed just before often says more than
the fatal line does, so it is kept as a note.
"""

from __future__ import annotations

from triage.ir.locations import users_location
from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.recognisers.mlir_diagnostic import error_before
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

_ANCHORS = ("LLVM ERROR: ", "fatal error: error in backend: ")
#: What old releases say at the end of any failure of the last conversion.
_GENERIC = ("Failed to translate TritonGPU to LLVM IR", "Translate to LLVM IR failed")


def subject(line: str) -> str | None:
    """The text after the anchor, if the line has one."""
    for anchor in _ANCHORS:
        before, found, rest = line.partition(anchor)
        # After a quotation mark it is somebody's prose about such an error.
        if found and not before.endswith(("`", '"', "'", "(")):
            return rest.strip()
    return None


def _read(window: Window) -> Finding | None:
    stated = subject(window.line)
    if not stated:
        return None
    lines = [window.line.strip()]
    shown = stated
    if stated.endswith(":") and window.after:
        lines.append(window.after[0].strip())
        shown = f"{stated} {lines[-1]}"
    earlier = error_before(window)
    if stated.endswith(":") and earlier:
        shown = f"{stated} {earlier[0]}"
    locations = earlier[1] if earlier else ()
    diagnosis = Diagnosis(
        kind=Kind.LLVM_FATAL,
        headline=text.headline(f"LLVM gave up: {shown}"),
        message=text.message("\n".join(lines)),
        source=users_location(locations),
        notes=text.notes([earlier[0]] if earlier else []),
    )
    generic = stated.startswith(_GENERIC)
    return Finding(diagnosis, Specificity.TAIL if generic else Specificity.FATAL, window.position, locations)


RECOGNISER = Recogniser("llvm-fatal", _ANCHORS, _read)
