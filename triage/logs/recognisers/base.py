"""A recogniser: the strings that make a line worth parsing, and the function that parses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from triage.logs.finding import Finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One kind of failure.

    ``read`` is called only for a line that contains one of ``anchors``; it returns None when the line is not of
    its kind after all. It sees the window and has no state. ``examples`` are texts that it must recognise, and the
    kind of each: every spelling that was seen in the wild.
    """

    anchors: tuple[str, ...]
    read: Callable[[Window], Finding | None]
    examples: Mapping[str, Kind]

    def wants(self, line: str) -> bool:
        """True when the line may be for this recogniser."""
        for anchor in self.anchors:  # noqa: SIM110 - this is where a log full of anchors spends its time
            if anchor in line:
                return True
        return False
