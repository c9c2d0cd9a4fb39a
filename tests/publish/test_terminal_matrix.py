"""The table's two renderings from values alone: nothing foreign becomes markup, and different bugs are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.matrix.cell import CellVerdict, MatrixCell
from triage.matrix.history import history
from triage.matrix.releases import Row
from triage.matrix.table import Bisected, MatrixTable
from triage.model.case import Case, frozen
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import matrix as render_matrix

NASTY = "\x1b[31m<b>@somebody</b> `code` | https://example.com [x](y)"
RELEASES = ("3.2.0", "3.3.1", "3.4.0", "3.5.1")


@pytest.fixture
def table(tmp_path: Path) -> MatrixTable:
    cells = {
        "3.2.0": MatrixCell(CellVerdict.NOT_APPLICABLE, reason=NASTY),
        "3.3.1": MatrixCell(CellVerdict.FAILS, signature="v2|a|x", headline=NASTY),
        "3.5.1": MatrixCell(CellVerdict.SUSPECT, signature="v2|b|x", headline="the same words"),
    }
    case = Case(tmp_path, "kernel.py", "matmul", frozen({"x": "*fp32"}), frozen({"TEXT": NASTY}))
    return MatrixTable(
        case,
        tuple(Row(name, release=name) for name in RELEASES),
        ("cuda:90",),
        {(name, "cuda:90"): cell for name, cell in cells.items()},
        (history("cuda:90", RELEASES, cells, RELEASES),),
        Bisected(4, 4, {"cuda:90": 3}),
    )


def test_foreign_text_stands_in_code_spans(table: MatrixTable) -> None:
    text = render_matrix.markdown(table, "triage matrix case")
    assert "\x1b" not in text
    for line in text.splitlines():
        if "somebody" in line:
            # Its own backticks cannot end the span: the fence is longer than any of them.
            before, span, after = line.partition("``")[0], line.split("``")[1], line.split("``")[-1]
            assert "somebody" in span
            assert "somebody" not in before + after
    assert "| 3.2.0 | not applicable |\n| 3.3.1 | fails A |\n| 3.4.0 | · |\n| 3.5.1 | suspect B |\n" in text


def test_the_terminal_shows_what_was_not_tried_and_both_signatures(
    table: MatrixTable, capsys: pytest.CaptureFixture[str]
) -> None:
    render_matrix.table(console.output(), table, "triage matrix case")
    said = capsys.readouterr().out
    assert "\x1b" not in said
    for line in ("3.4.0   ·", "3.5.1   suspect B", "   v2|a|x", "   v2|b|x", "·: not tried"):
        assert line in said.splitlines()
    assert "fails 3.3.1 (A); suspect 3.5.1 (B)" in said
    assert "bisected 4 releases; compiles: 3 for cuda:90; at most 4 each" in said


def test_letters_go_on_behind_z(table: MatrixTable) -> None:
    names = [f"3.{number}.0" for number in range(30)]
    cells = {(name, "cuda:90"): MatrixCell(CellVerdict.FAILS, signature=name, headline=name) for name in names}
    many = MatrixTable(table.case, tuple(Row(name) for name in names), ("cuda:90",), cells, ())
    assert [one.label for one in many.failures().values()][24:30] == ["Y", "Z", "AA", "AB", "AC", "AD"]
