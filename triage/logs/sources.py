"""The user's own line: the location of a failure that is in the kernel's file, with the text of the line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from triage.logs.recognisers.frontend import UNKNOWN_FILE
from triage.logs.text import last_component
from triage.model.diagnosis import SourceLocation

#: A kernel's file is written by a person; larger files are not read.
MAX_KERNEL_BYTES = 16 * 2**20


def _lines(kernel: Path) -> list[str]:
    try:
        if kernel.stat().st_size > MAX_KERNEL_BYTES:
            return []
        return kernel.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _in_file(location: SourceLocation, kernel: Path) -> SourceLocation:
    """Turn a line counted from its function's ``def`` into one of the file, when only one line there has its text."""
    if not location.text:
        return location
    text = location.text.strip()
    numbers = [number for number, line in enumerate(_lines(kernel), start=1) if line.strip() == text]
    numbers = [number for number in numbers if number >= location.line]
    return replace(location, file=kernel.name, line=numbers[0]) if len(numbers) == 1 else location


def in_kernel(
    chosen: SourceLocation | None, locations: Sequence[SourceLocation], kernel: Path | None
) -> SourceLocation | None:
    """The first location in the user's file, with the text of its line; ``chosen`` if none is."""
    if kernel is None:
        return chosen
    candidates: list[SourceLocation] = [*([chosen] if chosen else []), *locations]
    for location in candidates:
        if location.file == UNKNOWN_FILE and (in_file := _in_file(location, kernel)).file == kernel.name:
            return in_file
        if last_component(location.file) == kernel.name:
            lines = _lines(kernel)
            text = lines[location.line - 1].rstrip() if 0 < location.line <= len(lines) else None
            return replace(location, file=kernel.name, text=text or location.text)
    return chosen
