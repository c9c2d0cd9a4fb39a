"""The answer to "is this allowed, and why": numbers for programs, and text for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from triage.legality.violation import Violation

SCHEMA = "triton-triage/explanation/1"


@dataclass(frozen=True, slots=True)
class Fact:
    """A consequence of the parameters: ``name`` is stable and for programs, ``value`` is what JSON can
    hold, ``label`` and ``text`` are for people (``text`` may be empty: then the value is shown)."""

    name: str
    value: Any
    label: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class RuleTable:
    """A table of the rule. Cells are text, one per column in each row. ``sources``: where the rows are documented."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Rows as objects, so that a reader needs no column numbers."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture in characters, at most 100 columns wide: a layout, a swizzle pattern."""

    title: str
    lines: tuple[str, ...]


def grid(title: str, cells: Mapping[tuple[int, int], str], corner: str = "") -> Drawing:
    """Cells by row and column under their numbers; ``corner`` is above the rows' numbers."""
    rows, columns = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
    width = max(map(len, cells.values()), default=0) + 2
    head = f"{corner:>4} " + "".join(f"{column:<{width}}" for column in columns)
    lines = (f"{row:>4} " + "".join(f"{cells.get((row, column), ''):<{width}}" for column in columns) for row in rows)
    return Drawing(title, tuple(line.rstrip() for line in (head, *lines)))


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer of a rule. ``legal`` is None where no parameters were given and only the rule itself is shown.

    ``headline`` is one line; ``notes`` are sentences, most useful first; ``sources`` say where the rule is written.
    ``instead`` are explanations of legal parameters close to the requested ones, best first, each with the change.
    """

    rule: str
    title: str
    headline: str
    given: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    legal: bool | None = None
    violations: tuple[Violation, ...] = ()
    facts: tuple[Fact, ...] = ()
    tables: tuple[RuleTable, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    instead: tuple[tuple[str, Explanation], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document of ``triage explain --json``."""
        return {"schema": SCHEMA, **self._body()}

    def _body(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "title": self.title,
            "headline": self.headline,
            "given": dict(self.given),
            "legal": self.legal,
            "violations": [violation.to_json() for violation in self.violations],
            "facts": {fact.name: fact.value for fact in self.facts},
            "tables": [table.to_json() for table in self.tables],
            "drawings": [{"title": drawing.title, "lines": list(drawing.lines)} for drawing in self.drawings],
            "notes": list(self.notes),
            "sources": list(self.sources),
            "instead": [{"change": change, **other._body()} for change, other in self.instead],
        }
