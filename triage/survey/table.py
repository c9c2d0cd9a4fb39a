"""The table of a survey as a value and as a document. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from triage.matrix.cell import CellVerdict
from triage.matrix.table import LabelledFailure, letters
from triage.model.document import Doc, Documented, encode_fields
from triage.model.errors import TriageError
from triage.model.outcome import Status
from triage.model.report import Report

SCHEMA = "triton-triage/survey/1"
_VERDICTS = {
    Status.OK: CellVerdict.COMPILES,
    Status.SUSPECT: CellVerdict.SUSPECT,
    Status.TIMEOUT: CellVerdict.TIMEOUT,
}


@dataclass(frozen=True, slots=True, order=True)
class SurveyRow(Documented):
    """A kernel in one configuration, which is empty if it has no other. ``file``: relative to the project."""

    file: str
    line: int
    kernel: str
    configuration: str = ""

    @property
    def label(self) -> str:
        """Kernel and configuration."""
        return f"{self.kernel}[{self.configuration}]" if self.configuration else self.kernel


@dataclass(frozen=True, slots=True)
class SurveyColumn(Documented):
    """A target and the release that compiles for it."""

    target: str
    triton: str


@dataclass(frozen=True, slots=True)
class SurveyCell(Documented):
    """The answer for a kernel, target and release. ``signature``, ``headline``, ``kind`` and ``stage`` describe a
    failure, ``known`` is the entry of the knowledge base that explains it; ``reason``: why it could not be told."""

    verdict: CellVerdict
    signature: str | None = None
    headline: str | None = None
    kind: str | None = None
    stage: str | None = None
    known: str | None = None
    reason: str | None = None
    duration_s: Annotated[float | None, Doc(digits=3)] = None

    @classmethod
    def of(cls, answer: Report | TriageError, reason: str | None = None) -> SurveyCell:
        """The cell of a report, or of the error that there is none; ``reason``: the error without the kernel's name."""
        if isinstance(answer, TriageError):
            return cls(CellVerdict.UNDECIDED, reason=reason or str(answer))
        outcome, diagnosis = answer.outcome, answer.diagnosis
        verdict = _VERDICTS.get(outcome.status, CellVerdict.FAILS)
        if diagnosis is None:
            return cls(verdict, duration_s=outcome.duration_s)
        return cls(
            verdict,
            # How far it gets within the limit depends on the machine.
            signature=diagnosis.kind.value if verdict is CellVerdict.TIMEOUT else diagnosis.signature,
            headline=diagnosis.headline,
            kind=diagnosis.kind.value,
            stage=outcome.stage.value if outcome.stage else None,
            known=answer.matches[0].id if answer.matches else None,
            duration_s=outcome.duration_s,
        )

    def to_json(self) -> dict[str, Any]:
        """The cell's part of the document, without what does not apply."""
        return {name: value for name, value in encode_fields(self).items() if value is not None}


@dataclass(slots=True)
class KernelTable:
    """Grows as answers come. ``name``: of the project; ``devices``: its functions that only kernels call, which are not
    compiled by themselves."""

    name: str
    columns: tuple[SurveyColumn, ...]
    devices: int = 0
    cells: dict[tuple[SurveyRow, SurveyColumn], SurveyCell] = field(default_factory=dict)

    @property
    def rows(self) -> list[SurveyRow]:
        """In the order of the files and of the lines in them; configurations in that of their autotuner."""
        rows = dict.fromkeys(row for row, _ in self.cells)
        return sorted(rows, key=lambda row: (row.file, row.line, row.kernel))

    def failures(self) -> dict[str, LabelledFailure]:
        """Signature → failure, lettered A, B, C: what most cells show comes first."""
        counts = Counter(cell.signature or "" for cell in self.cells.values() if cell.verdict.bad)
        headlines = {cell.signature or "": cell.headline or "" for cell in self.cells.values() if cell.verdict.bad}
        return {
            signature: LabelledFailure(letters(number), signature, headlines[signature])
            for number, (signature, _) in enumerate(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        }

    def of_failure(self, signature: str) -> list[tuple[SurveyRow, SurveyColumn]]:
        """The cells that show a failure."""
        return [position for position, cell in self._ordered() if cell.verdict.bad and cell.signature == signature]

    def undecided(self) -> dict[str, list[tuple[SurveyRow, SurveyColumn]]]:
        """Reason → the cells that could not be told for it."""
        reasons: dict[str, list[tuple[SurveyRow, SurveyColumn]]] = {}
        for position, cell in self._ordered():
            if cell.reason is not None:
                reasons.setdefault(cell.reason, []).append(position)
        return reasons

    def counts(self) -> Mapping[CellVerdict, int]:
        """Cells by verdict."""
        return Counter(cell.verdict for cell in self.cells.values())

    @property
    def exit_code(self) -> int:
        """1 if any cell fails, 3 if every cell is undecided, else 0."""
        verdicts = self.counts()
        if any(verdict.bad for verdict in verdicts):
            return 1
        return 3 if set(verdicts) == {CellVerdict.UNDECIDED} else 0

    def to_json(self) -> dict[str, Any]:
        """The document ``triton-triage/survey/1``."""
        failures = self.failures()
        cells = [
            {**row.to_json(), **column.to_json(), **({"label": label} if label else {}), **cell.to_json()}
            for (row, column), cell in self._ordered()
            for label in [failures[cell.signature or ""].label if cell.verdict.bad else None]
        ]
        return SurveyDocument(self.name, self.columns, tuple(cells), tuple(failures.values()), self.devices).to_json()

    def _ordered(self) -> Iterator[tuple[tuple[SurveyRow, SurveyColumn], SurveyCell]]:
        for row in self.rows:
            for column in self.columns:
                if (cell := self.cells.get((row, column))) is not None:
                    yield (row, column), cell


@dataclass(frozen=True, slots=True)
class SurveyDocument(Documented):
    """The kernels of a project: cells in a list, each with its kernel, target, release and letter."""

    schema_name: ClassVar[str] = SCHEMA

    project: str
    columns: tuple[SurveyColumn, ...]
    cells: tuple[Mapping[str, Any], ...]
    failures: tuple[LabelledFailure, ...]
    device_functions: int
