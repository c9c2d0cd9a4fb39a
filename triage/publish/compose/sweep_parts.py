"""Parts of a sweep's map as they are shown: what a cell looks like, failures, axes, and their words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from triage.publish.words import ratio, settings
from triage.sweeps.grid import Cell
from triage.sweeps.influence import AxisInfluence
from triage.sweeps.observation import CellState
from triage.sweeps.replacement import Replacement


@dataclass(frozen=True, slots=True)
class CellLook:
    """What a cell shows: its state, None where it was neither compiled nor predicted, and the failure's letter."""

    state: CellState | None
    letter: str | None = None

    @property
    def sign(self) -> str:
        """Its sign in a grid: lower case and a dot are predicted."""
        match self.state:
            case CellState.COMPILED:
                return "\u2713"
            case CellState.PREDICTED_LEGAL:
                return "\u00b7"
            case CellState.UNTOLD:
                return "?"
            case CellState.FAILED:
                return self.letter or "\u2717"
            case CellState.PREDICTED_ILLEGAL:
                return (self.letter or "\u2717").lower()
            case None:
                return "-"

    @property
    def legal(self) -> bool | None:
        """Whether the cell is legal, compiled or predicted; None where neither is known."""
        if self.state in (None, CellState.UNTOLD):
            return None
        return self.state in (CellState.COMPILED, CellState.PREDICTED_LEGAL)

    @property
    def words(self) -> str:
        """The look in words."""
        match self.state:
            case CellState.COMPILED:
                return "compiles"
            case CellState.PREDICTED_LEGAL:
                return "predicted to compile"
            case CellState.UNTOLD:
                return "could not be told"
            case CellState.FAILED:
                return f"fails: {self.letter}" if self.letter else "fails"
            case CellState.PREDICTED_ILLEGAL:
                return f"predicted to fail: {self.letter}" if self.letter else "predicted to fail"
            case None:
                return "neither compiled nor predicted"


@dataclass(frozen=True, slots=True)
class ShownMatch:
    """An entry of the knowledge base; ``upstream``: addresses of its issues."""

    id: str
    title: str
    confidence: float | None
    fixed_in: str | None
    upstream: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A failure of the map, with its cells that were ``compiled`` and ``predicted``, and the first of the former."""

    letter: str
    headline: str
    signature: str
    compiled: int
    predicted: int
    example: Cell | None
    matches: tuple[ShownMatch, ...]

    @property
    def cells(self) -> str:
        """How many cells fail so, in words."""
        parts = [f"{self.compiled:,} compiled", *([f"{self.predicted:,} predicted"] if self.predicted else [])]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class ShownAxis:
    """``influence``: along how many lines of the axis the result changes. ``inert``: it changes nothing, by
    ``probes`` pairs of compiled cells that differ in nothing else."""

    name: str
    values: tuple[str, ...]
    influence: AxisInfluence
    inert: bool
    probes: int

    @property
    def matters(self) -> bool:
        """Whether more than one value of it has to be shown."""
        return len(self.values) > 1 and not self.inert


@dataclass(frozen=True, slots=True)
class ShownReplacement:
    """What replaces some entries of a list for some targets, in ``words``."""

    file: str
    entries: str
    targets: str
    words: str


REPLACEMENTS = "What replaces the entries that fail: each was compiled, and computes the same"


def replacement_text(replacement: Replacement) -> str:
    """What replaces an entry of a list, and the time that is expected of it."""
    if replacement.changes is None:
        return "no neighbour that compiles and computes the same"
    changes = settings(replacement.changes)
    return f"{changes} (expected {ratio(replacement.expected)} of the time)" if replacement.expected else changes


def grouped(replacements: Iterable[Replacement]) -> list[ShownReplacement]:
    """The replacements, those of a file that say the same as one: a table has an entry for each batch size."""
    targets: dict[tuple[str, str, str], list[str]] = {}
    for each in replacements:
        targets.setdefault((each.file, each.entry, replacement_text(each)), []).append(each.target)
    entries: dict[tuple[str, str, str], list[str]] = {}
    for (file, entry, words), of_entry in targets.items():
        entries.setdefault((file, ", ".join(of_entry), words), []).append(entry)
    return [ShownReplacement(file, ", ".join(of), target, words) for (file, target, words), of in entries.items()]


def value_text(value: Any) -> str:
    """A value of an axis as people write it."""
    match value:
        case str():
            return value or "''"
        case bool() | None:
            return str(value)
        case Mapping():
            return " ".join(f"{name}={value_text(each)}" for name, each in value.items())
    return json.dumps(value)


def percent(part: float, up: bool = False) -> str:
    """A part as percent, rounded down, or ``up``: neither a bound nor a share promises more than it is."""
    tenths = round(part * 1000, 6)  # 0.29 * 1000 is not an integer
    return f"{(ceil(tenths) if up else floor(tenths)) / 10:g} %"
