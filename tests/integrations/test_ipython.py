"""``%load_ext triage``: cells whose compile would end the kernel fail alone, and are explained below."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import new_cache
from plugin_suites import PROGRAMS, ROOT

CELLS: dict[str, str] = runpy.run_path(str(PROGRAMS / "cells.py"))["CELLS"]


def variables(folder: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_TRIAGE_")}
    return {
        **own,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PROGRAMS), str(folder)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": str(folder / "ipython"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TRITON_TRIAGE_CACHE": str(new_cache(folder / "cache")),
        "TRITON_DEFAULT_FP_FUSION": "1",
        "TMPDIR": str(folder),
    }


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each cell printed in a terminal's shell, and how it ended."""
    pytest.importorskip("IPython", reason="the dev extra brings it")
    folder = tmp_path_factory.mktemp("terminal")
    command = [sys.executable, PROGRAMS / "cells.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=variables(folder))
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^\[([a-z ]+)\]\n", done.stdout, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


FAILING = ["abort", "raises", "other", "reloads", "unguarded", "guarded again"]
LINE = "kernel [HOW=abort BLOCK=64 num_warps=4 num_stages=3] for cuda:90 kills the compiler (SIGABRT)"


def test_cells_that_would_end_the_kernel_fail_alone(terminal: dict[str, str]) -> None:
    ended = {name: out.splitlines()[-1] for name, out in terminal.items()}
    assert ended == {name: "failure" if name in FAILING else "success" for name in CELLS}


def test_a_failure_is_explained_below_its_cell_and_nothing_said_twice(terminal: dict[str, str]) -> None:
    out = terminal["abort"]
    assert f"CompileFailed: {LINE}" in out
    above, below = out.split("\ntriage: what failed\n")
    assert below.startswith("  where: stage source\n")
    assert re.search(r"^  triage check \S+-\d+-\d+$", below, re.MULTILINE)
    assert LINE not in below
    # Of Triton's frames and triage's, none is shown.
    assert "site-packages" not in above
    assert "triage/capture" not in above
    assert "kernel[(1,)](toolbox.Tensor(), 'abort', 64)" in above


def test_an_exception_of_tritons_own_is_explained_as_well(terminal: dict[str, str]) -> None:
    assert "does not compile: NameError: missing is not defined" in terminal["raises"]


def test_a_cell_that_goes_on_says_what_was_skipped(terminal: dict[str, str]) -> None:
    assert "triage: configurations that the guard skipped\n" in terminal["tuned"]
    assert ": 128\n" in terminal["tuned"]


def test_cells_without_a_compile_are_as_ever(terminal: dict[str, str]) -> None:
    for name in ("good", "mended", "other", "reloaded", "unguarded"):
        assert "triage:" not in terminal[name]
    assert "PassManager::run failed" in terminal["unguarded"]


def test_reloaded_modules_are_read_anew(terminal: dict[str, str]) -> None:
    assert "arange's range must be a power of 2" in terminal["reloads"]
    assert terminal["reloaded"] == "success\n"


@pytest.mark.slow
def test_in_a_notebook_the_report_is_html(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="the dev extra brings it")
    pytest.importorskip("ipykernel", reason="the dev extra brings it")
    import nbformat

    for name, value in variables(tmp_path).items():
        monkeypatch.setenv(name, value)
    cells = {name: CELLS[name] for name in ("load", "import", "define", "good", "abort", "tuned")}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells.values()])
    client = nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3")
    client.execute(cwd=str(tmp_path))
    outputs: dict[str, list[Any]] = dict(zip(cells, [cell.outputs for cell in notebook.cells], strict=True))
    assert outputs["good"] == []
    error, shown = outputs["abort"]
    assert error.output_type == "error"
    assert error.ename == "CompileFailed"
    assert LINE in error.evalue
    assert "site-packages" not in "".join(error.traceback)
    assert shown.data["text/html"].startswith('<pre class="triage"')
    assert "<b>triage: what failed</b>" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("triage: what failed\n")
    assert any("skipped" in one.get("data", {}).get("text/html", "") for one in outputs["tuned"])
