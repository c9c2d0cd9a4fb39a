"""A failure of any other program: a build, an installer, a server, a library. Read only to name it as such.

``/usr/bin/ld: cannot find -lfoo``, ``main.cu(3): error: …``, ``ERROR: No matching distribution found for …``,
``[E …] Watchdog caught collective operation timeout: …``, ``panic: …``
"""

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = regex(
    r"(?:^|[\s:)\]])(?:fatal )?(?:[Ee]rror|ERROR|FATAL|CRITICAL)\b(?: [A-Z]{1,6}\d{3,6})?\]?: {0,3}(?=[^\s\d].{5})"
    r"(?!test\w{0,200} \()"
    r"|\bError\[\d{1,6}\]: "
    # exceptions in a sentence, errors with a number, and those of a server's log
    r"|\b[A-Z]\w{2,40}Error: (?=\S.{8})"
    r"|\b[Ee]rror \(?\d{1,6}\)?(?: at \S{1,300})? ?: |\bfailed to load '"
    # absl's: a status, and a check
    r"|(?:^|[\s:])(?:FAILED_PRECONDITION|INTERNAL|INVALID_ARGUMENT|NOT_FOUND"
    r"|RESOURCE_EXHAUSTED|UNAVAILABLE|UNIMPLEMENTED): (?=\S.{8})|\bCheck failed: "
    r"|\bGraph [Bb]reak (?:Reason: |due to )"
    r"|Watchdog caught |\bwatchdog got stuck\b|\bpanicked at |^panic: |\bSegmentation fault\b"
    r"|\bterminate called |: undefined symbol: "
    # a shell's, a loader's and a daemon's
    r"|^Error response from daemon: |: error while loading shared libraries: |: cannot open shared object file\b"
    r"|: (?:Permission denied|Read-only file system|No space left on device|command not found)\b"
    r"|\bCUDA driver version is insufficient\b|\bNo solution found when resolving\b"
    r"|\bcannot find -l|\bout of memory\b|^(?:FAILED|FAIL): |\bcore dumped\b|\bBUILD FAILED\b|\bCMake Error\b"
)
# What only sums up: the reason stands above it.
_SUMMARY = regex(
    r"make(?:\[\d{1,3}\])?: \*\*\*|collect2: |ninja: build stopped|linker command failed|command '\S{1,80}' failed"
    r"|^FAILED: (?:\[code=\d{1,4}\] )?\S{1,300}\.(?:o|obj|so)\b"
    r"|subprocess-exited-with-error|metadata-generation-failed|Failed building wheel"
    r"|exit (?:code|status)|: error: ld returned|failures? ha(?:s|ve) been detected while processing"
)

# argparse prints it above what it refuses, and above its help.
_USAGE = regex(r"usage: \S{1,200} \[-h\]")
_HELP = "show this help message and exit"


def is_summary(line: str) -> bool:
    """True for a line that says only that something above it failed."""
    return _SUMMARY.search(line) is not None


def _refuses_arguments(window: Window) -> bool:
    return _USAGE.match(window.line) is not None and not any(_HELP in line for line in window.after)


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if _refuses_arguments(window):
        return finding(window, Kind.OTHER, line, line, Specificity.TAIL)
    if not _STATED.search(line) or "warning" in line[:200].lower():
        return None
    return finding(window, Kind.OTHER, line, line, Specificity.TAIL)


RECOGNISER = Recogniser(
    anchors=(
        "rror: ",
        "ERROR",
        "FATAL",
        "CRITICAL",
        "rror ",
        "UNAVAILABLE: ",
        "INTERNAL: ",
        "INVALID_ARGUMENT: ",
        "NOT_FOUND: ",
        "RESOURCE_EXHAUSTED: ",
        "UNIMPLEMENTED: ",
        "FAILED_PRECONDITION: ",
        "Check failed: ",
        "usage: ",
        "driver version is",
        "No solution found",
        "Graph break",
        "Graph Break",
        "Error[",
        "failed to load",
        "Watchdog caught",
        "watchdog got stuck",
        "CUDA out of ",
        "panic",
        "undefined symbol",
        "cannot find -l",
        "FAILED: ",
        "FAIL: ",
        "BUILD FAILED",
        "Make Error at ",
        "core dumped",
        "Error response",
        "shared librar",
        "shared object",
        "ermission denied",
        "Read-only file",
        "No space left",
        "command not found",
        "error C",
        "error LNK",
    ),
    read=_read,
    examples=dict.fromkeys(
        (
            "ERROR: No matching distribution found for some-package==1.0",
            "main.cu(3): error: identifier x is undefined",
            "CMake Error: the source directory does not exist",
            "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9)",
            "panic: runtime error: index out of range",
            "/opt/bin/serve: error while loading shared libraries: libx.so.1: cannot open shared object file",
            "Error response from daemon: failed to create the task",
            "bash: ./run_stub: Permission denied",
            "F0000 00:00:1786851496.978840 3935773 shape.h:397] Check failed: has_layout() s32[]",
            "usage: train.py [-h] --model MODEL",
            "INTERNAL: the shape does not match",
        ),
        Kind.OTHER,
    ),
    most=Specificity.TAIL,
)
