"""The table as a value and as a document: rows, columns, cells, and the distinct failures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from triage.matrix.cell import MatrixCell
from triage.matrix.history import History
from triage.matrix.releases import Row
from triage.model.case import Case
from triage.model.document import Documented, decode

SCHEMA = "triton-triage/matrix/1"


@dataclass(frozen=True, slots=True)
class LabelledFailure(Documented):
    """One bug of the table, under a letter. All its cells have its ``signature``."""

    label: str
    signature: str
    headline: str


@dataclass(frozen=True, slots=True)
class Bisected(Documented):
    """What a bisection was allowed and used: ``compiles`` by target, answers from the cache among them."""

    releases: int
    budget: int
    compiles: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MatrixTable:
    """``rows``: releases, oldest first, then builds. ``cells``: by row's name and target; a cell that was not tried
    is missing. ``bisected`` is None for a table that was filled."""

    case: Case
    rows: tuple[Row, ...]
    targets: tuple[str, ...]
    cells: Mapping[tuple[str, str], MatrixCell]
    histories: tuple[History, ...]
    bisected: Bisected | None = None

    def failures(self) -> dict[str, LabelledFailure]:
        """Signature → failure, lettered A, B, C in the order of the rows, then of the columns."""
        failures: dict[str, LabelledFailure] = {}
        for row in self.rows:
            for target in self.targets:
                cell = self.cells.get((row.name, target))
                if cell is not None and cell.verdict.bad and cell.signature not in failures:
                    signature = cell.signature or ""
                    failures[signature] = LabelledFailure(letters(len(failures)), signature, cell.headline or "")
        return failures

    @property
    def failed(self) -> bool:
        """Whether any cell is a failure."""
        return any(cell.verdict.bad for cell in self.cells.values())

    def to_json(self) -> dict[str, Any]:
        """The document ``triton-triage/matrix/1``.

        ``rows`` name what was compiled with, ``cells`` are one a row and target that was tried, ``failures`` give each
        signature its letter, ``targets`` hold first_bad, last_good, last_bad and fixed_in (null where there is none),
        the runs of equal cells and the notes on what was not tried.
        """
        letters = self.failures()
        cells = [
            {"row": row.name, "target": target, "label": label, **cell.to_json()}
            for row in self.rows
            for target in self.targets
            if (cell := self.cells.get((row.name, target))) is not None
            for label in [letters[cell.signature or ""].label if cell.verdict.bad else None]
        ]
        return TableDocument(
            self.case, self.rows, tuple(cells), tuple(letters.values()), self.histories, self.bisected
        ).to_json()

    @classmethod
    def from_json(cls, document: Any, where: str = "document") -> MatrixTable:
        """The table of a parsed document; ``where`` names it in errors. Raises InputError."""
        whole = TableDocument.from_json(document, where)
        headlines = {failure.signature: failure.headline for failure in whole.failures}
        cells = {}
        for number, item in enumerate(whole.cells):
            position = decode(_Position, item, f"{where}: cells[{number}]")
            cell = MatrixCell.from_json(item, f"{where}: cells[{number}]")
            cells[position.row, position.target] = replace(cell, headline=headlines.get(cell.signature or ""))
        targets = tuple(history.target for history in whole.targets)
        return cls(whole.case, whole.rows, targets, cells, whole.targets, whole.bisected)


@dataclass(frozen=True, slots=True)
class TableDocument(Documented):
    """The same case over releases of its compiler: cells in a list, each with its row, target and letter."""

    schema_name: ClassVar[str] = SCHEMA

    case: Case
    rows: tuple[Row, ...]
    cells: tuple[Mapping[str, Any], ...]
    failures: tuple[LabelledFailure, ...]
    targets: tuple[History, ...]
    bisected: Bisected | None = None


@dataclass(frozen=True, slots=True)
class _Position:
    """Where a cell is."""

    row: str
    target: str


def letters(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
