"""Making foreign text safe to print: kernels, logs and paths may hold terminal escapes."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """Without control characters, bidirectional overrides and bytes that are no text; tabs become spaces."""
    return _CONTROL.sub("�", text.expandtabs(4))


def one_line(text: str) -> str:
    """An error's message as the one line that a user reads."""
    return safe(" ".join(text.split()))


def clipped(text: str, width: int) -> str:
    """One line of at most ``width`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: max(width - 1, 0)] + "…"
