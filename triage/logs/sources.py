"""The user's own line: which of the locations a failure names is in the kernel's file, and what stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from triage.logs.recognisers.frontend import UNKNOWN_FILE
from triage.logs.text import last_component
from triage.model.diagnosis import SourceLocation

#: A kernel's file is a program somebody wrote; what is larger is not read.
MAX_KERNEL_BYTES = 16 * 2**20


def _lines(kernel: Path) -> list[str]:
    try:
        if kernel.stat().st_size > MAX_KERNEL_BYTES:
            return []
        return kernel.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _in_function(place: SourceLocation, kernel: Path) -> SourceLocation:
    """Turn a place counted from its function's ``def`` into one in the file, when only one line there fits."""
    if not place.text:
        return place
    wanted = place.text.strip()
    fitting = [number for number, line in enumerate(_lines(kernel), start=1) if line.strip() == wanted]
    fitting = [number for number in fitting if number >= place.line]
    return replace(place, file=kernel.name, line=fitting[0]) if len(fitting) == 1 else place


def in_kernel(
    chosen: SourceLocation | None, locations: Sequence[SourceLocation], kernel: Path | None
) -> SourceLocation | None:
    """The place in the user's file if there is one among all, with its text; else the one chosen."""
    if kernel is None:
        return chosen
    candidates: list[SourceLocation] = [*([chosen] if chosen else []), *locations]
    for place in candidates:
        if place.file == UNKNOWN_FILE and (found := _in_function(place, kernel)).file == kernel.name:
            return found
        if last_component(place.file) == kernel.name:
            lines = _lines(kernel)
            known = lines[place.line - 1].rstrip() if 0 < place.line <= len(lines) else None
            return replace(place, file=kernel.name, text=known or place.text)
    return chosen
