"""A report as sections of blocks, independent of the format; Markdown, HTML and text are rendered from it.

All text in it is visible (see ``visible``) and scrubbed; nothing in it is markup of any format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TypeAlias


class Tone(str, Enum):
    """The meaning of a table cell, for its colour."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"
    ABSENT = "absent"
    PLAIN = "plain"


class Weight(IntEnum):
    """Truncation priority; blocks with the lowest are dropped first."""

    CONTEXT = 0
    """The original's IR and kernel, in a report that has reduced ones."""
    STACK = 1
    FURTHER = 2
    """Suggestions after the first few."""
    LOG = 3
    IR = 4
    EVIDENCE = 5
    SCRIPT = 6
    ESSENTIAL = 7
    """Never dropped."""


@dataclass(frozen=True, slots=True)
class Code:
    """Words of a program or compiler in a line."""

    text: str


@dataclass(frozen=True, slots=True)
class WebLink:
    """A link to an https address."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Emphasised words."""

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
    """A list, one line each."""

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
    """What one suggestion uses; None where the toolchain does not report it. ``label`` is its number."""

    label: str
    change: str
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
    """A title within a section."""

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
    """A whole report. ``headline`` comes before all sections; ``title`` is one line that fits an issue's; ``imprint``
    names the version that wrote it; ``removed`` counts private texts that were removed, by kind."""

    title: str
    headline: str
    signature: str | None
    sections: tuple[Section, ...]
    imprint: str
    removed: Mapping[str, int] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block]:
        """All blocks in their order."""
        for section in self.sections:
            yield from section.blocks
