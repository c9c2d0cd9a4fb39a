"""Programs that launch on a GPU, with and without a guard: skipped where torch, a GPU or a C compiler is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available() or torch.version.hip or not (shutil.which("gcc") or shutil.which("cc")):
    pytest.skip("no NVIDIA GPU that torch can use, or no C compiler", allow_module_level=True)

PROGRAMS = Path(__file__).parent / "programs"
HOPPER = pytest.mark.skipif(torch.cuda.get_device_capability()[0] != 9, reason="the failure is Hopper's")
Done = subprocess.CompletedProcess[str]


def start(folder: Path, program: str, *options: str, triage: bool = True, **variables: str) -> Done:
    """The program, under ``triage run`` or by itself."""
    folders = {"TRITON_CACHE_DIR": str(folder / "triton"), "TRITON_TRIAGE_CACHE": str(folder / "cache")}
    around = ["-m", "triage", "run", "--no-suggest", "-o", str(folder / "out"), *options, "--", sys.executable]
    return subprocess.run(
        [sys.executable, *(around if triage else []), str(PROGRAMS / program)],
        env={**os.environ, **folders, **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@HOPPER
def test_without_a_guard_the_program_ends_with_the_right_report(tmp_path: Path) -> None:
    done = start(tmp_path, "tuned_matmul.py", "--json")
    assert done.returncode != 0
    (finding,) = json.loads((tmp_path / "out" / "run.json").read_text())["findings"]
    assert finding["reproduced"]
    diagnosis = finding["report"]["diagnosis"]
    assert (diagnosis["kind"], diagnosis["pass"]) == ("assertion", "convert-nv-gpu-to-llvm")
    assert diagnosis["function"] == "WGMMAOpPattern::getPtxAsm"
    assert finding["report"]["case"]["constexprs"]["WARP_SPECIALIZE"] is True


@HOPPER
def test_under_the_guard_it_ends_with_a_right_result(tmp_path: Path) -> None:
    for attempt in range(2):  # with a warm cache as well
        done = start(tmp_path, "tuned_matmul.py", "--guard")
        assert (done.returncode, done.stdout) == (0, "correct; 1 of 3 configurations failed\n"), (attempt, done.stderr)
        assert "the guard kept 1 configuration from ending the program" in done.stderr


@HOPPER
def test_pruning_leaves_the_tuner_what_compiles(tmp_path: Path) -> None:
    done = start(tmp_path, "tuned_matmul.py", triage=False, PRUNE="1")
    assert (done.returncode, done.stdout) == (0, "correct; 0 of 3 configurations failed\n"), done.stderr


def test_threads_of_a_process_with_a_context(tmp_path: Path) -> None:
    done = start(tmp_path, "threads.py", triage=False)
    assert done.stdout == "[True, 'CompileFailed', True, 'CompileFailed']\n1 0.0\n", done.stderr


@pytest.mark.parametrize("options", [(), ("--guard",)])
def test_what_inductor_compiles(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = start(tmp_path, "inductor.py", *options)
    assert (done.returncode, done.stdout) == (0, "close True 6\n"), done.stderr
    assert "none failed" in done.stderr.splitlines()[-1]
    assert "note" not in done.stderr.splitlines()[-1]


def test_a_kernel_that_cannot_be_loaded(tmp_path: Path) -> None:
    plain = start(tmp_path, "too_large.py", triage=False)
    done = start(tmp_path, "too_large.py", "--json")
    assert done.returncode == plain.returncode == 1
    assert done.stderr.startswith(plain.stderr)
    (finding,) = json.loads((tmp_path / "out" / "run.json").read_text())["findings"]
    assert "OutOfResources" in finding["captured"][0]["error"]
    assert finding["report"]["diagnosis"]["kind"] == "out-of-resources"
