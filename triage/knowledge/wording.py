"""Whether the words of an entry stand in a message."""

import re
from collections.abc import Sequence
from functools import lru_cache

_FEW_WORDS = 4
"""Words of a message below which any text may have most of them."""
_SHORTEST_CUT = 12
"""Characters of a text with which a message that was cut off has to end."""
_UNFINISHED = re.compile(r"\b(?:an?|the|of|for|from|to|in|on|by|with|and|or|is|are|be|not|no)$")
"""The last word of what is no sentence yet."""
_ELLIPSIS = "…"


def occurs(text: str, message: str) -> bool:
    """Whether a text of an entry is in a message; an ellipsis stands for any text of one line."""
    if _ELLIPSIS not in text:
        return text in message
    parts = text.split(_ELLIPSIS)
    return any(_in_order(parts, line) for line in message.splitlines())


def _in_order(parts: Sequence[str], line: str) -> bool:
    position = 0
    for part in parts:
        position = line.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return True


def begins_at_end(text: str, message: str) -> bool:
    """Whether a message ends within a text of an entry, as one that was cut off does: with a good part of it, which
    begins with a word, and within a word or where no sentence ends."""
    if _ELLIPSIS in text or len(text) <= _SHORTEST_CUT:
        return False
    at = message.find(text[:_SHORTEST_CUT], -len(text))
    tail = message[at:]
    if at < 0 or not text.startswith(tail) or " " not in tail or message[at - 1 : at].isalnum():
        return False
    is_within_word = text[len(tail) - 1 :][:2].isalnum() and len(tail) < len(text)
    return is_within_word or _UNFINISHED.search(tail) is not None


def share(text: str, message: str) -> float:
    """How many of the words of ``text`` a line of the message has, at most; 0 for a text of few words."""
    words = _words(text)
    if len(words) < _FEW_WORDS:
        return 0.0
    lines = map(_words, message.splitlines())
    return max((len(words & line) / len(words) for line in lines), default=0.0)


@lru_cache(maxsize=2048)  # All texts of the entries and the lines of a message, which are compared with each other.
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w{3,}", text))
