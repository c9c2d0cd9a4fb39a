"""An error of LLVM's code generator, which has no location in the kernel.

``error: couldn't allocate output register for constraint 'x'``, ``error: <inline asm>:1:2: invalid instruction``,
``<unknown>:0: error: ran out of registers…``. Before 3.8 it ended the process with a bare ``exit(1)``; on 3.8 and
3.9 it is printed and the compile goes on.
"""

from triage.logs.diagnostic_lines import parse
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind, SourceLocation

_INLINE_ASM = regex(r"^(?:error: )?<inline asm>:\d{1,7}:\d{1,7}: (?:error: )?(?P<text>\S.{0,2000})")
# Printed as a warning, but no code for such a GPU can be generated.
_PROCESSOR = regex(r"^'(?:sm_|gfx)\w{1,20}' is not a recognized processor for this target")
# clang's order, of the optimiser's remarks and of limits on resources: `error: kernel.py:211:0: stack frame size …`.
_LOCATED = regex(r"^error: (?P<file>[^\s:]{1,400}):(?P<line>\d{1,7}):(?P<column>\d{1,7}): (?P<text>\S.{0,2000})")
# How texts of LLVM's DiagnosticInfo and of its register allocators and inline-asm lowering begin. lld shows names as
# they were written; a mangled one is the dynamic loader's.
_OF_LLVM = regex(
    r"(?:(?:couldn't|could not) allocate |ran out of registers|inline asm"
    r"|invalid operand (?:for inline asm|in inline asm)"
    r"|unknown (?:asm constraint|constraint|register)|no registers from class|register allocation failed"
    r"|stack frame size"
    r"|unsupported (?:call|inline|library|indirect)|in function |<unknown>:\d|Don't know how to handle"
    r"|value out of range for constraint|couldn't |local memory |scratch |incomplete register"
    r"|non-trivial scalar-to-vector|scalar-to-vector conversion failed|undefined symbol(?!: _Z))"
)


def error_text(line: str) -> str | None:
    """The text of LLVM's error in the line; None when it is not an error of LLVM's."""
    if asm := _INLINE_ASM.match(line):
        return asm["text"]
    if _PROCESSOR.match(line):
        return line
    if located := _LOCATED.match(line):
        return located["text"] if _OF_LLVM.match(located["text"]) else None
    diagnostic = parse(line)
    if diagnostic is None or diagnostic.severity != "error" or diagnostic.locations or not diagnostic.text:
        return None
    # Any other text may be MLIR's, quoted without its location.
    return diagnostic.text if _OF_LLVM.match(diagnostic.text) else None


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    error = error_text(line)
    if error is None:
        return None
    located = _LOCATED.match(line)
    locations = (SourceLocation(located["file"], int(located["line"])),) if located else ()
    specificity = Specificity.TAIL if _PROCESSOR.match(line) else Specificity.DIAGNOSTIC
    return finding(window, Kind.LLVM_DIAGNOSTIC, f"LLVM: {error}", specificity=specificity, locations=locations)


RECOGNISER = Recogniser(
    anchors=("error: ", "<inline asm>:", "is not a recognized processor"),
    read=_read,
    examples={
        "error: couldn't allocate output register for constraint 'x'": Kind.LLVM_DIAGNOSTIC,
        "<unknown>:0: error: ran out of registers during register allocation": Kind.LLVM_DIAGNOSTIC,
        "error: <inline asm>:1:2: invalid instruction": Kind.LLVM_DIAGNOSTIC,
        "error: k.py:211:0: stack frame size (164332) exceeds limit (131056) in function 'k'": Kind.LLVM_DIAGNOSTIC,
    },
)
