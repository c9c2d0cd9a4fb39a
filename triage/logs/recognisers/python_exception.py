"""The last line of a Python traceback: ``ValueError: text``, in a log or quoted alone."""

import re

from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.recognisers.frontend import unrepr
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = re.compile(
    r"^(?:[A-Za-z_]\w{0,80}\.){0,12}"
    r"(?P<name>[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Failure|NotFound|Failed|Warning)|Exception)"
    r"(?:: ?(?P<text>.{0,8000}))?$"
)
# With its module an exception may be named anything: `concurrent.futures.process.BrokenProcessPool: …`.
_QUALIFIED = re.compile(
    r"^(?:[a-z_]\w{0,80}\.){1,12}(?P<name>(?=[A-Z])\w{2,80}[a-z]\w{0,80})(?:: (?P<text>\S.{0,8000}))$"
)
#: VS Code's editor: the text is on the next line.
_OCCURRED = "Exception has occurred: "
_REPR = re.compile(r"^[A-Z]\w{2,80}(?:Error|Exception)\([\"'].{0,3900}[\"'],?\)$")
#: Texts that say only that something failed, or that the compiler has printed why.
TAILS = (
    "error encountered during parsing",
    "Parse MLIR file failed",
    "PassManager::run failed",
    "failed to translate module to LLVM IR",
    "Failed to parse",
    "AMD LLVM ",
)
#: Wrappers whose text is another exception's.
_WRAPPERS = ("InductorError", "BackendCompilerFailed", "CalledProcessError")
_MAX_LINES = 40
#: What is not part of an exception's text: a traceback, other programs' lines, the end of a block of code.
_ENDS = ("Traceback (", "  File ", "nanobind: ", "[", "```", "~~~")


def is_exception_line(line: str) -> bool:
    """True for a line that ends a traceback."""
    return _STATED.match(line) is not None or _QUALIFIED.match(line) is not None


def _read(window: Window) -> Finding | None:
    line = unrepr(window.line.strip()) if _REPR.match(window.line.strip()) else window.line.rstrip()
    if line.startswith(_OCCURRED) and window.after:
        line = f"{line.removeprefix(_OCCURRED).partition(' ')[0]}: {window.after[0].strip()}"
    stated = _STATED.match(line) or _QUALIFIED.match(line)
    if stated is None or stated["name"].endswith("Warning"):
        return None
    reason = (stated["text"] or "").strip()
    shown = f"{stated['name']}: {reason}" if reason else stated["name"]
    lines = [line]
    for index in range(min(_MAX_LINES, len(window.after))):
        following = window.after[index]
        if not following.strip() or following.startswith(_ENDS):
            break
        if is_exception_line(following):
            break
        lines.append(following)
    tail = reason.startswith(TAILS) or stated["name"] in _WRAPPERS
    specificity = Specificity.TAIL if tail else Specificity.EXCEPTION
    message = "\n".join([shown, *lines[1:]])
    return finding(window, Kind.PYTHON_EXCEPTION, shown, message, specificity, exception=stated["name"])


RECOGNISER = Recogniser(
    anchors=(
        "Error",
        "Exception",
        "Interrupt",
        "Exit",
        "Failure",
        "NotFound",
        "Failed",
        "exc.",
        "exceptions.",
        "errors.",
    ),
    read=_read,
    examples={
        "ValueError: bad": Kind.PYTHON_EXCEPTION,
        "torch._dynamo.exc.Unsupported: call of a kernel": Kind.PYTHON_EXCEPTION,
        "Exception has occurred: ValueError\nthe arguments of arange must be constants": Kind.PYTHON_EXCEPTION,
    },
    most=Specificity.EXCEPTION,
)
