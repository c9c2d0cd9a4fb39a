"""What replaces the entries of a list that fail, on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rich.console import Console

from triage.model.visible import visible
from triage.model.words import count
from triage.publish.compose.sweep_parts import REPLACEMENTS, grouped
from triage.publish.formats.terminal.console import line, paragraph
from triage.sweeps.replacement import Replacement

_MOST_FILES = 20
"""Of the files that were not compiled; the others are counted."""


def show(console: Console, unused: Mapping[str, str], replacements: Sequence[Replacement]) -> None:
    """Print the files that were not compiled (``unused``: why), then each entry that fails with its replacement."""
    for name, problem in list(unused.items())[:_MOST_FILES]:
        line(console, f"not compiled: {visible(name)}: {visible(problem)}")
    if len(unused) > _MOST_FILES:
        line(console, f"not compiled: {count(len(unused) - _MOST_FILES, 'more file')}")
    if not replacements:
        return
    line(console, "")
    line(console, REPLACEMENTS, style="bold")
    for file, inside in groupby(grouped(replacements), key=lambda each: each.file):
        line(console, f"  {visible(file)}")
        for each in inside:
            paragraph(console, f"{each.entries} for {each.targets}: {each.words}", indent=4, hanging=2)
