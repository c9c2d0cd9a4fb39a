"""Small helpers for showing text to people: bounded, on one line, without a machine's paths."""

from collections.abc import Iterable
from typing import TypeVar

from triage.logs.patterns import regex

T = TypeVar("T")

#: Bounds of what a report document holds of a log.
MAX_MESSAGE = 4096
MAX_HEADLINE = 160
MAX_NOTE = 400
MAX_NOTES = 12

# Two or more components; the lookbehind keeps `a/b` in words such as `operand/result` whole.
_PATH = regex(r"(?<![\w.)\]/\\-])(?:[A-Za-z]:)?[/\\](?:[\w.+@~-]{1,255}[/\\]){1,64}(?=[\w.+@~<-])")
# A backtick behind a word and before none.
_CLOSING_MARK = regex(r"(?<=[^\s(])`(?=[\s.,;:)]|$)")


def last_component(path: str) -> str:
    """``a/b.cpp`` -> ``b.cpp``, with either kind of slash."""
    return path.replace("\\", "/").rpartition("/")[2]


def shorten_paths(text: str) -> str:
    """Leave of every absolute path its last component."""
    return _PATH.sub("", text) if "/" in text or "\\" in text else text


def bounded(text: str, limit: int) -> str:
    """The text, cut with an ellipsis where it is longer than ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def without_rest(text: str) -> str:
    """The text up to a quotation mark that closes what began before it: what follows is whoever quoted it."""
    text = text.removesuffix("```").removesuffix("``")
    if text.count("`") % 2 and (closing := _CLOSING_MARK.search(text)) and text.count("`", 0, closing.start()) % 2 == 0:
        text = text[: closing.start()]
    return text[:-1] if text.endswith('"') and text.count('"') % 2 else text


def headline(text: str) -> str:
    """One short line without paths."""
    return bounded(shorten_paths(without_rest(" ".join(text[:2000].split()))), MAX_HEADLINE)


def message(lines: str) -> str:
    """The failing text, at most 4096 characters."""
    return bounded(lines.strip("\n"), MAX_MESSAGE)


def notes(texts: list[str]) -> tuple[str, ...]:
    """The first few notes of a failure, each bounded."""
    return tuple(bounded(text, MAX_NOTE) for text in texts[:MAX_NOTES])


def only(values: Iterable[T]) -> T | None:
    """The value that all are; None where there are several, or none."""
    distinct = {*values}
    return distinct.pop() if len(distinct) == 1 else None
