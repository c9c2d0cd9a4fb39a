"""The two consoles: reports on standard output, progress on standard error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from triage.model.progress import Progress

_PLAIN_WIDTH = 100
"""Columns for a pipe or a file, where nobody says how wide it will be read."""


def output(stderr: bool = False) -> Console:
    """A console that is plain when piped; rich itself honours NO_COLOR."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PLAIN_WIDTH
    return console


@contextmanager
def progress() -> Iterator[Progress]:
    """A live line on a terminal; elsewhere one line for each long operation."""
    console = output(stderr=True)

    def warn(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    if not console.is_terminal:
        yield Progress(warn=warn, note=lambda line: console.print(line, markup=False))
        return
    with console.status("compiling") as status:

        def step(line: str) -> None:
            status.update(Text(line))

        def tried(count: int, compiling: int) -> None:
            status.update(f"looking for neighbours that compile: {count} compiled, {compiling} work")

        def timing(done: int, of: int) -> None:
            status.update(f"timing on the GPU: {done} of {of} done")

        yield Progress(warn=warn, note=step, step=step, tried=tried, timing=timing)
