"""Foreign text made safe to show: without escape sequences, control characters and invisible characters.

Logs, kernels, IR and paths come from anywhere. Their text passes here first in every format and on the terminal, so
that a renderer only has to escape its own syntax.
"""

import re
from functools import cache
from typing import BinaryIO

_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Format characters of Unicode: zero-width, bidirectional, variation selectors and tags, which can hide a text."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff\U0001fffe\U0001ffff]")

_MOST_BYTES = 1_000_000
"""Of a file: more than a pass's input of a large kernel (600 kB), and little enough for a page."""
_MOST_LINE = 4_000
"""Characters of a line: a line of MLIR with a large layout has two thousand."""
_SEAM = 4_096
"""What is left out beside a cut where no line ends: longer than any credential but a key in lines."""


def visible(text: str) -> str:
    """The text without escape sequences, invisible and control characters; every line break is a newline."""
    if "\x1b" in text or "\x9b" in text:
        text = _escapes().sub("", text)
    text = _BREAKS.sub("\n", text).replace("\x00", "")
    return _CONTROL.sub("\ufffd", _INVISIBLE.sub("", text)).expandtabs(4)


def one_line(text: str) -> str:
    """The text as one line."""
    return " ".join(visible(text).split())


def shortened(text: str, width: int) -> str:
    """The text as one line of at most ``width`` characters."""
    line = one_line(text)
    return line if len(line) <= width else line[: max(width - 1, 0)] + "\u2026"


@cache
def _escapes() -> re.Pattern[str]:
    # Escape sequences are rare, and the package costs as much to import as all of the command line.
    from triage.logs.reading import CONTROL

    return re.compile(CONTROL)


def read_bounded(stream: BinaryIO, most: int = _MOST_BYTES) -> tuple[str, str, int]:
    """Head, tail and size of a file, the tail empty where the head is all of it. Neither begins or ends inside of a
    line; of a line that is longer than that, not inside of a word. Raises OSError."""
    size = stream.seek(0, 2)
    stream.seek(0)
    if size <= most:
        return stream.read(most).decode("utf-8", "replace"), "", size
    head = stream.read(most // 2)
    stream.seek(size - most // 2)
    tail = stream.read(most // 2)
    cut = head.rfind(b"\n", len(head) // 2)
    head = head[: cut + 1] if cut >= 0 else head[: max(len(head) - _SEAM, 0)]
    cut = tail.find(b"\n", 0, len(tail) // 2)
    tail = tail[cut + 1 :] if cut >= 0 else tail[_SEAM:]
    return head.decode("utf-8", "replace"), tail.decode("utf-8", "replace"), size


def clipped(text: str, most: int = _MOST_LINE) -> str:
    """The text with the end of very long lines replaced by the number of characters left out."""
    if len(text) <= most:
        return text
    lines = (
        line if len(line) <= most else f"{line[:most]}\u2026 ({len(line) - most} more characters)"
        for line in text.split("\n")
    )
    return "\n".join(lines)
