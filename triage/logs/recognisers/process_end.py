"""The end of a process, as a shell, a CI runner, an operating system's log, Python's faulthandler or LLVM's signal
handler report it.

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
from triage.logs.signals import CODE, NUMBERS, ended_by, of_exit_code
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation

_CODE = regex(
    r"\b(?:[Ee]xit(?:ed with|ed)?|returned|crashed with|died with|ended with)"
    rf" ?(?:code|status|value)?(?: is)?[ :=]{{1,4}}\(?(?P<code>{CODE})\b"
)
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
    ("breakpoint trap", regex(_SHELL + r"Trace/breakpoint trap\b"), "SIGTRAP"),
    ("*** [", regex(r"^\S{0,80}make(?:\[\d{1,3}\])?: \*{3} \[.{1,300}\] Segmentation fault\b"), "SIGSEGV"),
    # The kernel's log.
    ("segfault at ", regex(r"\]: segfault at [0-9a-f]{1,16} ip "), "SIGSEGV"),
    ("general protection", regex(r"\[\d{1,9}\] general protection (?:fault )?ip:"), "SIGSEGV"),
    ("trap invalid opcode", regex(r"\[\d{1,9}\] trap invalid opcode ip:"), "SIGILL"),
    ("trap divide error", regex(r"\[\d{1,9}\] trap divide error ip:"), "SIGFPE"),
    ("trap int3", regex(r"\[\d{1,9}\] trap int3 ip:"), "SIGTRAP"),
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

# A signal's number: `terminated by signal 11`, `Signal: 11 (SEGV)`.
_NUMBER = regex(
    r"(?:(?:terminated|killed|died|ended|stopped|crashed) (?:by|with|on|from) signal:? |\bSignal: )"
    rf"({'|'.join(map(str, NUMBERS))})(?![\w.])"
)
# What Windows' event log and its debuggers say, with the module above the code or before it.
_WINDOWS = regex(
    r"^(?:Exception [Cc]ode: {1,20}"
    r"|Unhandled exception at 0x[0-9A-Fa-f]{8,16} (?:\((?P<in>[^)\s]{1,200})\) )?in .{1,200}: )"
    rf"(?P<code>{CODE})\b"
)
_MODULE = regex(r"^Faulting module name: (?P<in>[^\s,]{1,200})")
_EVENT = 3
# The library whose code the kernel's log names.
_LIBRARY = regex(r" in (?P<in>[\w.+-]{1,200})\[[0-9a-f]{1,16}\+[0-9a-f]{1,16}\]")
# A process that died without a word why, as pytest-xdist and notebooks say it.
_DIED = regex(
    r"\bworker 'gw\d{1,4}' crashed while running '"
    r"|\bThe kernel for .{1,200} appears to have died\b|\bThe Kernel crashed while executing code in "
    r"|\bYour session crashed (?:for an unknown reason|after using all available RAM)"
)
#: The timeout of an autotuner.
_TIMED_OUT = regex(r"\bTimeout after (?P<limit>\d{1,6}(?:\.\d{1,3})?) ?s compiling\b")
#: Python's faulthandler: the error, then the stack of each thread.
_FATAL = ("Fatal Python error: ", "Windows fatal exception: ")
_CURRENT = ("Current thread ", "Stack (most recent call first)")
# Of the codes of Windows those that mean a crash: faulthandler reports exceptions that programs handle as well.
_ON_WINDOWS = regex(
    rf"^Windows fatal exception: (?:code (?P<code>{CODE})\b"
    r"|(?P<name>access violation|stack overflow|int divide by zero))"
)
_NAMES = {"access violation": 0xC0000005, "stack overflow": 0xC00000FD, "int divide by zero": 0xC0000094}
# Errors that Python detects itself before it aborts; the other fatal errors report a signal.
_PYTHON_ABORT = regex(
    r"^Fatal Python error: (?P<what>(?!Segmentation fault|Aborted|Bus error|Illegal instruction|Floating)"
    r"[A-Za-z_]\S{0,80}: \S.{3,400})"
)
#: The modules of CuTe DSL in which each function builds an operation.
BUILDERS = ("_ops_gen.py", "_ops_ext.py")
_COMPILER = regex(r"[\\/]base_dsl[\\/]compiler\.py$")
_FRAME = regex(r'\s{0,8}File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9}) in (?P<function>[\w<>.]{1,200})')


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if timed_out := _TIMED_OUT.search(line):
        headline = f"A compile did not end within {timed_out['limit']} s"
        return Finding(bounded_diagnosis(Kind.TIMEOUT, headline, line), Specificity.TAIL, window.position)
    if died := _DIED.search(line):
        kind = Kind.OUT_OF_MEMORY if died.group().endswith("RAM") else Kind.UNKNOWN
        return Finding(bounded_diagnosis(kind, line, line), Specificity.TAIL, window.position)
    if python_abort := _PYTHON_ABORT.match(line):
        kind = Kind.SEGFAULT if "segmentation fault" in line.lower() else Kind.ABORT
        diagnosis = bounded_diagnosis(kind, python_abort["what"], line)
    elif (cause := _cause(line)) is None:
        return _crashed_thread(window, line)
    else:
        diagnosis = ended_by(cause, line, _library(window, line))
    frames = _frames(window.after) if any(error in line for error in _FATAL) else []
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


def _cause(line: str) -> str | int | None:
    """The signal that a line reports, or the code of Windows."""
    for part, pattern, signal in _TEXTS:
        if part in line and (match := pattern.search(line)):
            return signal or match.group(1)
    if number := _NUMBER.search(line):
        return NUMBERS[int(number.group(1))]
    if windows := _ON_WINDOWS.match(line):
        return _NAMES[windows["name"]] if windows["name"] else of_exit_code(windows["code"])
    code = _WINDOWS.match(line) or _CODE.search(line)
    return of_exit_code(code["code"]) if code else None


def _library(window: Window, line: str) -> str | None:
    """The library in which a process ended, where the operating system names it."""
    shown = _LIBRARY.search(line) or _WINDOWS.match(line)
    if shown and shown["in"]:
        return shown["in"]
    above = list(window.before)[-_EVENT:] if shown else []
    return next((module["in"] for module in map(_MODULE.match, above) if module), None)


RECOGNISER = Recogniser(
    anchors=(
        *dict.fromkeys(part for part, _, _ in _TEXTS),
        "exit code",
        "exit status",
        "exitcode",
        "returned -",
        "crashed with",
        "died with",
        "ended with",
        "Exception code: ",
        "Exception Code: ",
        "Unhandled exception at 0x",
        " by signal ",
        " with signal ",
        " on signal ",
        "Signal: ",
        "xited with",
        "' crashed while running '",
        "appears to have died",
        "The Kernel crashed",
        "Your session crashed",
        *_CURRENT,
        *_FATAL,
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
        "Process finished with exit code -1073741819 (0xC0000005)": Kind.SEGFAULT,
        "The process exited with exit code 3221226505": Kind.ABORT,
        "Windows fatal exception: access violation": Kind.SEGFAULT,
        "Windows fatal exception: code 0xc0000374": Kind.ABORT,
        "Exception code: 0xc0000005": Kind.SEGFAULT,
        "Unhandled exception at 0x00007FFA1B2C3D4E (libtriton.pyd) in python.exe: 0xC0000005: Access violation reading "
        "location 0x0000000000000008.": Kind.SEGFAULT,
        "python[42]: segfault at 8 ip 00007fd3c2b2 sp 00007ffd error 4 in libtriton.so[7fd3c000+5000]": Kind.SEGFAULT,
        "traps: python3[42] general protection fault ip:7fd3 sp:7ffd error:0 in libtriton.so[7f+5]": Kind.SEGFAULT,
        "traps: pt_main_thread[42] trap invalid opcode ip:7fd3 sp:7ffd error:0 in libtriton.so[7f+5]": Kind.ABORT,
        "Process SpawnProcess-1 terminated with signal 11": Kind.SEGFAULT,
        "Trace/breakpoint trap (core dumped)": Kind.ABORT,
        "worker 'gw0' crashed while running 'test_dot.py::test_dot[64]'": Kind.UNKNOWN,
        "Your session crashed after using all available RAM.": Kind.OUT_OF_MEMORY,
        "make: *** [Makefile:3: run] Segmentation fault": Kind.SEGFAULT,
    },
    most=Specificity.TAIL,
)
