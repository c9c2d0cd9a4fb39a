"""Native stack traces of a crash, as signal handlers and debuggers print them.

The function that crashed is the first frame that is neither the handler's nor LLVM's own.

LLVM:  ``#7 0x00007f92 mlir::triton::gpu::toLinearLayout(mlir::RankedTensorType) LinearLayoutConversions.cpp:1271:10``
macOS: ``7   triton-opt   0x00000001 mlir::triton::gpu::toLinearLayout(mlir::RankedTensorType) + 360``
gdb:   ``#5  0x00007f92 in mlir::triton::gpu::toLinearLayout (type=...) at /b/LinearLayoutConversions.cpp:1271``
lldb:  ``frame #5: 0x00007f92 libtriton.so`mlir::triton::gpu::toLinearLayout(type=...) at Conversions.cpp:1271:10``
sanitizers: ``#1 0x55d5 in mlir::triton::gpu::toLinearLayout(…) /b/LinearLayoutConversions.cpp:1271:10``
abseil: ``PC: @     0x7f92  (unknown)  mlir::triton::gpu::toLinearLayout()``, and further frames without ``PC:``
UCX: `` 1 0x0000000001012 mlir::triton::gpu::toLinearLayout()  /b/LinearLayoutConversions.cpp:1271``, or ``  ???:0``

Those of others, in which an address does not follow the number, are in ``native_frames``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.functions import demangled, function_name
from triage.logs.native_frames import shown_frame
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

# gdb leaves out the address at the start of a line of source: `#5  wait (id=1) at join.c:43`; users keep only the name.
_FRAME = regex(
    r"^\s{0,8}(?:#\d{1,3}\s{1,4}(?:0x[0-9a-f]{4,16} (?:in )?"
    r"|(?=<signal |[\w:~<>]{1,300}[^#]{0,300} \(|\w{1,80}::[^\s(]{1,300}$))"
    r"|\d{1,4}\s{1,4}\S{1,100}\s{1,24}0x[0-9a-f]{8,16} (?=.{1,4000} \+ \d{1,9}$)"
    r"|\d{1,3} 0x[0-9a-f]{8,16} (?=.{1,4000}  \S{1,1000}:\d{1,7}$)"
    r"|(?:\*\s{1,4})?frame #\d{1,4}: 0x[0-9a-f]{4,16} [^`]{1,200}`"
    r"|(?:PC: )?@\s{1,12}0x[0-9a-f]{4,16}\s{1,12}(?:\(unknown\)|\d{1,9})\s{1,8})"
    r"(?P<rest>\S.{0,4000})$"
)
# After a function: the offset into it, and lldb's notes.
_OFFSET = regex(r" \+ \d{1,9}$| {2}\?\?\?:0$| \[(?:opt|inlined|artificial)\]")
_SYMBOL = regex(r"(?<!\w)_Z\w{2,4000}")
# A frame that gdb or a terminal wrapped: `   from /x/libtriton.so`.
_WRAPPED = regex(r"\s{1,12}(?:from|at) \S")
# What gdb's `bt full` prints below a frame.
_LOCAL = regex(r"No (?:symbol table info available|locals)\.$| {8,80}[\w<>:~]{1,200} = \S")
# Where a debugger stopped; the frame of the same number below it may be cut off.
_STOPPED = regex(
    r"^(?:0x[0-9a-f]{4,16} in )?(?P<rest>[\w:~<>]{1,300}[^#]{0,600}? \(.{0,2000}\) (?:at|from) \S{1,1000})$"
)
# `ERROR: AddressSanitizer: heap-use-after-free on address …`
_SANITIZER = regex(r"\b(?:Address|Memory|HWAddress)Sanitizer: (?P<what>[\w-]{3,60})")
# `#3 0x7f in malloc_printerr (str=str@entry=0x7f "free(): invalid pointer") at malloc.c:5347`: glibc's error
_HEAP = regex(r"malloc_printerr \(str=(?:str@entry=)?(?:0x[0-9a-f]{1,16} )?\"(?P<what>[^\"]{1,200})\"")
# What was printed before abseil reports the signal, without a line end.
_PRINTED = regex(r"^(?P<what>\S.{7,300}?)[:\s]{1,3}\*{3} SIG[A-Z]{2,6} received by PID")
_SIGNAL = "received signal SIG"
# A debugger also stops at other signals, most often at Ctrl-C.
_FATAL = regex(r"\b(?:received|stop reason =) signal (?P<name>SIG(?:SEGV|BUS|ILL|FPE|ABRT))\b")
# As UCX and a server report the signal above the stack.
_CAUGHT = regex(
    r"\bstop reason = signal SIG\w"
    r"|\b[Cc]aught signal \d{1,2}\b|\b[Ss]ignal \(?\d{1,2}\)? received|\b[Ss]egmentation fault\b"
)
_HANDLER = "<signal handler called>"
# `(/lib/x86_64-linux-gnu/libc.so.6+0x42520)`: only an offset in a binary.
_UNNAMED = regex(r"\((?!anonymous )[^()]{1,1000}\)?$")
_FILE = regex(r"(?P<file>(?:[A-Za-z]:)?[^\s:()]{1,1000}\.\w{1,8}):(?P<line>\d{1,7})(?::\d{1,7})?$")
#: Frames of the signal handler and of the C library's path to it, which lie above the crash.
_MACHINERY = (
    "llvm::sys::", "PrintStackTrace", "SignalHandler", "raise", "__GI_", "gsignal", "__pthread", "pthread_kill",
    "_sigtramp", "__cxa_", "__cxxabiv1::", "malloc_", "_int_", "operator delete", "free(", "handler_SIG",
    "__restore_rt", "__sigaction", "killpg", "__libc_", "__futex", "__memcpy", "__memmove", "__run_exit", "exit (",
    "FailureSignalHandler",
)  # fmt: skip
# Frames of LLVM and MLIR, which Triton calls: the first other frame is closer to what failed.
_OF_LLVM = regex(
    r"(?:[\w:<>*& ]{1,200} )?(?:llvm::|std::|__gnu_cxx::|void std::"
    r"|mlir::(?:detail|impl|dataflow|arith|scf|cf|func|LLVM|memref|vector|Operation|Op[A-Z<]|Value|Type|Attribute|Region|Block"
    r"|RewriterBase|IRRewriter|PatternApplicator|RewritePattern|ConversionPattern|OperationConverter|apply(?:Patterns|Partial|Full)"
    r"|Pass(?:Manager)?\b|MLIRContext|StorageUniquer|RankedTensorType|DenseElementsAttr|DataFlow|walk\b)"
    r"|_?Py|pybind11::|nanobind::|cfunction_|lib\w{1,40}\.so)"
)
# Functions of LLVM's headers, which are inlined into the caller.
_IN_LLVM = regex(r"[/\\]include[/\\](?:mlir|llvm|c\+\+)[/\\]")
# Without symbols gdb names only the library that a frame is in.
_LIBRARY = regex(r"\(\) from \S{0,800}[/\\](?P<name>(?:libtriton|_cutlass_ir|_mlir)[\w.-]{0,100})$")
#: `MLIR_ENABLE_DIAGNOSTICS=stacktraces` puts this note and a stack below every remark.
_OF_DIAGNOSTIC = "diagnostic emitted with trace"
# The first line of a stack without its top: a signal's handler has fewer frames.
_INNER = regex(r"[\s*]{0,8}(?:frame )?#?(?:1[3-9]|[2-9]\d|\d{3})\b")
#: Maximum number of lines between a debugger's report of the signal and the first frame.
_NEAR = 3
_TITLE = "Stack:"
# Frames at which pasted stacks often begin.
_REPORTERS = ("assert_fail (", "  abort (")
_ABORTING = ("abort", "__assert", "raise", "__GI_abort", "gsignal")


@dataclass(frozen=True, slots=True)
class _Frame:
    name: str
    file: str | None
    line: int | None


def _frame(shown: str) -> _Frame | None:
    """The parts of a frame's text; None when it names no function."""
    if _UNNAMED.match(shown):
        return None
    # The file is the text's last word.
    source = _FILE.match(shown, max(shown.rfind(" "), shown.rfind("("), shown.rfind(")")) + 1)
    pretty = shown[: source.start()].removesuffix(" at ").rstrip() if source else shown.partition(" from ")[0]
    name = function_name(pretty.partition(" (")[0] if " (" in pretty and "::" in pretty else pretty)
    file = text.last_component(source["file"]) if source else None
    return _Frame(name, file, int(source["line"]) or None if source else None) if name and name != "??" else None


def _crashed(frames: Sequence[str]) -> _Frame | None:
    """The first frame that is neither the handler's nor LLVM's own; the first with a name where all are."""
    own = [shown for shown in frames if not shown.startswith((*_MACHINERY, *_ABORTING))]
    ours = (shown for shown in own if not _OF_LLVM.match(shown) and not _IN_LLVM.search(shown))
    return next((frame for shown in chain(ours, own) if (frame := _frame(shown))), None)


def is_stack(diagnosis: Diagnosis) -> bool:
    """True for a diagnosis that this recogniser made."""
    return diagnosis.message.startswith(_TITLE)


def located(frames: Sequence[str]) -> dict[str, Any] | None:
    """The function that crashed, with its file and line where the frames have them."""
    crashed = _crashed(frames)
    return {"function": crashed.name, "file": crashed.file, "line": crashed.line} if crashed else None


def _shown(line: str) -> str | None:
    """What a frame shows: its function, and its file and line; None for any other line."""
    if frame := _FRAME.match(line):
        shown, is_certain = _OFFSET.sub("", frame["rest"].rstrip()), True
    else:
        shown, is_certain = shown_frame(line) or ("", False)
    return _SYMBOL.sub(lambda symbol: demangled(symbol.group()), shown) if is_certain else None


def _frames(window: Window) -> list[str]:
    """The texts of the frames from the window's line on, each with the line it was wrapped to."""
    frames: list[str] = []
    for line in chain([window.line], window.after):
        if frame := _shown(line):
            frames.append(frame)
        elif frames and _WRAPPED.match(line):
            frames[-1] += f" {line.strip()}"
        elif not (frames and _LOCAL.match(line)):
            break
    return frames


def _stopped(lines: Iterable[str]) -> str | None:
    """The frame in which a debugger stopped."""
    return next((stopped["rest"] for line in lines if (stopped := _STOPPED.match(line.strip()))), None)


def _read(window: Window) -> Finding | None:
    if _SIGNAL in window.line:
        above = [window.line]
        below = list(islice(window.after, _NEAR))
        stopped = _stopped(below[:1])
        frames = [stopped] if stopped and not any(map(_shown, below)) else []
    elif _shown(window.line) is None or _continues(window.before) or _INNER.match(window.line):
        return None
    else:
        frames = _frames(window)
        above = [*window.before][-_NEAR:]
        if any(_SIGNAL in line for line in above) and (stopped := _stopped(above)):
            frames[0] = stopped
    if _HANDLER in frames:
        frames = frames[frames.index(_HANDLER) + 1 :]
    crashed = _crashed(frames)
    library = next((match["name"] for shown in frames if (match := _LIBRARY.search(shown))), None)
    if crashed is None and library is None:
        return None
    reports = [*map(_SANITIZER.search, above), *map(_HEAP.match, frames), *map(_PRINTED.match, above)]
    ended_by = next((match["what"] for match in reports if match), None)
    signal = next((match["name"] for line in above if (match := _FATAL.search(line))), None)
    aborted = any(shown.startswith(_ABORTING) for shown in frames)
    if ended_by is not None:
        aborted = ended_by != "SEGV"
    elif signal is not None:
        aborted = signal in ("SIGABRT", "SIGFPE")
    kind, how = (Kind.ABORT, "aborted") if aborted else (Kind.SEGFAULT, "crashed")
    how += f" ({signal})" if signal else ""
    caught = [line.strip() for line in above if _CAUGHT.search(line)]
    message = "\n".join([_TITLE, *caught[-1:], *frames[:16]])
    return finding(
        window,
        kind,
        f"{ended_by or f'The compiler {how}'} in {crashed.name if crashed else library}",
        message,
        Specificity.SYMPTOM,
        function=crashed.name if crashed else None,
        file=crashed.file if crashed else None,
        line=crashed.line if crashed else None,
    )


def _continues(before: Sequence[str]) -> bool:
    """True for a frame that is not the first of its stack, or that a remark emitted."""
    if not before:
        return False
    shown = [line for line in before if not _LOCAL.match(line)] or [before[-1]]
    above = shown[-2] if len(shown) > 1 and _WRAPPED.match(shown[-1]) else shown[-1]
    return _shown(above) is not None or _OF_DIAGNOSTIC in above


RECOGNISER = Recogniser(
    anchors=(
        ") [0x",
        ")[0x",
        "frame #0: ",
        " 0# ",
        ".so!",
        "!mlir::",
        "!triton::",
        " 0x0000",
        "#0  ",
        "#0 0x",
        "frame #0: 0x",
        "PC: @",
        _SIGNAL,
        *_REPORTERS,
    ),
    read=_read,
    examples={
        "#0 0x00007f01 llvm::sys::PrintStackTrace(int)\n#1 0x00007f02 mlir::A::f(int) A.cpp:1:2": Kind.SEGFAULT,
        "#4  __assert_fail () from /lib/libc.so.6\n#5  mlir::A::f (x=...) at /b/A.cpp:12": Kind.ABORT,
        "#0  mlir::A::f (this=0x0, n=3) at /b/A.cpp:12\n#1  0x00007f02 in main ()": Kind.SEGFAULT,
        'Thread 1 "python" received signal SIGSEGV, Segmentation fault.\n'
        "0x00007ff in mlir::A::f (this=0x0) at /b/A.h:54": Kind.SEGFAULT,
        "7   triton-opt   0x0000000102f1f6c8 mlir::A::f(int) const + 360": Kind.SEGFAULT,
        "* frame #0: 0x00007f01 libtriton.so`mlir::A::f(this=0x0) const at A.cpp:214:11": Kind.SEGFAULT,
        "    #0 0x55d5c8f3a1b2 in mlir::A::f(int) /b/A.cpp:1:2": Kind.SEGFAULT,
        " 1 0x00000000015db7ea mlir::A::f()  ???:0\n 2 0x00000000015db747 mlir::A::g()  /b/A.h:9": Kind.SEGFAULT,
        "PC: @     0x7f2b1c0d7a34  (unknown)  mlir::triton::f()": Kind.SEGFAULT,
    },
    most=Specificity.SYMPTOM,
)
