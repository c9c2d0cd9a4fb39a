"""What a recogniser is: the strings that make a line worth a look, and the function that looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from triage.logs.finding import Finding
from triage.logs.window import Window


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One kind of failure.

    ``read`` is called only for a line that holds one of ``anchors``; it returns None when the line is not,
    after all, what it is for. It sees the window and keeps no state.
    """

    name: str
    anchors: tuple[str, ...]
    read: Callable[[Window], Finding | None]

    def wants(self, line: str) -> bool:
        """True when the line may be for this recogniser."""
        for anchor in self.anchors:  # noqa: SIM110 - this is where a log full of anchors spends its time
            if anchor in line:
                return True
        return False
