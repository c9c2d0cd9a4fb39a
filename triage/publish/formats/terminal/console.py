"""The two consoles, reports on standard output and progress on standard error, and what is printed on them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from triage.model.errors import TriageError
from triage.model.progress import Progress
from triage.model.visible import visible
from triage.publish.formats.terminal.heartbeat import Heartbeat

_PLAIN_WIDTH = 100
"""Columns for a pipe or a file, whose reader's width is unknown."""


def output(stderr: bool = False) -> Console:
    """A console that is plain when piped; rich itself honours NO_COLOR."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PLAIN_WIDTH
    return console


@contextmanager
def progress() -> Iterator[Progress]:
    """A live line on a terminal; elsewhere a line every some seconds."""
    console = output(stderr=True)

    def warn(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    def problem(error: TriageError) -> None:
        warn(f"triage: {error}")

    def progress_of(step: Callable[[str], None], note: Callable[[str], None]) -> Progress:
        return Progress(
            warn=warn,
            problem=problem,
            note=note,
            step=step,
            tried=lambda count, working: step(f"looking for neighbours that compile: {count} compiled, {working} work"),
            timing=lambda done, of: step(f"timing on the GPU: {done} of {of} done"),
        )

    if console.is_terminal:
        with console.status("starting") as status:

            def update(line: str) -> None:
                status.update(Text(visible(line)))

            yield progress_of(update, update)
    else:
        with Heartbeat(lambda line: console.print(visible(line), markup=False, soft_wrap=True)) as heartbeat:
            yield progress_of(heartbeat.step, heartbeat.note)


def section(console: Console, title: str) -> None:
    """Print the title of a section, with an empty line before it."""
    console.print()
    line(console, title, style="bold")


def line(console: Console, text: str, style: str = "") -> None:
    """Print a line that is never wrapped: a path, a command, a row of a table."""
    console.print(Text(visible(text), style=style), soft_wrap=True)


def paragraph(console: Console, text: str, style: str = "", indent: int = 2, hanging: int = 0, label: str = "") -> None:
    """Print a paragraph, wrapped and indented, all but its first line by ``hanging`` more. ``label`` is left of it.

    It is wrapped here, because rich would pad every line to the full width.
    """
    width = max(console.width - indent - len(label) - hanging, 20)
    before = Text(" " * indent + label, style=style)
    for part in Text(visible(text), style=style).wrap(console, width):
        part.rstrip()
        console.print(before + part, soft_wrap=True)
        before = Text(" " * (indent + len(label) + hanging))
