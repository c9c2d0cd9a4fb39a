"""``triage run`` of a program whose autotuner, Helion's, swallows what fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Bench

PROGRAM = str(Path(__file__).parent / "programs" / "tuned_by_helion.py")


def test_what_helion_passes_over_is_no_failure_and_is_kept(bench: Bench) -> None:
    done = bench.run(PROGRAM, "32", "2097152", "256")
    assert (done.code, done.out) == (0, "best [32, 256]\n")
    lines = [line for line in done.err.splitlines() if line.startswith("triage: ")]
    assert "the autotuner passed over 1 configuration of scale" in lines[-3]
    report = bench.captured / "helion"
    assert lines[-2] == (
        f"triage: Helion reported 1 configuration that it passed over: {report} (triage check takes it)"
    )
    assert lines[-1] == "triage: 2 kernels compiled, none failed, 1 passed over"
    assert [path.name for path in report.iterdir()] == ["0.py"]


@pytest.mark.slow
def test_the_users_own_folder_for_it_is_kept(bench: Bench, tmp_path: Path) -> None:
    done = bench.run(PROGRAM, "2097152", HELION_AUTOTUNER_TRITON_FAILURE_DUMP_DIR=str(tmp_path / "own"))
    assert done.code == 0
    assert (tmp_path / "own" / "0.py").exists()
    assert "Helion reported" not in done.err


@pytest.mark.slow
def test_what_helion_does_not_pass_over_is_a_failure(bench: Bench) -> None:
    done = bench.run(PROGRAM, "64", "3")
    assert done.code == 1
    assert done.err.splitlines()[-1].endswith("1 failed")
