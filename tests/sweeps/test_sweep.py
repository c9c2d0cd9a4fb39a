"""``triage sweep`` as a user runs it: the map, the ledger, shards, bad input. One small kernel, few compiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from commands import DATA, Run, Triage

from triage.model.schema import schema
from triage.sweeps.document import SweepDocument, from_json, to_json

OK = str(DATA / "ok.json")
AXES = ("--set", "BLOCK=64,96,128", "--set", "num_warps=1,2")


@pytest.fixture(scope="module")
def sweep(check: Triage, cache: Path) -> Triage:
    from commands import call_triage

    return lambda *arguments, **named: call_triage(cache, "sweep", *arguments, **named)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def swept(sweep: Triage, folder: Path) -> Run:
    return sweep(OK, *AXES, "--json", "-o", str(folder))


def states(document: Any) -> dict[tuple[int, ...], tuple[str, str | None]]:
    return {tuple(cell["at"]): (cell["state"], cell["failure"]) for cell in document["cells"]}


def without_times(document: Any) -> Any:
    return {
        **document,
        "cells": [{name: value for name, value in cell.items() if name != "duration_s"} for cell in document["cells"]],
    }


def test_every_combination_is_compiled_and_a_failure_has_a_letter(swept: Run, folder: Path) -> None:
    assert swept.code == 0, swept.err
    document = swept.document
    assert document["schema"] == "triton-triage/sweep/1"
    assert document["axes"] == {"BLOCK": [64, 96, 128], "num_warps": [1, 2]}
    compiled, failed = ("compiled", None), ("failed", "A")
    assert states(document) == {
        (0, 0): compiled, (0, 1): compiled, (1, 0): failed, (1, 1): failed, (2, 0): compiled, (2, 1): compiled,
    }  # fmt: skip
    failure = document["failures"]["A"]
    assert failure["signature"].startswith("v2|frontend-error|")
    assert failure["matches"][0]["id"] == "block-shape-not-power-of-two"
    assert document["counts"] == {
        "cells": 6, "compiled": 4, "failed": 2, "could-not-tell": 0, "predicted-legal": 0, "predicted-illegal": 0,
    }  # fmt: skip
    assert json.loads((folder / "map.json").read_text()) == document
    [rule] = document["rules"]
    assert (rule["text"], rule["support"], rule["exceptions"]) == ("illegal where BLOCK = 96", 2, 0)
    assert "def early_config_prune" in (folder / "rules.py").read_text()


def test_the_same_folder_again_compiles_only_what_is_missing(swept: Run, sweep: Triage, folder: Path) -> None:
    again = sweep("--resume", str(folder), "--json")
    assert "6 of 6 cells are in the ledger" in again.err
    assert again.document == swept.document
    more = sweep(OK, "--set", "BLOCK=64,96,128,256", "--set", "num_warps=1,2", "-o", str(folder), "--fail-on", "any")
    assert (more.code, "6 of 8 cells are in the ledger" in more.err) == (1, True)


def test_the_other_forms_of_a_map(swept: Run, sweep: Triage, folder: Path) -> None:
    table = sweep("--resume", str(folder), "--csv").out.splitlines()
    assert table[0].startswith("target,triton,BLOCK,num_warps,state,failure,")
    assert [line.split(",")[2:6] for line in table[3:5]] == [["96", "1", "failed", "A"], ["96", "2", "failed", "A"]]
    assert "illegal where BLOCK" in sweep("--resume", str(folder), "--markdown").out
    assert (folder / "map.html").read_text().startswith("<!doctype html>")
    assert "exclude each other" in sweep("--resume", str(folder), "--csv", "--json").err


def test_a_map_as_parquet(swept: Run, sweep: Triage, folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="no pyarrow")
    assert sweep("--resume", str(folder), "--parquet", str(tmp_path / "map.parquet")).code == 0
    rows = parquet.read_table(tmp_path / "map.parquet").to_pylist()
    shown = [(row["BLOCK"], row["num_warps"], row["state"], row["failure"], row["shared_bytes"]) for row in rows]
    assert shown[:3] == [(64, 1, "compiled", None, 0), (64, 2, "compiled", None, 0), (96, 1, "failed", "A", None)]
    assert {row["target"] for row in rows} == {"cuda:90"}


def test_tied_names_change_together(sweep: Triage, tmp_path: Path) -> None:
    run = sweep(OK, "--set", "x_ptr, y_ptr=fp32,bf16", "--set", "num_warps=1,2", "--json", "-o", str(tmp_path))
    assert run.code == 0, run.err
    assert run.document["axes"] == {"x_ptr": ["*fp32", "*bf16"], "num_warps": [1, 2]}
    assert run.document["tied"] == {"x_ptr": {"y_ptr": ["*fp32", "*bf16"]}}
    assert to_json(from_json(run.document)) == run.document
    assert "--arg 'x_ptr=*bf16' --arg 'y_ptr=*bf16'" in (tmp_path / "map.html").read_text().replace("\\u0027", "'")
    resumed = sweep("--resume", str(tmp_path))
    assert "4 of 4 cells are in the ledger" in resumed.err
    assert "y_ptr changes with x_ptr" in resumed.out


def test_a_document_is_read_back_as_the_same_map(swept: Run) -> None:
    assert to_json(from_json(swept.document)) == swept.document
    (rule,) = from_json(swept.document).rules
    assert rule.cells == 0b001100
    jsonschema.validate(swept.document, schema(SweepDocument, {}))


@pytest.mark.parametrize("count", [3, 8])
def test_merged_parts_are_the_whole(swept: Run, sweep: Triage, tmp_path: Path, count: int) -> None:
    parts = [str(tmp_path / str(number)) for number in range(1, count + 1)]
    for number, part in enumerate(parts, start=1):
        assert sweep(OK, *AXES, "--shard", f"{number}/{count}", "-o", part).code == 0
    merged = sweep("merge", *parts, "-o", str(tmp_path / "whole"), "--json")
    assert without_times(merged.document) == without_times(swept.document)
    # Its cells have the commands of the parts, also where it is completed later.
    assert f"triage check {OK} --const BLOCK=96" in sweep("--resume", str(tmp_path / "whole")).out
    assert sweep("merge", str(tmp_path / "whole"), "-o", str(tmp_path / "again"), "--json").code == 0


def test_a_budget_holds_when_the_sweep_goes_on(sweep: Triage, tmp_path: Path) -> None:
    first = sweep(OK, *AXES, "--budget", "2", "--json", "-o", str(tmp_path))
    resumed = sweep("--resume", str(tmp_path), "--json")
    assert first.document["counts"]["compiled"] + first.document["counts"]["failed"] == 2
    assert resumed.document["counts"] == first.document["counts"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "name one case"),
        ((OK,), "nothing varies"),
        ((OK, "--set", "BLOK=64"), "--set BLOK: add has no parameter and its compiler no option of this name; did you"),
        ((OK, "--set", "x_ptr=fp99"), "--set x_ptr: expected a Triton type"),
        ((OK, "--set", "num_warps=3"), "--set num_warps: must be a power of two"),
        ((OK, "--set", "BLOCK=1..9999", "--set", "num_stages=1..9999"), "a space of 99,980,001 cells"),
        ((OK, "--set", "BLOCK=1..10000000"), "has more than 10,000 values"),
        ((OK, *AXES, "--shard", "4/3"), "--shard 4/3: write I/N"),
        ((OK, *AXES, "--where", "BLOCK > 999"), "--where 'BLOCK > 999': no cell is left"),
        ((OK, *AXES, "--where", "BLOC > 9"), "BLOC is not an axis; they are BLOCK, num_warps"),
        ((OK, *AXES, "--budget", "3", "--exhaustive"), "leave out --budget"),
        ((OK, *AXES, "-o", ""), "Invalid value for '-o': the path is empty"),
        ((OK, "--set", "x_ptr,y_ptr=fp16", "--set", "y_ptr=fp32"), "--set y_ptr: set twice"),
        ((OK, "--set", "x_ptr,target=fp16"), "target cannot be tied"),
        (("--resume", "/nowhere"), "/nowhere: no ledger.sqlite in it"),
        ((f"{DATA / 'kernels.py'}::add", "--target", "cuda:1"), "--target 'cuda:1': write cuda:NN"),
        (("--resume", "/nowhere", "--set", "BLOCK=64"), "goes on with what is there; leave out --set"),
        (("--resume", "/nowhere", "--num-warps", "4"), "leave out --num-warps"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_compiled(sweep: Triage, arguments: tuple[str, ...], problem: str) -> None:
    done = sweep(*arguments)
    assert (done.code, done.out) == (2, "")
    assert problem in done.err
    assert len(done.err.splitlines()) == 1


def test_a_ledger_that_is_a_link_is_not_followed(sweep: Triage, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "ledger.sqlite").symlink_to(elsewhere)
    run = sweep(OK, *AXES, "-o", str(tmp_path / "map"))
    assert (run.code, "is a link" in run.err, elsewhere.exists()) == (2, True, False), run.err
