"""``report_fatal_error``: ``LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.setmaxnreg…``, then abort.

A text that ends in a colon continues on the next line. The error that a pass printed just before is often more precise
than the fatal line and becomes a note.
"""

from itertools import pairwise

from triage.logs.diagnostic_lines import error_before
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_ANCHORS = ("LLVM ERROR: ", "fatal error: error in backend: ")
_CLOSING = {"`": "`", '"': '"', "'": "'", "(": ")"}
#: What old releases print at the end of any failure of the last conversion.
_GENERIC = ("Failed to translate TritonGPU to LLVM IR", "Translate to LLVM IR failed")
#: What does not name the operation, which the error above it does.
_UNNAMED = ("Fatal pipeliner error",)
#: What LLVM's verifier ends in, below what it refuses.
_BROKEN = regex(r"(?P<what>Broken (?:function|module) found)")
_REFUSED = regex(r"[A-Z][^`:]{3,200}[!.]?$")
# The instruction that is refused.
_INSTRUCTION = regex(r"\s{1,4}(?:%|(?:tail )?call |store |ret |br |ptr |@)")


def error_text(line: str) -> str | None:
    """The text after the anchor, if the line has one."""
    for anchor in _ANCHORS:
        before, separator, error = line.partition(anchor)
        # Between quotation marks it is prose about such an error; one that is not closed begins a quotation of a log.
        if separator and _CLOSING.get(before[-1:], "\n") not in error:
            return error.strip()
    return None


def _refused(window: Window) -> str | None:
    """The first text of LLVM's verifier above the line that it ends in."""
    for line, below in pairwise(window.before):
        if _REFUSED.match(line) and _INSTRUCTION.match(below):
            return line.rstrip()
    return None


def _read(window: Window) -> Finding | None:
    error = error_text(window.line)
    if not error:
        return None
    lines = [window.line.strip()]
    shown = error
    if error.endswith(":") and window.after:
        lines.append(window.after[0].strip())
        shown = f"{error} {lines[-1]}"
    earlier = error_before(window)
    if error.endswith(":") and earlier:
        shown = f"{error} {earlier.text}"
    elif (broken := _BROKEN.match(error)) and (refused := _refused(window)):
        shown = f"{broken['what']}: {refused}"
    elif error in _UNNAMED and earlier:
        shown = f"{error}: {earlier.text}"
    return finding(
        window,
        Kind.LLVM_FATAL,
        f"LLVM gave up: {shown}",
        "\n".join(lines),
        Specificity.TAIL if error.startswith(_GENERIC) else Specificity.FATAL,
        locations=earlier.locations if earlier else (),
        notes=[earlier.text] if earlier else [],
    )


RECOGNISER = Recogniser(
    anchors=_ANCHORS,
    read=_read,
    examples={
        "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32": Kind.LLVM_FATAL,
        "fatal error: error in backend: Cannot select: intrinsic %llvm.nvvm.setmaxnreg.dec": Kind.LLVM_FATAL,
    },
    most=Specificity.FATAL,
)
