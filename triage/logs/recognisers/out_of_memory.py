"""The compiler, or Python around it, could not allocate memory and printed that itself."""

from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = regex(
    r"LLVM ERROR: out of memory|std::bad_alloc|^MemoryError(?::|\s*$)"
    r"|[Oo]ut of memory: Killed process|\boom-kill(?:er)?\b|\bOOMKilled\b"
)


def _read(window: Window) -> Finding | None:
    if _STATED.search(window.line) is None:
        return None
    line = window.line.strip()
    exception = "MemoryError" if window.line.startswith("MemoryError") else None
    headline = f"Out of memory while compiling: {line}"
    return finding(window, Kind.OUT_OF_MEMORY, headline, line, Specificity.FATAL, exception=exception)


RECOGNISER = Recogniser(
    anchors=("out of memory", "Out of memory", "std::bad_alloc", "MemoryError", "oom-kill", "OOMKilled"),
    read=_read,
    examples=dict.fromkeys(
        (
            "LLVM ERROR: out of memory",
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
            "MemoryError",
            "Reason: OOMKilled, exit code 137",
            "kernel: Out of memory: Killed process 4242 (python)",
        ),
        Kind.OUT_OF_MEMORY,
    ),
    most=Specificity.FATAL,
)
