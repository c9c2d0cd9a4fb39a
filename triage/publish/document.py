"""A report as plain data: sections of blocks, which Markdown, HTML and text are made from.

All text in it is visible (see ``visible``) and scrubbed; nothing in it is markup of any format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TypeAlias


class Tone(str, Enum):
    """What a cell of a table says, beside its words."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    ABSENT = "absent"
    PLAIN = "plain"


class Weight(IntEnum):
    """How much a block tells somebody who has the rest: what has to fit leaves out the least first."""

    CONTEXT = 0
    """The original's own IR and kernel, where a reduced one is there as well."""
    STACK = 1
    FURTHER = 2
    """Suggestions after the first few."""
    LOG = 3
    IR = 4
    EVIDENCE = 5
    SCRIPT = 6
    ESSENTIAL = 7
    """Never left out."""


@dataclass(frozen=True, slots=True)
class Code:
    """Words of a program or compiler in a line."""

    text: str


@dataclass(frozen=True, slots=True)
class WebLink:
    """An address on the web, which is https."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


Span: TypeAlias = "str | Code | WebLink | Strong"
Line: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line of any length."""

    line: Line
    weight: Weight = Weight.ESSENTIAL


@dataclass(frozen=True, slots=True)
class Bullets:
    """A line each."""

    lines: tuple[Line, ...]
    weight: Weight = Weight.ESSENTIAL


@dataclass(frozen=True, slots=True)
class Listing:
    """Program text of several lines. ``title`` names it; ``language`` is one that GitHub colours, or empty; ``folded``:
    shown when it is asked for; ``marked``: lines that stand out, from 0, for the reason in ``why``."""

    title: str
    text: str
    language: str = ""
    folded: bool = True
    marked: frozenset[int] = frozenset()
    why: str = ""
    weight: Weight = Weight.EVIDENCE


@dataclass(frozen=True, slots=True)
class ReportCell:
    """One cell of a table."""

    line: Line
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class ReportTable:
    """``head`` names the columns; the first cell of a row names the row."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    weight: Weight = Weight.ESSENTIAL


@dataclass(frozen=True, slots=True)
class Usage:
    """What one suggestion uses; None where the tool chain did not say. ``label`` is its number."""

    label: str
    what: str
    instruction: str
    registers: int | None
    spill_bytes: int | None
    shared_bytes: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What suggestions use, side by side."""

    caption: str
    usages: tuple[Usage, ...]
    weight: Weight = Weight.FURTHER


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows within a section."""

    line: Line
    weight: Weight = Weight.ESSENTIAL


Block: TypeAlias = Paragraph | Bullets | Listing | ReportTable | Comparison | Heading


@dataclass(frozen=True, slots=True)
class Section:
    """``key`` is stable, ``title`` is for people."""

    key: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report. ``headline`` stands before all sections, ``title`` is one line and fits an issue's; ``made`` says
    with what it was made, ``removed`` what was taken out before it left the machine, by kind."""

    title: str
    headline: str
    signature: str | None
    sections: tuple[Section, ...]
    made: str
    removed: Mapping[str, int] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block]:
        """All blocks in their order."""
        for section in self.sections:
            yield from section.blocks
