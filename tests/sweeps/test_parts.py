"""Sweeps that go on and parts that are merged: what a single run would say, and the parts stay as they are."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import DATA, Run, call_triage

from triage.sweeps.ledger import FILE

OK = str(DATA / "ok.json")
GRID = ("--set", "BLOCK=64,96,128,192,256,384", "--set", "num_warps=1,2,4,8", "--set", "num_stages=1..4")
CELLS, BUDGET = 96, 28
COMPILED, PREDICTED = ("compiled", "failed"), ("predicted-legal", "predicted-illegal")


@pytest.fixture(scope="module")
def sweep(cache: Path) -> Callable[..., Run]:
    return lambda *arguments, **named: call_triage(cache, "sweep", *arguments, **named)


@pytest.fixture(scope="module")
def active(sweep: Callable[..., Run], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """An active sweep that ended within its budget."""
    folder = tmp_path_factory.mktemp("active")
    run = sweep(OK, *GRID, "--budget", str(BUDGET), "-o", str(folder), "--json")
    assert run.code == 0, run.err
    return folder, run


def test_a_damaged_part_is_named(sweep: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("no database")
    run = sweep("merge", str(tmp_path), "-o", str(tmp_path / "whole"))
    assert (run.code, run.err.partition(" (")[0]) == (2, f"triage: {tmp_path / FILE}: not a ledger that can be read")


def files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def compiled(run: Run) -> dict[tuple[int, ...], Any]:
    return {tuple(cell["at"]): cell for cell in run.document["cells"] if cell["state"] in COMPILED}


def number(document: dict[str, dict[str, int]], states: tuple[str, ...]) -> int:
    return sum(document["counts"][state] for state in states)


def test_a_sweep_that_ended_compiles_nothing_more_and_says_the_same(
    active: tuple[Path, Run], sweep: Callable[..., Run], tmp_path: Path
) -> None:
    folder, run = active
    assert run.document["error_bound"] is not None
    assert [rule["text"] for rule in run.document["rules"]] != []
    again = sweep("--resume", str(shutil.copytree(folder, tmp_path / "again")), "--json")
    assert "nothing is compiled" in again.err
    for name in ("error_bound", "probes", "rules", "failures"):
        assert again.document[name] == run.document[name]
    assert compiled(again) == compiled(run)
    more = sweep("--resume", str(tmp_path / "again"), "--budget", str(BUDGET + 8), "--json")
    assert BUDGET < number(more.document, COMPILED) <= BUDGET + 8
    assert more.document["probes"] >= run.document["probes"]


@pytest.mark.slow
def test_what_is_merged_is_predicted_again_and_the_parts_are_only_read(
    active: tuple[Path, Run], sweep: Callable[..., Run], tmp_path: Path
) -> None:
    folder, run = active
    part = tmp_path / "part"
    assert sweep(OK, *GRID, "--exhaustive", "--shard", "1/4", "-o", str(part)).code == 0
    before = files(folder), files(part)
    for each in (folder, part):
        each.chmod(0o555)
    merged = sweep("merge", str(folder), str(part), "-o", str(tmp_path / "all"), "--json")
    for each in (folder, part):
        each.chmod(0o755)
    assert merged.code == 0, merged.err
    assert before == (files(folder), files(part))
    cells = [(*cell["at"], cell["target"], cell["release"]) for cell in merged.document["cells"]]
    assert len(set(cells)) == len(cells) == CELLS, "a cell is compiled or predicted, never both"
    of_part = {tuple(cell["at"]): cell for cell in json.loads((part / "map.json").read_text())["cells"]}
    assert compiled(merged).keys() == compiled(run).keys() | of_part.keys()
    assert number(merged.document, PREDICTED) == CELLS - len(compiled(merged)) > 0
    assert (merged.document["error_bound"], merged.document["probes"]) == (
        run.document["error_bound"],
        run.document["probes"],
    )
    resumed = sweep("--resume", str(tmp_path / "all"), "--json")
    assert compiled(resumed) == compiled(merged)


def test_what_cannot_be_merged(active: tuple[Path, Run], sweep: Callable[..., Run], tmp_path: Path) -> None:
    folder = str(active[0])
    for arguments, problem in (
        (("merge", folder, "-o", folder), "is one of the merged folders"),
        (("merge", folder, "-o", str(tmp_path), "--set", "BLOCK=64"), "compiles nothing; leave out --set"),
        (("merge", folder, "-o", str(tmp_path), "--budget", "9"), "leave out --budget"),
        (("merge", str(tmp_path / "none"), "-o", str(tmp_path)), f"no {FILE} in it"),
    ):
        run = sweep(*arguments)
        assert (run.code, run.out, problem in run.err) == (2, "", True), run.err
        assert len(run.err.splitlines()) == 1
