"""Parts of long texts: head and tail of a file, lines without their ends."""

from typing import BinaryIO

_MOST_BYTES = 1_000_000
"""Of a file: more than a pass's input of a large kernel (600 kB), and little enough for a page."""
_MOST_LINE = 4_000
"""Characters of a line: a line of MLIR with a large layout has two thousand."""
_SEAM = 4_096
"""What is left out beside a cut where no line ends: longer than any credential but a key in lines."""


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
