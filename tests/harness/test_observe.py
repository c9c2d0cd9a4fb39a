"""What an observed run shows: the pass that was running and the module it was run on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from triage.harness import artifacts, observe

MODULE = '#blocked = #ttg.blocked<{}>\nmodule attributes {"ttg.num-warps" = 4 : i32} {\n  tt.func @k() {\n  }\n}\n'


def reproducer(pipeline: str) -> str:
    return f'{MODULE}\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: "{pipeline}",\n'


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        ("builtin.module(convert-nv-gpu-to-llvm)", "convert-nv-gpu-to-llvm"),
        ("builtin.module(tritongpu-pipeline{num-stages=3 dump=false})", "tritongpu-pipeline"),
        # Written before anything ran: the whole pipeline.
        ("builtin.module(canonicalize{a=1},cse,symbol-dce)", None),
        ("any(canonicalize,cse)", None),
    ],
)
def test_a_reproducer_names_a_pass_only_after_it_failed(tmp_path: Path, pipeline: str, expected: str | None) -> None:
    (tmp_path / "reproducer.mlir.make_llir.repro.mlir").write_text(reproducer(pipeline))
    seen = observe.read(observe.How.REPRODUCER, tmp_path, "")
    assert (seen.pass_name if seen else None) == expected
    if seen:
        assert seen.module.strip() == MODULE.strip()
        assert seen.reproducer == reproducer(pipeline)


def test_of_several_reproducers_the_newest_that_names_a_pass(tmp_path: Path) -> None:
    for age, (name, pipeline) in enumerate({"new": "any(a,b)", "old": "builtin.module(cse)"}.items()):
        path = tmp_path / f"reproducer.mlir.{name}"
        path.write_text(reproducer(pipeline))
        os.utime(path, (1000 - age, 1000 - age))
    seen = observe.read(observe.How.REPRODUCER, tmp_path, "")
    assert seen is not None
    assert seen.pass_name == "cse"


def test_the_cheapest_way_by_release() -> None:
    ways = {version: observe.first_way(version) for version in ("3.0.0", "3.2.0", "3.3.0", "3.9.0", "3.10.0+git1")}
    assert ways == {
        "3.0.0": observe.How.DUMP,
        "3.2.0": observe.How.DUMP,
        "3.3.0": observe.How.REPRODUCER,
        "3.9.0": observe.How.REPRODUCER,
        "3.10.0+git1": observe.How.REPRODUCER,
    }


# --- what a failed compile leaves -----------------------------------------------------------------------------------


def test_artifacts_have_stable_names(tmp_path: Path) -> None:
    folder = tmp_path / "attempt"
    entry = folder / "cache" / "HASH"
    entry.mkdir(parents=True)
    for stage in ("source", "ttir", "ttgir", "json"):
        (entry / f"kernel.{stage}").write_text(stage)
    (entry / "kernel.llir").write_text("")  # begun and not written
    (folder / "tmpabc.ptx").write_text("// ptx")
    (folder / "python-stack.txt").write_text("Fatal Python error")
    kept = artifacts.collect(folder, "the log", tmp_path / "kept")
    assert {name: path.read_text() for name, path in kept.items()} == {
        "log": "the log",
        "source": "source",
        "ttir": "ttir",
        "ttgir": "ttgir",
        "ptx": "// ptx",
        "python_stack": "Fatal Python error",
        "ir": "// ptx",
    }
    (folder / artifacts.PASS_INPUT).write_text("module {}")
    assert artifacts.collect(folder, "", tmp_path / "again")["ir"].read_text() == "module {}"


def test_without_a_folder_there_is_the_log(tmp_path: Path) -> None:
    assert list(artifacts.collect(None, "text \udcff", tmp_path)) == ["log"]
