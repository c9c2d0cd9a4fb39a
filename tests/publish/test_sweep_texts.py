"""A sweep's map on the terminal and in an issue."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from golden_files import Golden
from hostile import HOSTILE
from rich.console import Console
from sweep_maps import COMMANDS, SHARED, matmul, view, with_text

from triage.model.report import ExpectedTime
from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_document import document
from triage.publish.compose.sweep_layout import layout
from triage.publish.compose.sweep_parts import grouped
from triage.publish.formats import markdown
from triage.publish.formats.html import sweep as html
from triage.publish.formats.terminal import sweep
from triage.publish.privacy import LocalIdentity, Scrubber
from triage.sweeps.commands import SweepCommands, axis_words
from triage.sweeps.grid import Grid, SweepAxis
from triage.sweeps.observation import CellObservation, CellState, Predicted
from triage.sweeps.replacement import Replacement


def shown(of: SweepView, width: int = 80, **options: object) -> str:
    """What a terminal of this width shows."""
    out = io.StringIO()
    sweep.show(Console(file=out, width=width, highlight=False, **options), of)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 100])
def test_the_terminal_shows_a_slice(golden: Golden, width: int) -> None:
    text = shown(view(matmul()), width)
    golden(text)
    rows = [line for line in text.splitlines() if "triage " not in line]
    assert max(map(len, rows)) <= width


def test_an_issue_has_the_same_facts(golden: Golden) -> None:
    golden(markdown.render(document(view(matmul()))))


def test_colours_add_nothing() -> None:
    of = view(matmul())
    coloured = shown(of, force_terminal=True, color_system="truecolor")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(of)


def test_every_cell_has_one_look() -> None:
    of = view(matmul())
    union = 0
    for cells in of.looks.values():
        assert not union & cells
        union |= cells
    assert union == of.grid.allowed
    assert sum(of.counts.values()) == len(of.grid)


def test_axes_that_matter_most_are_rows_and_columns() -> None:
    of = view(matmul(compiled=1))
    shape = layout(of)
    assert {of.axes[axis].name for axis in (shape.rows, shape.columns) if axis is not None} == {"BM", "BK"}
    assert [of.axes[axis].name for axis in shape.panels] == ["target", "triton"]
    assert "EVEN" not in {of.axes[axis].name for axis in shape.others}


@pytest.mark.parametrize("axes", [(), (SweepAxis("BM", (64,)),), (SweepAxis("BM", (64, 128)),)])
def test_few_axes(axes: tuple[SweepAxis, ...]) -> None:
    grid = Grid(axes)
    seen = {0: CellObservation(CellState.COMPILED)}
    whole = replace(matmul(), grid=grid, observations=seen, rules=(), predicted=Predicted())
    # Of a single cell the headline says all.
    several = len(grid) > 1
    for text in (shown(view(whole)), markdown.render(document(view(whole)))):
        assert view(whole).headline.partition(": ")[2] in text
        assert ("\u2713" in text) is several


def test_an_interrupted_sweep_says_what_is_missing() -> None:
    text = shown(view(replace(matmul(), predicted=Predicted(), interrupted=True)))
    assert "neither compiled nor predicted." in text
    assert "--resume" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_foreign_text_stays_text(name: str) -> None:
    whole = with_text(matmul(stages=(2, 3), targets=False), HOSTILE[name])
    text = shown(view(whole), color_system=None)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    written = markdown.render(document(view(whole)))
    assert "<script>" not in re.sub(r"(`+).*?\1", "", written)


def test_a_list_has_its_replacements_in_every_format() -> None:
    expected = ExpectedTime((0.8, 1.2), "tensor-cores")
    entries = (
        Replacement("H100.json", "64", "cuda:120", "s", "x", {"num_stages": 2, "BLOCK_SIZE_K": 64}, expected),
        Replacement("H100.json", "<b>", "cuda:89", "s", "x", None),
    )
    of = view(replace(matmul(), replacements=entries))
    words = "num_stages=2 BLOCK_SIZE_K=64 (expected 0.8\u20131.2 \u00d7 of the time)"
    for text in (markdown.render(document(of)), html.page(of)):
        assert words in text
        assert "no neighbour that compiles and computes the same" in text
    assert "<b>" not in html.page(of)


def test_heads_that_begin_alike_are_told_apart() -> None:
    types = tuple(f"tensordesc<fp{bits}[64, 64]>" for bits in (16, 32))
    grid = Grid((SweepAxis("BM", (64, 128, 256)), SweepAxis("a", types)))
    seen = {
        cell: CellObservation(CellState.COMPILED if cell % 5 else CellState.FAILED, SHARED if not cell % 5 else None)
        for cell in range(grid.size)
    }
    text = shown(view(replace(matmul(), grid=grid, observations=seen, rules=(), predicted=Predicted())))
    assert re.search(r"BM +\S*16\[64, 64\]> +\S*32\[64, 64\]>", text), text


def test_a_list_shows_what_fails_and_where() -> None:
    """Labels are whole, whatever the width; what compiles is counted."""
    names = tuple(
        f"fp8 BLOCK_SIZE_M={16 << index} BLOCK_SIZE_N=128 BLOCK_SIZE_K=256 num_stages=4" for index in range(4)
    )
    grid = Grid((SweepAxis("configuration", names), SweepAxis("target", ("cuda:89", "cuda:90"))))
    fails = {(2, 0), (3, 0), (3, 1)}
    seen = {
        cell: CellObservation(CellState.FAILED, SHARED, "out of resource")
        if grid.at(cell) in fails
        else CellObservation(CellState.COMPILED)
        for cell in range(grid.size)
    }
    of = view(replace(matmul(), grid=grid, observations=seen, rules=(), predicted=Predicted(), kernels=2))
    text = " ".join(shown(of).split())
    assert text.startswith(
        "2 kernels: 2 of 4 configurations fail for some target, in 2 ways 8 compiled: 5 legal, 3 fail."
    )
    assert f"A {names[2]}: cuda:89 A {names[3]} A out of resource" in text
    assert names[0] not in text
    issue = markdown.render(document(of))
    assert f"A: `{names[2]}` for cuda:89" in issue
    assert names[0] not in issue


def test_entries_with_the_same_replacement_stand_together() -> None:
    entries = [
        ("a.json", "1", "cuda:89"),
        ("a.json", "1", "cuda:90"),
        ("a.json", "2", "cuda:89"),
        ("b.json", "2", "cuda:89"),
    ]
    chosen = [Replacement(*each, "s", "x", {"num_stages": 2 if each[1] == "1" else 3}) for each in entries]
    chosen.append(Replacement("a.json", "4", "cuda:89", "s", "x", {"num_stages": 3}))
    assert [(each.file, each.entries, each.targets, each.words) for each in grouped(chosen)] == [
        ("a.json", "1", "cuda:89, cuda:90", "num_stages=2"),
        ("a.json", "2, 4", "cuda:89", "num_stages=3"),
        ("b.json", "2", "cuda:89", "num_stages=3"),
    ]


def test_private_names_are_removed() -> None:
    scrubber = Scrubber(LocalIdentity(users=("jdoe",)))
    whole = with_text(matmul(stages=(2, 3), targets=False), "cannot open /home/jdoe/kernels/x.py")
    of = SweepView(whole, SweepCommands(("triage", "check", "/home/jdoe/case"), COMMANDS.again), scrubber)
    assert "jdoe" not in markdown.render(document(of))
    assert "jdoe" not in shown(of)


def test_the_command_of_a_cell_sets_every_axis() -> None:
    case = matmul().case
    words = {"BM": 64, "dtype": "tl.float32", "num_warps": 8, "target": "cuda:80", "triton": "3.2.0", "a_ptr": "*fp8"}
    assert [word for name, value in words.items() for word in axis_words(case, name, value)] == [
        *("--const", "BM=64", "--const", "dtype=tl.float32", "--num-warps", "8"),
        *("--target", "cuda:80", "--triton", "3.2.0", "--arg", "a_ptr=*fp8"),
    ]
    assert axis_words(case, "num_stages", None) == []
    assert axis_words(case, "config", {"BM": 32, "num_warps": 2}) == ["--const", "BM=32", "--num-warps", "2"]
