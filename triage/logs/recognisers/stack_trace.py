"""The native stack of a crash, as LLVM's signal handler or gdb print it, names the function that crashed.

That is the first frame that is neither the handler's nor LLVM's own.

LLVM: ``#7 0x00007f92 mlir::triton::gpu::toLinearLayout(mlir::RankedTensorType) LinearLayoutConversions.cpp:1271:10``
gdb:  ``#5  0x00007f92 in mlir::triton::gpu::toLinearLayout (type=...) at /b/LinearLayoutConversions.cpp:1271``
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.functions import function_name
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

_FRAME = re.compile(r"^\s{0,8}#\d{1,3}\s{1,4}0x[0-9a-f]{4,16} (?:in )?(?P<rest>\S.{0,4000})$")
# `(/lib/x86_64-linux-gnu/libc.so.6+0x42520)`: only an offset in a binary.
_UNNAMED = re.compile(r"\((?!anonymous )[^()]{1,1000}\)?$")
_FILE = re.compile(r"(?P<file>[^\s:()]{1,1000}\.\w{1,8}):(?P<line>\d{1,7})(?::\d{1,7})?$")
#: Frames of the signal handler and of the C library's path to it, which lie above the crash.
_MACHINERY = ("llvm::sys::", "PrintStackTrace", "SignalHandler", "raise", "__GI_", "gsignal", "__pthread_kill")
# Frames of LLVM and MLIR, which Triton calls: the first other frame is closer to what failed.
_OF_LLVM = re.compile(
    r"(?:[\w:<>*& ]{1,200} )?(?:llvm::|std::|__gnu_cxx::|void std::"
    r"|mlir::(?:detail|impl|dataflow|arith|scf|cf|func|LLVM|memref|vector|Operation|Op[A-Z<]|Value|Type|Attribute|Region|Block"
    r"|RewriterBase|IRRewriter|PatternApplicator|RewritePattern|ConversionPattern|OperationConverter|apply(?:Patterns|Partial|Full)"
    r"|Pass(?:Manager)?\b|MLIRContext|StorageUniquer|RankedTensorType|DenseElementsAttr|DataFlow|walk\b)"
    r"|_?Py|pybind11::|nanobind::|cfunction_|lib\w{1,40}\.so)"
)
#: `MLIR_ENABLE_DIAGNOSTICS=stacktraces` puts this note and a stack below every remark.
_OF_DIAGNOSTIC = "diagnostic emitted with trace"
_TITLE = "Stack:"
_ABORTING = ("abort", "__assert", "raise", "__GI_abort", "gsignal")


@dataclass(frozen=True, slots=True)
class _Frame:
    text: str
    name: str | None
    file: str | None
    line: int | None


def _frame(line: str) -> _Frame | None:
    match = _FRAME.match(line)
    if match is None:
        return None
    rest = match["rest"].rstrip()
    if _UNNAMED.match(rest):
        return _Frame(rest, None, None, None)
    source = _FILE.search(rest)
    pretty = rest[: source.start()].removesuffix(" at ").rstrip() if source else rest.partition(" from ")[0]
    name = function_name(pretty.partition(" (")[0] if " (" in pretty and "::" in pretty else pretty)
    file = text.last_component(source["file"]) if source else None
    return _Frame(rest, name, file, int(source["line"]) if source else None)


def is_stack(diagnosis: Diagnosis) -> bool:
    """True for a diagnosis that this recogniser made."""
    return diagnosis.message.startswith(_TITLE)


def _read(window: Window) -> Finding | None:
    first = _frame(window.line)
    if first is None or (window.before and _FRAME.match(window.before[-1])):
        return None  # not a frame, or not the first of its stack
    if window.before and _OF_DIAGNOSTIC in window.before[-1]:
        return None
    frames = [first]
    for following in window.after:
        frame = _frame(following)
        if frame is None:
            break
        frames.append(frame)
    aborted = any(frame.text.startswith(_ABORTING) for frame in frames)
    skipped = (*_MACHINERY, *_ABORTING)
    named = [frame for frame in frames if frame.name and not frame.text.startswith(skipped)]
    crashed = next((frame for frame in named if not _OF_LLVM.match(frame.text)), named[0] if named else None)
    if crashed is None:
        return None
    kind, how = (Kind.ABORT, "aborted") if aborted else (Kind.SEGFAULT, "crashed")
    message = "\n".join([_TITLE, *(frame.text for frame in frames[:16])])
    return finding(
        window,
        kind,
        f"The compiler {how} in {crashed.name}",
        message,
        Specificity.SYMPTOM,
        function=crashed.name,
        file=crashed.file,
        line=crashed.line,
    )


RECOGNISER = Recogniser(
    anchors=(" 0x0000",),
    read=_read,
    examples={"#0 0x00007f01 llvm::sys::PrintStackTrace(int)\n#1 0x00007f02 mlir::A::f(int) A.cpp:1:2": Kind.SEGFAULT},
)
