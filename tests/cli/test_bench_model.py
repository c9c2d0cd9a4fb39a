"""``triage bench-model``: tables of saved times, and one line where nothing can be measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from commands import DATA, Triage

from triage.frontends.documents import load
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.measurement import Measurement, NotMeasured
from triage.suggest import model_bench
from triage.suggest.model_bench import configurations

ADD = load(DATA / "ok.json")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Times of a copy that is slow with few elements a block, as it would be on a GPU."""
    rows = [{"changes": {"BLOCK": block, "num_warps": 4}, "measured_ms": 8 / block} for block in (32, 128, 512, 2048)]
    kernel = {"case": str(DATA / "ok.json"), "document": ADD.to_json(), "rows": rows}
    path = tmp_path / "table.json"
    path.write_text(
        json.dumps({"schema": "triton-triage/bench-model/1", "device": "a GPU", "triton": "3.9.0", "kernels": [kernel]})
    )
    return path


def test_saved_times_are_compared_with_new_estimates(cli: Triage, table: Path, tmp_path: Path) -> None:
    done = cli("bench-model", "--table", str(table), "--save", str(tmp_path / "new.json"), "--json")
    assert done.code == 0, done.err
    [kernel] = done.document["kernels"]
    assert [row["measured_ms"] for row in kernel["rows"]] == [0.25, 0.0625, 0.015625, 0.003906]
    assert all(row["expected_ms"] > 0 and row["bound_by"] for row in kernel["rows"])
    assert kernel["agreement"]["configurations"] == 4
    assert kernel["agreement"]["correlation"] > 0.5
    assert json.loads((tmp_path / "new.json").read_text()) == done.document
    spoken = cli("bench-model", "--table", str(tmp_path / "new.json")).out
    assert "Measured on a GPU, Triton 3.9.0" in spoken
    assert "rank correlation" in spoken


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        ((), 2, "bench-model: name a CASE, or a table with --table"),
        ((DATA / "ok.json",), 2, "the case states no inputs, so it cannot be launched"),
        (("--table", "TABLE", "--set", "BLOCK=1"), 2, "--set and --table exclude each other"),
        (("--table", "nowhere.json"), 2, "nowhere.json: cannot be read: No such file or directory"),
        (("--table", DATA / "ok.json"), 2, "schema: expected 'triton-triage/bench-model/1'"),
        (("--table", "TABLE", "a", "b"), 2, "has 1 kernels; name a CASE for each, or none"),
        (("wgmma-mn-major-warp-specialized", "--set", "NOWHERE=1,2"), 2, "--set NOWHERE: matmul has no such constexpr"),
        (("wgmma-mn-major-warp-specialized", "--set", "BLOCK_M"), 2, "--set BLOCK_M: write NAME=VALUE,VALUE"),
    ],
)
def test_one_line_of_what_is_wrong(
    cli: Triage, table: Path, arguments: tuple[object, ...], code: int, line: str
) -> None:
    done = cli("bench-model", *(str(table) if word == "TABLE" else str(word) for word in arguments))
    assert (done.code, done.out) == (code, "")
    assert line in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_row_of_another_kernel_is_an_input_error(cli: Triage, table: Path) -> None:
    document = json.loads(table.read_text())
    document["kernels"][0]["rows"][0]["changes"] = {"WIDTH": 3}
    table.write_text(json.dumps(document))
    done = cli("bench-model", "--table", str(table))
    assert done.code == 2
    assert "changes: WIDTH is neither a constexpr nor an option" in done.err


def test_configurations_are_the_case_itself_and_a_sample_that_does_not_change() -> None:
    several = [*configurations(ADD, {}, multiplies=False, most=8)]
    assert several == [*configurations(ADD, {}, multiplies=False, most=8)]
    assert several[0] == {}
    assert len({json.dumps(changes, sort_keys=True) for changes in several}) == 8
    axes = {"BLOCK": (64, 128), "num_warps": (2, 8)}
    given = [*configurations(ADD, axes, multiplies=False, most=9)]
    assert sorted(map(str, given)) == sorted(
        map(str, ({}, {"BLOCK": 64, "num_warps": 2}, {"BLOCK": 64, "num_warps": 8}, {"num_warps": 2}, {"num_warps": 8}))
    )


def test_what_is_measured_makes_the_table(
    cache: Path, release: Callable[[str], Toolchain], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the GPU: one launch is refused, one has other results, one has no time."""
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))

    def timed(cases: list[tuple[int, Case, Toolchain]], *_: object) -> Iterator[tuple[int, Measurement | NotMeasured]]:
        for index, case, _toolchain in cases:
            block = case.constexprs["BLOCK"]
            measured = Measurement(8 / block, 8 / block, 8 / block, 9, "a GPU", agrees=block != 64)
            yield index, NotMeasured("died of SIGSEGV") if block == 256 else measured

    monkeypatch.setattr(model_bench, "bench", timed)
    case = replace(ADD, inputs=frozen({"sizes": {"n": 4096}}))
    axes = {"BLOCK": (32, 64, 256, 512, 1024, 3)}
    with Engine(2, keep=True) as engine:
        table, device = model_bench.ModelBench(engine, Limits()).measure("add", case, release("3.9.0"), axes, 9)
    assert device == "a GPU"
    rows = {row.changes.get("BLOCK", 128): row for row in table.rows}
    assert rows[128].measured_ms == 8 / 128, "the case itself"
    assert (rows[256].problem, rows[256].measured_ms) == ("died of SIGSEGV", None)
    assert (rows[64].problem, rows[64].measured_ms) == ("its results differ from the others'", None)
    assert "power of 2" in rows[3].problem
    found = table.agreement
    assert found is not None
    assert found.configurations == 4
