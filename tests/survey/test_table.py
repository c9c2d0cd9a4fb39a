"""The table of a survey: rows, letters, counts, exit codes, and how it is printed."""

from __future__ import annotations

import io

import pytest
from golden_files import Golden
from rich.console import Console

from triage.matrix.cell import CellVerdict
from triage.publish.formats.terminal import survey as render
from triage.survey.table import KernelTable, SurveyCell, SurveyColumn, SurveyRow

COMPILES = SurveyCell(CellVerdict.COMPILES)
SMALL, LARGE = SurveyColumn("cuda:86", "3.9.0"), SurveyColumn("hip:gfx942", "3.9.0")
NORM = SurveyRow("ops/norm.py", 30, "norm")
NORM_BACKWARD = SurveyRow("ops/norm.py", 80, "norm_backward", "BLOCK=64 num_warps=4")
ATTENTION = SurveyRow("attention.py", 12, "attention")


def fails(signature: str, verdict: CellVerdict = CellVerdict.FAILS, known: str | None = None) -> SurveyCell:
    return SurveyCell(verdict, signature, f"what {signature} looks like", "assertion", "llir", known)


def undecided(reason: str) -> SurveyCell:
    return SurveyCell(CellVerdict.UNDECIDED, reason=reason)


def table(**cells: tuple[SurveyCell | None, SurveyCell | None]) -> KernelTable:
    rows = {"norm": NORM, "norm_backward": NORM_BACKWARD, "attention": ATTENTION}
    filled = {
        (rows[name], column): cell
        for name, pair in cells.items()
        for column, cell in zip((SMALL, LARGE), pair, strict=True)
        if cell is not None
    }
    return KernelTable("project", (SMALL, LARGE), 3, filled)


MIXED = table(
    norm=(fails("one"), COMPILES),
    norm_backward=(fails("two", CellVerdict.SUSPECT, "an-entry"), fails("two", known="an-entry")),
    attention=(undecided("drafted arguments were refused: no such type"), None),
)


def printed(table: KernelTable) -> str:
    console = Console(file=io.StringIO(), width=100, highlight=False)
    render.table(console, table, lambda row, column: f"triage check {row.file}::{row.kernel} --target {column.target}")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_rows_are_in_the_order_of_files_and_lines() -> None:
    assert MIXED.rows == [ATTENTION, NORM, NORM_BACKWARD]


def test_the_failure_of_most_cells_is_the_first() -> None:
    assert {failure.label: signature for signature, failure in MIXED.failures().items()} == {"A": "two", "B": "one"}


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        (MIXED, 1),
        (table(norm=(COMPILES, COMPILES)), 0),
        (table(norm=(COMPILES, undecided("why"))), 0),
        (table(norm=(undecided("why"), undecided("other"))), 3),
        (table(norm=(fails("one"), undecided("why"))), 1),
    ],
)
def test_exit_codes(cells: KernelTable, code: int) -> None:
    assert cells.exit_code == code


def test_the_document() -> None:
    document = MIXED.to_json()
    assert document["schema"] == "triton-triage/survey/1"
    assert document["device_functions"] == 3
    assert document["cells"][0] == {
        "file": "attention.py", "line": 12, "kernel": "attention", "configuration": "",
        "target": "cuda:86", "triton": "3.9.0",
        "verdict": "could not tell", "reason": "drafted arguments were refused: no such type",
    }  # fmt: skip
    assert [cell.get("label") for cell in document["cells"]] == [None, "B", None, "A", "A"]


def test_how_it_is_printed(golden: Golden) -> None:
    golden(printed(MIXED), "mixed")
    golden(printed(table(norm=(COMPILES, COMPILES))), "all compile")
    both = (SurveyColumn("cuda:90", "3.6.0"), SurveyColumn("cuda:90", "3.7.1"))
    releases = KernelTable("project", both, 0, {(NORM, both[0]): COMPILES, (NORM, both[1]): fails("one")})
    golden(printed(releases), "releases")
