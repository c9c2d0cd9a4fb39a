"""A report as sections of blocks, independent of the format; Markdown, HTML and text are rendered from it.

All text in it is visible (see ``visible``) and scrubbed; nothing in it is markup of any format.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TypeAlias

from triage.model.outcome import Resources


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
    """What one suggestion uses; ``label`` is its number."""

    label: str
    change: str
    resources: Resources


@dataclass(frozen=True, slots=True)
class Quantity:
    """What suggestions use of a resource."""

    title: str
    unit: str
    value: Callable[[Usage], int | None]
    tone: Tone = Tone.PLAIN

    def text(self, usage: Usage) -> str:
        """The amount with its unit."""
        value = self.value(usage)
        return "not known" if value is None else f"{value}{self.unit}"


QUANTITIES = (
    Quantity("Registers/thread", "", lambda usage: usage.resources.registers),
    Quantity("Spilled/thread", " B", lambda usage: usage.resources.spill_bytes, Tone.BAD),
    Quantity("Shared/block", " B", lambda usage: usage.resources.shared_bytes),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What suggestions use, side by side."""

    caption: str
    usages: tuple[Usage, ...]
    weight: Weight = Weight.FURTHER

    def table(self, changes: bool = False) -> ReportTable:
        """The same as a table; ``changes``: with a column of what each suggestion changes."""
        head = ("", *(("Suggestion",) if changes else ()), "Instruction", *(quantity.title for quantity in QUANTITIES))
        rows = []
        for usage in self.usages:
            amounts = (quantity.text(usage) for quantity in QUANTITIES)
            texts = (usage.label, *((usage.change,) if changes else ()), usage.resources.tensor_core.value, *amounts)
            rows.append(tuple(ReportCell((text,)) for text in texts))
        return ReportTable(self.caption, head, tuple(rows), self.weight)


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
    """A whole report. ``headline`` comes before all sections, and below it the ``best`` change, which may be empty;
    ``title`` is one line that fits an issue's; ``imprint`` names the version that wrote it; ``removed`` counts private
    texts that were removed, by kind."""

    title: str
    headline: str
    signature: str | None
    sections: tuple[Section, ...]
    imprint: str
    removed: Mapping[str, int] = field(default_factory=dict)
    best: str = ""

    def footer(self) -> Iterator[str]:
        """The lines below all sections: the imprint, and what was removed."""
        yield self.imprint
        if self.removed:
            kinds = ", ".join(f"{name} ({count})" for name, count in sorted(self.removed.items()))
            yield f"Taken out before this left the machine, or shortened: {kinds}."

    def blocks(self) -> Iterator[Block]:
        """All blocks in their order."""
        for section in self.sections:
            yield from section.blocks
