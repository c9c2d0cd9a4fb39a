"""Where a compile fails, by what its journal says and what shows the failure alone: scripted, no compiler."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from triage.harness.request import JOURNAL, IrTask, RecordPasses, RunPasses, RunStage
from triage.minimize.ir.failure_point import NoIR, find
from triage.model.outcome import Stage


def step(name: str) -> dict[str, Any]:
    return {"adder": name, "arguments": [], "named": {}}


def record(kind: str, stage: str, pipeline: int, file: str | None, *names: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "stage": stage, "pipeline": pipeline, "file": file, "steps": [step(n) for n in names], **more}


STEPPED = [
    record("pass", "ttir", 1, "0001.mlir", "a"),
    record("pass", "ttgir", 2, "0002.mlir", "b"),
    record("pass", "ttgir", 2, "0003.mlir", "c"),
    record("pass", "ttgir", 2, "0004.mlir", "d"),
]
WHOLE = [record("pipeline", "ttir", 1, "0001.mlir", "a"), record("pipeline", "ttgir", 2, "0002.mlir", "b", "c", "d")]


class Compiler:
    """Stands in for the runs: writes journals, and fails alike where ``alike`` says so of the passes run."""

    def __init__(self, folder: Path, stage: Stage, alike: Callable[[IrTask], bool], stepped: Any = STEPPED) -> None:
        self.folder, self._alike, self._stepped = folder, alike, stepped
        self.case = SimpleNamespace(folder=Path("/nowhere/at/all"))
        self.failure = SimpleNamespace(outcome=SimpleNamespace(stage=stage, imported=True))

    def run(self, task: IrTask) -> None:
        assert isinstance(task, RecordPasses)
        records = self._stepped if task.step else WHOLE
        for one in records:
            if one["file"] is not None:
                (task.folder / one["file"]).write_text(f"// {one['file']}")
        (task.folder / JOURNAL).write_text("".join(json.dumps(one) + "\n" for one in records) + '{"cut sho')

    def shows(self, task: IrTask) -> Any:
        return ("diagnosis", "outcome") if self._alike(task) else None


def names(task: IrTask) -> list[str]:
    return [one["adder"] for one in task.steps] if isinstance(task, RunPasses) else []


def place(folder: Path, stage: Stage, alike: Callable[[IrTask], bool], stepped: Any = STEPPED) -> tuple[list[str], str]:
    found = find(Compiler(folder, stage, alike, stepped))  # type: ignore[arg-type]
    return [one["adder"] for one in found.passes], found.text


def test_the_last_pass_of_the_stage_that_failed(tmp_path: Path) -> None:
    assert place(tmp_path, Stage.TTGIR, lambda task: names(task) == ["d"]) == (["d"], "// 0004.mlir")
    assert place(tmp_path, Stage.TTIR, lambda task: names(task) == ["a"]) == (["a"], "// 0001.mlir")


def test_the_fewest_passes_that_fail_together(tmp_path: Path) -> None:
    assert place(tmp_path, Stage.TTGIR, lambda task: names(task)[-2:] == ["c", "d"]) == (["c", "d"], "// 0003.mlir")


def test_the_pipeline_whole_where_stepping_does_not_show_it(tmp_path: Path) -> None:
    got_through = [*STEPPED, record("stage", "ptx", 2, "0005.txt")]

    def alike(task: IrTask) -> bool:
        return isinstance(task, RunPasses) and "whole" in seen(task) and {"b", "d"} <= set(names(task))

    def seen(task: RunPasses) -> str:
        return "whole" if task.file.read_text() == "// 0002.mlir" and names(task) != ["b", "c", "d"][1:] else ""

    stepped_differs = [one for one in got_through if one["file"] != "0002.mlir"]
    assert place(tmp_path, Stage.TTGIR, alike, stepped_differs) == (["b", "d"], "// 0002.mlir")


def test_a_later_stage_by_its_text_and_how_it_called_its_tool(tmp_path: Path) -> None:
    journal = [
        *STEPPED,
        record("stage", "cubin", 2, "0005.txt"),
        record("call", "cubin", 2, None, arguments=["/x/ptxas", "-v", "/tmp/t.ptx"]),
    ]
    compiler = Compiler(tmp_path, Stage.CUBIN, lambda task: isinstance(task, RunStage), journal)
    found = find(compiler)  # type: ignore[arg-type]
    assert (found.passes, found.ending, found.call) == ((), ".ptx", ["/x/ptxas", "-v", "/tmp/t.ptx"])


@pytest.mark.parametrize(
    ("stage", "reason"), [(Stage.SOURCE, "front end"), (Stage.LOAD, "over a limit"), (Stage.LAUNCH, "launched")]
)
def test_without_ir(tmp_path: Path, stage: Stage, reason: str) -> None:
    with pytest.raises(NoIR, match=reason):
        place(tmp_path, stage, lambda task: True)


def test_a_file_that_fails_on_import_is_no_front_end(tmp_path: Path) -> None:
    compiler = Compiler(tmp_path, Stage.SOURCE, lambda task: True)
    compiler.failure.outcome.imported = False
    with pytest.raises(NoIR, match="imported"):
        find(compiler)  # type: ignore[arg-type]


def test_what_nothing_shows_alone_is_said(tmp_path: Path) -> None:
    with pytest.raises(NoIR, match="no pass or stage shows it alone"):
        place(tmp_path, Stage.TTGIR, lambda task: False)
