"""``llvm_unreachable``: LLVM prints the message on the line above the file and line, and no function.

::

    Unexpected asyncTaskIds.size()
    UNREACHABLE executed at /b/WSDataPartition.cpp:775!
"""

from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_ANCHOR = "UNREACHABLE executed"
_FILE = regex(r"UNREACHABLE executed at (?P<file>[^!]{1,400}?):(?P<line>\d{1,7})!?")
# As people retell it.
_RETOLD = regex(r"\bllvm_unreachable (?:at|in) `?(?P<file>[\w./-]{1,400}\.(?:cpp|cc|h)):(?P<line>\d{1,7})\b")
_STATED = regex(r"UNREACHABLE executed: ?(?P<reason>\S.{0,1000})")
# `cantFail` prints this, then the error's own text, then the unreachable.
_CANT_FAIL = "Failure value returned from cantFail wrapped call"
#: So many words on the same line, where lines were joined, are one.
_FEWEST_WORDS = 3
# Lines that are never the message: IR, diagnostics, Python's own output.
_NOT_A_MESSAGE = regex(
    r"[\s#%^}{\"'/)(\]\[`~]|loc\(|module\b|Traceback |// "
    r"|.{0,1000}?(?::\d{1,7}: |[Ww]arning\b|\b(?:error|note|remark): )|.{0,400}Error: "
)


def _is_message(line: str) -> bool:
    return bool(line.strip()) and _NOT_A_MESSAGE.match(line) is None


def reason_before(window: Window) -> list[str]:
    """The lines of the message, which precede the file and line."""
    before = window.before
    joined = window.line.rpartition(_ANCHOR)[0].strip().rpartition(": ")[2]
    if len(joined.split()) >= _FEWEST_WORDS and _is_message(joined) and joined[-1].isalnum():
        return [joined]
    for distance in range(2, min(6, len(before)) + 1):
        if before[-distance].strip() == _CANT_FAIL:
            return [before[-index].strip() for index in range(distance, 0, -1)]
    above = before[-1] if before else ""
    if not above.strip() and len(before) > 1 and not before[-2].rstrip().endswith((":", ".")):
        above = before[-2]  # as some paste it
    above = above.removeprefix(window.line[: len(window.line) - len(window.line.lstrip())])
    return [above.strip()] if _is_message(above) else []


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if line.endswith(f"{_ANCHOR} at") and window.after:
        line += f" {window.after[0].lstrip('> ')}"  # that a mail wrapped
    if source := _FILE.search(line) or _RETOLD.search(line):
        file, number = text.last_component(source["file"]), int(source["line"])
    elif _STATED.search(line) or line.rstrip("!. ").endswith(_ANCHOR):
        file, number = None, None
    else:
        return None
    stated = _STATED.search(line)
    reasons = [] if stated else reason_before(window)
    reason = stated["reason"] if stated else reasons[-1] if reasons else None
    where = f" in {file}" if file else ""
    headline = f"Reached code marked unreachable{where}{': ' + reason if reason else ''}"
    message = "\n".join([*reasons, line])
    return finding(window, Kind.UNREACHABLE, headline, message, Specificity.FATAL, file=file, line=number)


def reason(message: str) -> str | None:
    """The author's explanation in a message of this recogniser: the line above the last."""
    *reasons, last = message.split("\n")
    if stated := _STATED.search(last):
        return stated["reason"]
    return reasons[-1] if reasons else None


RECOGNISER = Recogniser(
    anchors=(_ANCHOR, "llvm_unreachable "),
    read=_read,
    examples={
        "unsupported layout\nUNREACHABLE executed at /b/Dialect.cpp:12!": Kind.UNREACHABLE,
        "unsupported layout\n> UNREACHABLE executed at\n> /b/Dialect.cpp:12!": Kind.UNREACHABLE,
        "the conversion hits llvm_unreachable at XToLinalgPass.cpp:12 on a dead block": Kind.UNREACHABLE,
        "UNREACHABLE executed: Unsupported conversion from f16 to f16": Kind.UNREACHABLE,
    },
    most=Specificity.FATAL,
)
