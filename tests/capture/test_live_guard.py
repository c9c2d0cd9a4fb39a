"""``with triage.guard():`` and ``triage.early_config_prune`` in programs that have triage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Run, new_cache
from running import PROGRAMS

import triage
from triage.model.errors import InputError

ROOT = Path(triage.__file__).resolve().parent.parent


def start(folder: Path, program: str, *arguments: str, **variables: str) -> Run:
    """A program of the Python that has triage, and the newest Triton."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "TRITON_TRIAGE_CACHE": str(new_cache(folder / "cache")),
        "TRITON_DEFAULT_FP_FUSION": "1",
        "TMPDIR": str(folder),
        **variables,
    }
    command = [sys.executable, str(PROGRAMS / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return Run(done.returncode, done.stdout, done.stderr)


def test_a_part_of_a_program_is_guarded(tmp_path: Path) -> None:
    done = start(tmp_path, "live.py", "exit", str(tmp_path / "cases"))
    caught, again, refused, end = done.out.splitlines()
    assert caught.startswith("caught True triage: kernel [HOW=exit BLOCK=128 ") and again == caught
    assert refused == "[('HOW=exit BLOCK=128 num_warps=2 num_stages=3', 2, True)] 1"
    assert (end, done.code) == ("ends", 3), "what follows is not guarded"
    first, what, where, saved = done.err.splitlines()
    assert first == "triage: the guard skipped 1 configuration"
    assert "BLOCK=128" in what and "asked for 2 times" in what
    (case,) = (tmp_path / "cases").glob("*/case.json")
    assert where.strip() == f"triage check {case.parent}"
    assert saved.strip().startswith("saved: 1 end of this program, and 1 compile (")


def test_nothing_is_left_where_nothing_fails(tmp_path: Path) -> None:
    done = start(tmp_path, "live.py", "no")
    assert (done.code, done.err) == (0, ""), done.err
    assert done.out.splitlines()[-1] == "not guarded any more"
    assert not list(tmp_path.glob("triage-guard-*"))


@pytest.mark.parametrize(
    ("some", "how"),
    [("abort", "raise"), pytest.param("raise", "segfault", marks=pytest.mark.slow)],
)
def test_pruning_drops_what_does_not_compile(tmp_path: Path, some: str, how: str) -> None:
    """Where that leaves nothing, the error names what compiles."""
    jobs = f"{some} 64 128 32 + {how} 128 256"
    done = start(tmp_path, "autotunes.py", *jobs.split(), PRUNE="1")
    *tuned, first, failures, nearest, last = done.out.splitlines()
    assert tuned == ["best {'BLOCK': 64} {64: 1.0, 32: 1.0}"] * 2, done.err
    assert first.endswith("triage: kernel: all 2 configurations fail to compile"), done.err
    assert failures.startswith(f"  [HOW={how} EVEN=True BLOCK=128 num_warps=2 num_stages=3] and 1 more: ")
    assert nearest.startswith("  nearest configuration that compiles: BLOCK=64.")
    assert Path(last.partition("case: ")[2]).joinpath("case.json").is_file()


def test_bad_settings_are_said() -> None:
    with pytest.raises(InputError, match="timeout_s=0: more than 0 seconds"):
        triage.guard(timeout_s=0)
    with pytest.raises(InputError, match="--memory 'much': write a size"):
        triage.guard(memory="much")
    with pytest.raises(InputError, match="early_config_prune: only within an autotuner"):
        triage.early_config_prune([], {})


def test_a_variable_is_enough(tmp_path: Path) -> None:
    """Where triage is installed: the .pth file that does this is not there in a source tree."""
    code = (
        "import runpy, sys, triage.capture.startup; "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    program = str(PROGRAMS / "guarded.py")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PROGRAMS)]),
        "TRITON_TRIAGE_GUARD": "1",
        "TRITON_CACHE_DIR": str(tmp_path / "triton"),
        "TRITON_TRIAGE_CACHE": str(new_cache(tmp_path / "cache")),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, program, "segfault", "single", "128"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.stdout.startswith("128 CompileFailed"), done.stderr
