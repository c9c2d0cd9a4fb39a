"""A recogniser: the strings that make a line worth parsing, the function that parses it, and what that returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from triage.ir.locations import users_location
from triage.logs import text
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.window import Window
from triage.model.compilers import Compiler
from triage.model.diagnosis import Kind, SourceLocation


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One kind of failure.

    ``read`` is called only for a line that contains one of ``anchors``; it returns None when the line is not of
    its kind after all. It sees the window and has no state. ``examples`` are texts that it must recognise, and the
    kind of each: every spelling that was seen in the wild. ``most`` is the specificity of its most specific findings.
    ``compiler``: the only one that prints such lines, if they tell. ``owns``: what it recognises is of no other
    recogniser, however many were found.
    """

    anchors: tuple[str, ...]
    read: Callable[[Window], Finding | None]
    examples: Mapping[str, Kind]
    most: Specificity = Specificity.DIAGNOSTIC
    compiler: Compiler | None = None
    owns: bool = False

    def wants(self, line: str) -> bool:
        """True when the line may be for this recogniser."""
        for anchor in self.anchors:  # noqa: SIM110 - this is where a log full of anchors spends its time
            if anchor in line:
                return True
        return False

    def recognise(self, window: Window) -> Finding | None:
        """What ``read`` returns, attributed to the compiler."""
        result = self.read(window)
        if result is None or self.compiler is None:
            return result
        return replace(result, diagnosis=replace(result.diagnosis, compiler=self.compiler))


def finding(
    window: Window,
    kind: Kind,
    headline: str,
    message: str = "",
    specificity: Specificity = Specificity.DIAGNOSTIC,
    *,
    locations: tuple[SourceLocation, ...] = (),
    notes: list[str] | None = None,
    extent: int = 0,
    **facts: Any,
) -> Finding:
    """A finding at the window's line, with bounded texts; the message is that line unless stated. ``facts`` are further
    fields of the diagnosis."""
    facts |= {"source": users_location(locations), "notes": text.notes(notes or [])}
    diagnosis = bounded_diagnosis(kind, headline, message or window.line.strip(), **facts)
    return Finding(diagnosis, specificity, window.position, locations, extent)
