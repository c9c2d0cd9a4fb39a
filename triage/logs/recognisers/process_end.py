"""How a process ended, as a shell, Python's faulthandler or LLVM's signal handler report it: the last resort."""

from __future__ import annotations

import re

from triage.diagnosis import Diagnosis, Kind
from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window

#: What a signal means here, and what to call it. SIGFPE and the like are aborts that the processor asked for.
SIGNALS: dict[str, tuple[Kind, str]] = {
    "SIGSEGV": (Kind.SEGFAULT, "The compiler crashed with a segmentation fault (SIGSEGV)"),
    "SIGBUS": (Kind.SEGFAULT, "The compiler crashed with a bus error (SIGBUS)"),
    "SIGABRT": (Kind.ABORT, "The compiler aborted (SIGABRT) without a message"),
    "SIGFPE": (Kind.ABORT, "The compiler divided by zero (SIGFPE)"),
    "SIGILL": (Kind.ABORT, "The compiler met an illegal instruction (SIGILL)"),
    "SIGTRAP": (Kind.ABORT, "The compiler ran into a trap (SIGTRAP)"),
    "SIGKILL": (Kind.KILLED, "The process was killed (SIGKILL)"),
    "SIGTERM": (Kind.KILLED, "The process was asked to end (SIGTERM)"),
    "SIGINT": (Kind.KILLED, "The process was interrupted (SIGINT)"),
    "SIGXCPU": (Kind.TIMEOUT, "The process used up its processor time (SIGXCPU)"),
}
#: Texts that stand for a signal.
_TEXTS = (
    (re.compile(r"\bSIG(?:SEGV|BUS|ABRT|FPE|ILL|TRAP|KILL)\b"), None),
    (re.compile(r"\bSegmentation fault\b"), "SIGSEGV"),
    (re.compile(r"\bBus error\b"), "SIGBUS"),
    (re.compile(r"^(?:.{0,200}[:\s])?Aborted(?: \(core dumped\))?(?:\s|$)"), "SIGABRT"),
    (re.compile(r"\bFloating point exception\b"), "SIGFPE"),
    (re.compile(r"\bIllegal instruction(?: \(core dumped\))?$"), "SIGILL"),
    (re.compile(r"^(?:.{0,200}[:\s])?Killed(?:\s{1,40}\S.{0,200})?$"), "SIGKILL"),
    (re.compile(r"\bexit(?:ed with)? (?:code|status):? 139\b"), "SIGSEGV"),
    (re.compile(r"\bexit(?:ed with)? (?:code|status):? 134\b"), "SIGABRT"),
    (re.compile(r"\bexit(?:ed with)? (?:code|status):? 137\b"), "SIGKILL"),
)


def ended_by(signal: str, message: str) -> Diagnosis:
    """The diagnosis of a process of which only the signal is known."""
    kind, shown = SIGNALS.get(signal, (Kind.UNKNOWN, f"The process was ended by {signal}"))
    return Diagnosis(kind=kind, headline=text.headline(shown), message=text.message(message))


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    for pattern, signal in _TEXTS:
        if match := pattern.search(line):
            named = signal or match.group()
            return Finding(ended_by(named, line), Specificity.TAIL, window.position)
    return None


RECOGNISER = Recogniser(
    "process-end",
    ("SIG", "Segmentation fault", "Bus error", "Aborted", "Floating point", "Illegal instr", "Killed", "exit"),
    _read,
)
