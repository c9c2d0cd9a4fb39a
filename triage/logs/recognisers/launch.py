"""The driver refused to load or run a kernel, or the kernel went wrong on the device."""

from __future__ import annotations

import re

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

# HIP's goes on with `Code: 1, Messsage: invalid argument` (sic).
_TRITON = re.compile(
    r"Triton Error \[(?P<driver>\w{1,16})\]: {1,4}(?:Code: \d{1,6}, Mess{1,2}age: )?(?P<text>\S.{0,300})"
)
_RUNTIME = re.compile(
    r"(?:CUDA|HIP|hip)? ?[Ee]rror: (?P<text>(?:an? )?(?:illegal (?:memory access|instruction|address)"
    r"|misaligned address|unspecified launch failure|device kernel image is invalid|no kernel image is available"
    r"|invalid device function|too many resources requested).{0,200})"
)
#: Found while loading the binary; everything else while launching or running it.
_LOADING = ("device kernel image is invalid", "no kernel image", "invalid device function")


def stated(line: str) -> str | None:
    """The driver's words in the line."""
    match = _TRITON.search(line) or _RUNTIME.search(line)
    return match["text"].strip() if match else None


def _read(window: Window) -> Finding | None:
    words = stated(window.line)
    if words is None:
        return None
    loading = words.startswith(_LOADING)
    diagnosis = Diagnosis(
        kind=Kind.LAUNCH_ERROR,
        headline=text.headline(f"The driver could not {'load' if loading else 'run'} the kernel: {words}"),
        message=text.message(window.line.strip()),
        stage="load" if loading else "launch",
    )
    return Finding(diagnosis, Specificity.DIAGNOSTIC, window.position)


RECOGNISER = Recogniser("launch-error", ("Triton Error [", "rror: "), _read)
