"""ptxas rejects the PTX, or crashes on it.

Its first ``error`` line is the cause; ``Ptx assembly aborted due to errors`` and Triton's own
```ptxas` failed with error code 255`` only follow from it.
"""

from typing import Any

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.signals import why_not_started
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = regex(
    r"^(?:[\w.]{1,200}Error: )?(?:PTXAS error: )?(?:`?ptxas(?:-blackwell)?`?\s{1,8})?(?:stderr:\s{0,8})?"
    r"(?:.{0,1000}?, line \d{1,9}; {0,4})?(?:ptxas(?:-blackwell)? )?"
    r"(?P<severity>error|fatal)(?: {1,8}|(?<=[;s] (?:error|fatal))): (?P<text>\S.{0,4000})"
)
_AT = regex(r"(?:ptxas(?:\.exe|-blackwell)? |^\s{0,40})(?P<file>\S{1,400}\.ptx), line (?P<line>\d{1,9});")
# As users quote it: `PTXAS compilation error: '.x' not supported on target 'sm_121a'`.
_RETOLD = regex(
    r"(?i:ptxas)(?: \w{1,20}){0,3} (?:error|failure|failed): (?P<text>'\S.{3,400}|\S.{0,300}(?:sm_|\.target).{0,300})$"
)
_FAILED = regex(r"ptxas[`'\"]? (?:failed with error code|died with|was killed) ?(?P<code>-?\d{0,12})")
_CALLED = regex(
    r"(?:returned non-zero exit status (?P<code>-?\d{1,12})|died with <?(?:Signals\.)?(?P<signal>SIG\w{1,16}))"
)
# As a shell prints it.
_DIED = regex(
    r"\b(?P<word>Segmentation fault|Bus error|Aborted|Killed|Illegal instruction)\s{1,20}(?:\(core dumped\)\s{1,20})?"
    r"(?:\S{0,200}/)?ptxas\b"
)
_DIED_ALONE = regex(
    r"\s{0,8}(?P<word>Segmentation fault|Bus error|Aborted|Killed|Illegal instruction)(?: \(core dumped\))?\s{0,8}$"
)
_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Bus error": "SIGBUS",
    "Aborted": "SIGABRT",
    "Killed": "SIGKILL",
    "Illegal instruction": "SIGILL",
}
#: Number of lines above that may hold a shell's message wrapped by a terminal.
_WRAPPED = 3
# Cut off before the exit status: only the frames above show what was called.
_CUT = regex(r"(?:\w{1,40}\.)?CalledProcessError: Command '(?!.{0,8000}(?:exit status|died with))")
# What only ptxas says, without what it prints before.
_NAMED = r"(?:Feature|Modifier|Instruction) '[^']{1,200}'"
_OWN = regex(
    rf"{_NAMED} requires PTX ISA \.version \d{{1,2}}\.\d{{1,2}}(?: or (?:higher|later))?"
    rf"|(?:{_NAMED}|'\.[\w.:]{{1,60}}') requires \.target sm_\w{{1,6}}(?: or (?:higher|later))?"
    rf"|{_NAMED} not supported on \.target(?: '\w{{1,20}}')?"
    r"|Value '[^']{1,40}' is not defined for option 'gpu-name'"
    r"|Unsupported \.version \d{1,2}\.\d{1,2}; current version is '?\d{1,2}\.\d{1,2}'?"
    r"|Program with \.target '\w{1,20}' cannot be compiled(?: to future architecture)?"
)
_OWN_ANCHORS = (
    "Feature '",
    "Modifier '",
    "Instruction '",
    "requires .target sm_",
    "for option 'gpu-name",
    "Unsupported .version",
    "Program with .target",
)
_LOG = "ptxas log: "
#: Prefix that Triton before 3.2 adds to any output of ptxas.
_CODEGEN = "Internal Triton PTX codegen error"
_GENERIC = ("Ptx asse",)


def error_text(line: str) -> str | None:
    """The text of ptxas's error in the line."""
    # CuTe DSL's pass prints the kernel's debug information first, which contains the user's paths.
    # Pastes may join Triton's report and the ptxas error in one line.
    stated = line.rpartition(_LOG)[2].partition(_CODEGEN)
    match = _STATED.match((stated[2].lstrip(": ") or stated[0]).strip())
    return match["text"].strip() if match else None


def _finding(window: Window, shown: str, specificity: Specificity, message: str = "", **location: Any) -> Finding:
    return finding(window, Kind.PTXAS, f"ptxas: {shown}", message, specificity, stage="cubin", **location)


def _place(line: str) -> dict[str, Any]:
    """The PTX file and its line number, as fields of a diagnosis."""
    at = _AT.search(line)
    return {"file": text.last_component(at["file"]), "line": int(at["line"])} if at else {}


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if error := error_text(line):
        specificity = Specificity.TAIL if error.startswith(_GENERIC) else Specificity.DIAGNOSTIC
        return _finding(window, error, specificity, **_place(line))
    if retold := _RETOLD.search(line):
        return _finding(window, retold["text"], Specificity.DIAGNOSTIC)
    if own := _OWN.search(line):
        shown = own.group() if own.start() else line
        return _finding(window, shown, Specificity.DIAGNOSTIC, shown)
    return _consequence(window, line)


def _died(window: Window, line: str) -> str | None:
    """The shell's word for the signal that ended ptxas, in the line, above Triton's report or below it."""
    above = [*window.before][-_WRAPPED:] if _CODEGEN in line else []
    below = _DIED_ALONE.match(next(iter(window.after), "")) if line.endswith(f"{_CODEGEN}:") else None
    died = _DIED.search(line) or _DIED.search("".join(part.rstrip() for part in above)) or below
    return died["word"] if died else None


def _consequence(window: Window, line: str) -> Finding | None:
    """Triton's or Python's report of how ptxas ended; a negative code is the signal that ended it."""
    called = _CALLED.search(line) if "Command " in line and "ptxas" in line else None
    failed = _FAILED.search(line) or called
    if failed is None and _CUT.match(line) and any("in make_cubin" in above for above in window.before):
        return _finding(window, "failed; what it printed is not in this text", Specificity.TAIL)
    if died := _died(window, line):
        return _finding(window, f"ended by signal {_SIGNALS[died]}", Specificity.SYMPTOM)
    if failed is None:
        if _CODEGEN not in line or line.startswith("raise "):
            return None
        return _finding(window, "refused the PTX", Specificity.TAIL)
    code = failed["code"] or ""
    if reason := why_not_started(code or "0"):
        return _finding(window, f"did not start, {reason}", Specificity.SYMPTOM)
    signal = called["signal"] if called and called["signal"] else code[1:] if code.startswith("-") else None
    if signal:
        # ptxas printed nothing: no other line is more specific.
        return _finding(window, f"ended by signal {signal}", Specificity.SYMPTOM)
    return _finding(window, f"failed with exit code {code}", Specificity.TAIL)


RECOGNISER = Recogniser(
    anchors=("ptxas", "PTXAS", "CalledProcessError: Command", "error   : ", "fatal   : ", *_OWN_ANCHORS, _CODEGEN),
    read=_read,
    examples={
        "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'": Kind.PTXAS,
        "ptxas /tmp/x.ptx, line 12; error   : Feature '.bf16' requires .target sm_80 or higher": Kind.PTXAS,
        f"error: m.di_location<{'/folder' * 200}/k.py:1:0>: ptxas log: ptxas x, line 3; error   : bad": Kind.PTXAS,
        "Value 'sm_121a' is not defined for option 'gpu-name'": Kind.PTXAS,
        "PTXAS compilation error: 'mma.x' not supported on target 'sm_121a'": Kind.PTXAS,
        "RuntimeError: `ptxas` failed with error code -11": Kind.PTXAS,
        "CalledProcessError: Command 'x\\ptxas.exe' returned non-zero exit status 3221225781.": Kind.PTXAS,
        "Internal Triton PTX codegen error:\nSegmentation fault (core dumped)": Kind.PTXAS,
        "sh: line 1: 4242 Segmentation fault      (core dumped) ptxas -v --gpu-name=sm_80 /tmp/x": Kind.PTXAS,
        "CalledProcessError: Command '['ptxas', 'x.ptx']' returned non-zero exit status 255.": Kind.PTXAS,
    },
)
