"""The end of a process, as a shell, a CI runner, Python's faulthandler or LLVM's signal handler report it.

It is the last resort: any other failure in the log is more specific.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from triage.logs import text
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind

#: The kind and the headline of each signal. SIGFPE and the like are aborts that the processor raised.
SIGNALS: dict[str, tuple[Kind, str]] = {
    "SIGSEGV": (Kind.SEGFAULT, "The compiler crashed with a segmentation fault (SIGSEGV)"),
    "SIGBUS": (Kind.SEGFAULT, "The compiler crashed with a bus error (SIGBUS)"),
    "SIGABRT": (Kind.ABORT, "The compiler aborted (SIGABRT) without a message"),
    "SIGFPE": (Kind.ABORT, "The compiler divided by zero (SIGFPE)"),
    "SIGILL": (Kind.ABORT, "The compiler executed an illegal instruction (SIGILL)"),
    "SIGTRAP": (Kind.ABORT, "The compiler ran into a trap (SIGTRAP)"),
    "SIGKILL": (Kind.KILLED, "The process was killed (SIGKILL)"),
    "SIGTERM": (Kind.KILLED, "The process was asked to end (SIGTERM)"),
    "SIGINT": (Kind.KILLED, "The process was interrupted (SIGINT)"),
    "SIGXCPU": (Kind.TIMEOUT, "The process used up its processor time (SIGXCPU)"),
}
# The signals of exit codes, as a shell and as Python give them.
_OF_CODE = {"139": "SIGSEGV", "-11": "SIGSEGV", "134": "SIGABRT", "-6": "SIGABRT", "137": "SIGKILL", "-9": "SIGKILL"}
_CODE = regex(r"\b(?:exit(?:ed with|ed)?|returned) ?(?:code|status|value)?[ :=]{1,4}\(?" rf"({'|'.join(_OF_CODE)})\b")
# A shell prints its own prefix first: `bash: line 1: 4242 Aborted   (core dumped) python x.py`.
_SHELL = r"^(?:.{0,200}[:\s])?"
#: Texts that report a signal: a part of each, the text, and the signal; the pattern's group where that is None.
_TEXTS = (
    (
        "SIG",
        regex(
            r"(?:^|[Ss]ignals?[ .:].{0,30}|[Rr]eceived |[Kk]illed by |[Tt]erminated by "
            r"|died with .{0,20}|\bexit.{0,40}\()"
            r"(SIG(?:SEGV|BUS|ABRT|FPE|ILL|TRAP|KILL))\b"
        ),
        None,
    ),
    ("egmentation fault", regex(r"(?:^|[:!] {1,8}|\d {1,8}|\()[Ss]egmentation fault\b"), "SIGSEGV"),
    ("Bus error", regex(r"\bBus error\b"), "SIGBUS"),
    ("Aborted", regex(_SHELL + r"Aborted(?: \(core dumped\))?(?:\s|$)"), "SIGABRT"),
    ("zsh: ", regex(r"^zsh: abort\b"), "SIGABRT"),
    ("IOT instr", regex(r"\bIOT instruction\b"), "SIGABRT"),
    (" abort ", regex(r"^\[\d{1,4}\] [ +-]{0,4}\d{1,9} abort "), "SIGABRT"),
    ("Floating point", regex(r"\bFloating point exception\b"), "SIGFPE"),
    ("Illegal instr", regex(r"\bIllegal instruction(?: \(core dumped\))?$"), "SIGILL"),
    (
        "Killed",
        regex(
            r"^(?:\S{1,80}: (?:line \d{1,6}: )?)?(?:\[\d{1,4}\][+-]? {1,4})?\s{0,40}(?:\d{1,9} )?"
            r"Killed(?:\s{2,}.{0,300})?$"
        ),
        "SIGKILL",
    ),
    ("zsh: ", regex(r"^zsh: killed\b"), "SIGKILL"),
)

#: An autotuner's own limit.
_TIMED_OUT = regex(r"\bTimeout after (?P<limit>\d{1,6}(?:\.\d{1,3})?) ?s compiling\b")
#: Python's faulthandler: the error, then the stack of each thread.
_FATAL, _CURRENT = "Fatal Python error: ", ("Current thread ", "Stack (most recent call first)")
_FRAME = regex(r'\s{1,8}File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9}) in (?P<function>[\w<>.]{1,200})')


def ended_by(signal: str, message: str) -> Diagnosis:
    """The diagnosis of a process when only the signal is known."""
    kind, shown = SIGNALS.get(signal, (Kind.UNKNOWN, f"The process was ended by {signal}"))
    return bounded_diagnosis(kind, shown, message)


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if timed_out := _TIMED_OUT.search(line):
        headline = f"A compile did not end within {timed_out['limit']} s"
        return Finding(bounded_diagnosis(Kind.TIMEOUT, headline, line), Specificity.TAIL, window.position)
    signal = _signal(line)
    if signal is None:
        return _crashed_thread(window, line)
    diagnosis = ended_by(signal, line)
    if line.startswith(_FATAL) and (frame := _current_frame(window.after)):
        file, number = text.last_component(frame["file"]), int(frame["line"])
        diagnosis = replace(diagnosis, file=file, line=number, function=frame["function"])
    return Finding(diagnosis, Specificity.TAIL, window.position)


def _crashed_thread(window: Window, line: str) -> Finding | None:
    """The stack of the thread that crashed, where the line that names the signal was not pasted."""
    frame = _FRAME.match(window.after[0]) if line.startswith(_CURRENT) and window.after else None
    if frame is None or any(above.startswith(_FATAL) for above in window.before):
        return None
    file, number = text.last_component(frame["file"]), int(frame["line"])
    headline = f"The process crashed in {frame['function']}, {file}:{number}"
    message = f"{line}\n{window.after[0]}"
    diagnosis = bounded_diagnosis(Kind.UNKNOWN, headline, message, file=file, line=number, function=frame["function"])
    return Finding(diagnosis, Specificity.TAIL, window.position)


def _current_frame(after: Sequence[str]) -> re.Match[str] | None:
    """The innermost Python frame of the thread that crashed, as faulthandler prints it."""
    lines = iter(after)
    if any(line.startswith(_CURRENT) for line in lines):
        return _FRAME.match(next(lines, ""))
    return None


def _signal(line: str) -> str | None:
    """The signal that a line reports."""
    for part, pattern, signal in _TEXTS:
        if part in line and (match := pattern.search(line)):
            return signal or match.group(1)
    code = _CODE.search(line)
    return _OF_CODE[code.group(1)] if code else None


RECOGNISER = Recogniser(
    anchors=(
        *dict.fromkeys(part for part, _, _ in _TEXTS),
        "exit code",
        "exit status",
        "exitcode",
        "exited with",
        "returned -",
        "Current thread ",
        "Timeout after ",
    ),
    read=_read,
    examples={
        "Segmentation fault (core dumped)": Kind.SEGFAULT,
        "Fatal Python error: Segmentation fault": Kind.SEGFAULT,
        "Aborted (core dumped)": Kind.ABORT,
        "SIGFPE, Arithmetic exception.": Kind.ABORT,
        "zsh: IOT instruction (core dumped)  python k.py": Kind.ABORT,
        "[1]    4242 abort      python k.py": Kind.ABORT,
        "[73s] Timeout after 60s compiling Config(block_sizes=[4], num_warps=4)": Kind.TIMEOUT,
        "Killed": Kind.KILLED,
        "[1]+  Killed                  python train.py": Kind.KILLED,
        "zsh: killed     python train.py": Kind.KILLED,
        "bash: line 1:  4242 Aborted                 (core dumped) python train.py": Kind.ABORT,
        "/run.sh: line 3:  4242 Segmentation fault      python train.py": Kind.SEGFAULT,
        "##[error]Process completed with exit code 134.": Kind.ABORT,
        "Process finished with exit code 139 (interrupted by signal 11: SIGSEGV)": Kind.SEGFAULT,
        "  exitcode  : -6 (pid: 12)": Kind.ABORT,
    },
    most=Specificity.TAIL,
)
