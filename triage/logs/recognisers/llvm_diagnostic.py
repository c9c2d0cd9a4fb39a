"""An error that LLVM's code generator prints and that, before 3.8, ended the process with a bare ``exit(1)``.

It has no place in the kernel: ``error: couldn't allocate output register for constraint 'x'``,
``error: <inline asm>:1:2: invalid instruction``, ``<unknown>:0: error: ran out of registers…``. On 3.8 and
3.9 it is printed and the compile goes on.
"""

from __future__ import annotations

import re

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.recognisers.mlir_diagnostic import split
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

_INLINE_ASM = re.compile(r"^(?:error: )?<inline asm>:\d{1,7}:\d{1,7}: (?:error: )?(?P<text>\S.{0,2000})")
# The beginnings of texts of LLVM's DiagnosticInfo and of its register allocators and inline-asm lowering.
_OF_LLVM = re.compile(
    r"(?:couldn't allocate |ran out of registers|invalid operand (?:for inline asm|in inline asm)|inline asm"
    r"|unknown (?:constraint|register)|no registers from class|register allocation failed|stack frame size"
    r"|unsupported (?:call|inline|library|indirect)|in function |<unknown>:\d|Don't know how to handle"
    r"|value out of range for constraint|couldn't |local memory |scratch |incomplete register"
    r"|non-trivial scalar-to-vector|scalar-to-vector conversion failed|undefined symbol)"
)


def words(line: str) -> str | None:
    """LLVM's words in the line; None when it is no diagnostic of LLVM's."""
    if asm := _INLINE_ASM.match(line):
        return asm["text"]
    located = split(line)
    if located is None or located.severity != "error" or located.locations or not located.text:
        return None
    # Anything else may be MLIR's, quoted without its place.
    return located.text if _OF_LLVM.match(located.text) else None


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    said = words(line)
    if said is None:
        return None
    diagnosis = Diagnosis(
        kind=Kind.LLVM_DIAGNOSTIC, headline=text.headline(f"LLVM: {said}"), message=text.message(line)
    )
    return Finding(diagnosis, Specificity.DIAGNOSTIC, window.position)


RECOGNISER = Recogniser("llvm-diagnostic", ("error: ", "<inline asm>:"), _read)
