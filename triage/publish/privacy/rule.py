"""One kind of private text: its pattern and its replacement."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScrubRule:
    """``name`` is reported as removed. ``replace`` returns the replacement of a match, or the match itself if it is not
    private after all. ``anchors``: lower-case texts of which one must occur, for speed.

    Patterns have bounded repetitions only, so that time is proportional to the text, whatever it contains."""

    name: str
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]
    anchors: tuple[str, ...] = ()

    def apply(self, text: str, lowered: str) -> tuple[str, int]:
        """The scrubbed text and the number of replacements. ``lowered`` is the text in lower case, for the anchors."""
        if self.anchors and not any(anchor in lowered for anchor in self.anchors):
            return text, 0
        count = 0

        def replaced(match: re.Match[str]) -> str:
            nonlocal count
            replacement = self.replace(match)
            count += replacement != match[0]
            return replacement

        return self.pattern.sub(replaced, text), count


def removed(name: str, pattern: str, *anchors: str, flags: int = 0) -> ScrubRule:
    """A rule that replaces the whole match by its name."""
    placeholder = f"<{name}>"
    return ScrubRule(name, re.compile(pattern, flags), lambda match: placeholder, anchors)
