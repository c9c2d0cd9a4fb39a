"""Foreign text made safe to show: without escape sequences, control characters and invisible characters.

Logs, kernels, IR and paths come from anywhere. Their text passes here first in every format and on the terminal, so
that a renderer only has to escape its own syntax.
"""

import re

CONTROL = (
    r"\x1b(?:\[[0-9;:?<=>]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor movements
    r"|[\]_P^X][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)"  # OSC, APC …: titles, links, Buildkite's time stamps
    r"|[@-Z\\^_])"
)
"""A terminal's control sequences."""
_ESCAPES = re.compile(CONTROL)
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Format characters of Unicode: zero-width, bidirectional, variation selectors and tags, which can hide a text."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff\U0001fffe\U0001ffff]")


def visible(text: str) -> str:
    """The text without escape sequences, invisible and control characters; every line break is a newline."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    text = _BREAKS.sub("\n", text).replace("\x00", "")
    return _CONTROL.sub("\ufffd", _INVISIBLE.sub("", text)).expandtabs(4)


def one_line(text: str) -> str:
    """The text as one line."""
    return " ".join(visible(text).split())


def shortened(text: str, width: int) -> str:
    """The text as one line of at most ``width`` characters."""
    line = one_line(text)
    return line if len(line) <= width else line[: max(width - 1, 0)] + "\u2026"
