"""The end of a process, as a shell, a CI runner, Python's faulthandler or LLVM's signal handler report it.

This recogniser has the lowest priority: any other failure in the log is more specific.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from triage.logs import text
from triage.logs.cute_texts import OF_PACKAGE, OF_WORKER
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation

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
    ("Segfault encountered", regex(r"!{3,10} Segfault encountered !{3,10}"), "SIGSEGV"),  # TVM's FFI
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

#: The timeout of an autotuner.
_TIMED_OUT = regex(r"\bTimeout after (?P<limit>\d{1,6}(?:\.\d{1,3})?) ?s compiling\b")
#: Python's faulthandler: the error, then the stack of each thread.
_FATAL, _CURRENT = "Fatal Python error: ", ("Current thread ", "Stack (most recent call first)")
# Errors that Python detects itself before it aborts; the other fatal errors report a signal.
_PYTHON_ABORT = regex(
    r"^Fatal Python error: (?P<what>(?!Segmentation fault|Aborted|Bus error|Illegal instruction|Floating)"
    r"[A-Za-z_]\S{0,80}: \S.{3,400})"
)
#: The modules of CuTe DSL in which each function builds an operation.
BUILDERS = ("_ops_gen.py", "_ops_ext.py")
_COMPILER = regex(r"[\\/]base_dsl[\\/]compiler\.py$")
_FRAME = regex(r'\s{0,8}File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9}) in (?P<function>[\w<>.]{1,200})')


def ended_by(signal: str, message: str) -> Diagnosis:
    """The diagnosis of a process when only the signal is known."""
    kind, shown = SIGNALS.get(signal, (Kind.UNKNOWN, f"The process was ended by {signal}"))
    return bounded_diagnosis(kind, shown, message)


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if timed_out := _TIMED_OUT.search(line):
        headline = f"A compile did not end within {timed_out['limit']} s"
        return Finding(bounded_diagnosis(Kind.TIMEOUT, headline, line), Specificity.TAIL, window.position)
    python_abort, signal = _PYTHON_ABORT.match(line), _signal(line)
    if python_abort:
        kind = Kind.SEGFAULT if "segmentation fault" in line.lower() else Kind.ABORT
        diagnosis = bounded_diagnosis(kind, python_abort["what"], line)
    elif signal is None:
        return _crashed_thread(window, line)
    else:
        diagnosis = ended_by(signal, line)
    frames = _frames(window.after) if _FATAL in line else []
    frames = list(takewhile(lambda frame: not OF_WORKER.search(frame["file"]), frames))
    # Python's own import system has no file.
    frames = [frame for frame in frames if not frame["file"].startswith("<frozen ")]
    if frames and any(OF_PACKAGE.search(frame["file"]) for frame in frames):
        return _in_cute(window, diagnosis, frames)
    if frames:
        file, number = text.last_component(frames[0]["file"]), int(frames[0]["line"])
        message = text.message(f"{line}\n{frames[0].group()}")
        diagnosis = replace(diagnosis, message=message, file=file, line=number, function=frames[0]["function"])
    return Finding(diagnosis, Specificity.TAIL, window.position)


def _in_cute(window: Window, diagnosis: Diagnosis, frames: list[re.Match[str]]) -> Finding:
    """The end of a process in CuTe DSL, in an operation builder or in a pass, with the user's line."""
    inner = list(takewhile(lambda frame: OF_PACKAGE.search(frame["file"]), frames))
    builder = next((frame for frame in inner if _builds(frame)), None)
    users = next((frame for frame in frames if not OF_PACKAGE.search(frame["file"]) and "<" not in frame["file"]), None)
    in_passes = any(frame["function"] == "compile" and _COMPILER.search(frame["file"]) for frame in inner)
    shown = frames[: frames.index(users) + 1] if users else inner
    source = None if users is None or in_passes else SourceLocation(users["file"], int(users["line"]))
    headline = diagnosis.headline
    if builder is not None:
        headline += f" in {builder['function']}, which builds an operation"
    elif in_passes:
        headline += " in its passes"
    diagnosis = replace(
        diagnosis,
        headline=text.headline(headline),
        message=text.message("\n".join([window.line.strip(), *(frame.group() for frame in shown)])),
        file=text.last_component(builder["file"]) if builder else None,
        line=int(builder["line"]) if builder else None,
        function=builder["function"] if builder else None,
        source=source,
        stage="passes" if in_passes else "trace",
        compiler=CUTE,
    )
    locations = (source,) if source else ()
    return Finding(diagnosis, Specificity.TAIL, window.position, locations)


def _builds(frame: re.Match[str]) -> bool:
    """True for the function that builds an operation; the class that it instantiates first means nothing to users."""
    return bool(frame["file"].endswith(BUILDERS)) and frame["function"] != "__init__"


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


def _frames(after: Sequence[str]) -> list[re.Match[str]]:
    """The Python frames of the thread that crashed, as faulthandler prints them: innermost first."""
    lines = filter(str.strip, after)
    if not any(line.startswith(_CURRENT) for line in lines):
        return []
    return [frame for frame in takewhile(bool, map(_FRAME.match, lines)) if frame]


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
        *_CURRENT,
        _FATAL,
        "Timeout after ",
    ),
    read=_read,
    examples={
        "Segmentation fault (core dumped)": Kind.SEGFAULT,
        "Fatal Python error: Segmentation fault": Kind.SEGFAULT,
        "Fatal Python error: take_gil: the state is of another thread": Kind.ABORT,
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
