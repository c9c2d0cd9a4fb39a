"""What ptxas or libNVVM says, in the text with which CuTe DSL's pass pipeline fails until release 4.5.

``error: "<module>"("k.py":10:0): NVPTX compiler invocation failed, error log: ptxas application ptx input, line 18;
error   : Positive non-zero value expected for reqntid``; ``error: unknown: Failed to generate PTX from the compilation
unit) (error 9: NVVM_ERROR_COMPILATION), libNVVM extra log: error: tcgen05.alloc supported only on …``
"""

from itertools import islice

from triage.logs.cute_back_end import back_end_error
from triage.logs.diagnostic_lines import parse
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Kind

#: Lines of a log that begins below the line that announces it.
_MOST_BELOW = 2
# The name of an error of libNVVM's and nothing else: other programs that call it print that as well.
_NAME = regex(r"\s*NVVM_ERROR_\w{1,40}\s*")
_ANCHORS = ("NVPTX compiler invocation failed", "libNVVM extra log", "NVVM_ERROR_")


def _read(window: Window) -> Finding | None:
    if _NAME.fullmatch(window.line):
        return None
    diagnostic = parse(window.line)
    stated = diagnostic.text if diagnostic and diagnostic.severity == "error" else window.line.strip()
    error = back_end_error([stated, *islice(window.after, _MOST_BELOW if stated.endswith(":") else 0)])
    if error is None:
        return None
    located = (error.location,) if error.location else ()
    return finding(
        window,
        error.kind,
        error.headline,
        error.text,
        Specificity.DIAGNOSTIC if error.has_cause else Specificity.SYMPTOM,
        locations=(*located, *(diagnostic.locations if diagnostic else ())),
        stage=error.stage,
    )


RECOGNISER = Recogniser(
    anchors=_ANCHORS,
    read=_read,
    examples={
        "error: unknown: NVPTX compiler invocation failed, error log: ptxas application, line 5; error   : bad": (
            Kind.PTXAS
        ),
        "error: unknown: Failed to generate PTX (error 9: NVVM_ERROR_COMPILATION), libNVVM extra log: error: bad": (
            Kind.LLVM_DIAGNOSTIC
        ),
    },
    compiler=CUTE,
)
