"""One kind of private text: what it looks like and what stands in its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """``name`` is what the user is told was removed. ``replace`` gives what stands in the place of a match; the match
    itself where it is no such text after all. ``anchors``: lower-case texts of which one must occur, for speed.

    Patterns have bounded repetitions only: they cost time in proportion to the text, whatever the text is.
    """

    name: str
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]
    anchors: tuple[str, ...] = ()

    def apply(self, text: str, lowered: str) -> tuple[str, int]:
        """The text without, and how many were taken out. ``lowered`` is the text in lower case, for the anchors."""
        if self.anchors and not any(anchor in lowered for anchor in self.anchors):
            return text, 0
        count = 0

        def replaced(match: re.Match[str]) -> str:
            nonlocal count
            made = self.replace(match)
            count += made != match[0]
            return made

        return self.pattern.sub(replaced, text), count


def removed(name: str, pattern: str, *anchors: str, flags: int = 0) -> Rule:
    """A rule whose match goes as a whole, and is called what it was."""
    placeholder = f"<{name}>"
    return Rule(name, re.compile(pattern, flags), lambda match: placeholder, anchors)
