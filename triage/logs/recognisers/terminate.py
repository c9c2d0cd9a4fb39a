"""An uncaught C++ exception, or a heap that glibc found corrupted: an abort that states its reason.

::

    terminate called after throwing an instance of 'std::out_of_range'
      what():  map::at
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_TERMINATE = "terminate called"
_INSTANCE = regex(r"instance of '([^']{1,300})'")
_OF_TORCH = "instance of 'c10::"
_HEAP = regex(
    r"^(?:[\w.-]{1,100}: )?(?P<text>(?:double free or corruption|corrupted (?:size|double-linked|unsorted)"
    r"|free\(\): |malloc\(\): |munmap_chunk\(\): |realloc\(\): |\*\*\* stack smashing).{0,200})"
)


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if heap := _HEAP.match(line):
        shown, message = f"The heap was found corrupted: {heap['text']}", line
    elif line.startswith(_TERMINATE):
        instance = _INSTANCE.search(line)
        what = window.after[0].strip() if window.after else ""
        reason = what.removeprefix("what():").strip() if what.startswith("what():") else ""
        parts = [part for part in (instance.group(1) if instance else "", reason) if part]
        shown = "Uncaught C++ exception" + (f" {': '.join(parts)}" if parts else "")
        message = f"{line}\n{what}" if reason else line
    else:
        return None
    # Triton 1.x throws what the driver returned.
    kind = Kind.LAUNCH_ERROR if "triton::driver::exception::" in line else Kind.ABORT
    # torch's own exceptions end the process after the one that a line above states, as its streams are destroyed.
    specificity = Specificity.SYMPTOM if _OF_TORCH in line else Specificity.FATAL
    return finding(window, kind, shown, message, specificity)


RECOGNISER = Recogniser(
    anchors=(_TERMINATE, "double free", "corrupted ", "free(): ", "alloc(): ", "_chunk(): ", "stack smashing"),
    read=_read,
    examples={
        "terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at": Kind.ABORT,
        "terminate called after throwing an instance of 'triton::driver::exception::cuda::illegal_address'\n"
        "  what():  CUDA: Error- illegal address": Kind.LAUNCH_ERROR,
        "free(): invalid pointer": Kind.ABORT,
    },
    most=Specificity.FATAL,
)
