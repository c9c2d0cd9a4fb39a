"""compute-sanitizer: its text in the formats of its manual, and the answer for a launch below it. The program here is a
stand-in that writes such a text; test_gpu.py runs the real one where there is a GPU."""

from __future__ import annotations

import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest
from sanitizer_stand_in import CLEAN, SHARED, stand_in

from triage.cases import reproducers
from triage.harness.limits import GIB, Limits
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.measurement import MemoryCheck, NotMeasured
from triage.performance import sanitizer
from triage.performance.bench import memory_checks

ACCESS_TO = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 16 bytes
=========     at matmul_kernel(float *, int)+0xec0 in /home/u/my_matmul.py:43
=========     by thread (18,0,0) in block (0,0,0)
=========     Access to 0x74505bcccca0 is out of bounds
=========     and is 161 bytes after the nearest allocation at 0x74505bccc800 of size 1,024 bytes
========= ERROR SUMMARY: 1 error
"""
OLDER = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 16 bytes
=========     at 0xda0 in /opt/moe/fused_moe.py:175:fused_moe_kernel
=========     by thread (96,0,0) in block (44,0,0)
=========     Address 0x763995f9f000 is out of bounds
========= ERROR SUMMARY: 3 errors
"""
WITHOUT_LINES = """\
========= Invalid __shared__ read of size 4 bytes
=========     at out_of_bounds_kernel()+0x90
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x87654320 is out of bounds
========= ERROR SUMMARY: 1 error
"""
NO_LAUNCH = """\
========= COMPUTE-SANITIZER
========= Error: Target application terminated before first instrumented API call
"""


@pytest.mark.parametrize(
    ("text", "errors", "first"),
    [
        (CLEAN, 0, ""),
        (
            SHARED,
            1026,
            "Invalid __shared__ write of size 16 bytes at transpose_scale in kernel.py:17, "
            "thread (47,0,0) in block (3,1,0), out of bounds",
        ),
        (
            ACCESS_TO,
            1,
            "Invalid __global__ read of size 16 bytes at matmul_kernel(float *, int) in /home/u/my_matmul.py:43, "
            "thread (18,0,0) in block (0,0,0), out of bounds",
        ),
        (
            OLDER,
            3,
            "Invalid __global__ read of size 16 bytes at fused_moe_kernel in /opt/moe/fused_moe.py:175, "
            "thread (96,0,0) in block (44,0,0), out of bounds",
        ),
        (
            WITHOUT_LINES,
            1,
            "Invalid __shared__ read of size 4 bytes at out_of_bounds_kernel(), thread (0,0,0) in block (0,0,0), "
            "out of bounds",
        ),
    ],
    ids=["clean", "shared", "access", "older", "no lines"],
)
def test_the_text(text: str, errors: int, first: str) -> None:
    assert sanitizer.parsed(text) == MemoryCheck(errors, first)


def test_a_text_without_a_summary_reports_nothing() -> None:
    assert sanitizer.parsed(NO_LAUNCH) is None
    assert sanitizer.fault(NO_LAUNCH) == "Target application terminated before first instrumented API call"
    assert sanitizer.parsed("") is None


def test_the_wheel_of_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    program = tmp_path / "nvidia/cu13/compute-sanitizer/compute-sanitizer"
    program.parent.mkdir(parents=True)
    program.touch()
    before = sanitizer.located(tmp_path)
    program.chmod(0o755)
    assert before != program
    assert (before or sanitizer.located(tmp_path)) is not None
    in_toolkit = tmp_path / "cuda/bin/compute-sanitizer"
    in_toolkit.parent.mkdir(parents=True)
    in_toolkit.write_text("#!/bin/sh\n")
    in_toolkit.chmod(0o755)
    assert sanitizer.located(tmp_path) == in_toolkit


@pytest.fixture
def case() -> Case:
    fixed = reproducers.fixed("wgmma-mn-major-warp-specialized")
    assert fixed is not None
    return fixed[0]


@pytest.fixture
def no_gpu(tmp_path: Path, toolchains: Toolchains) -> Toolchain:
    """An interpreter whose torch has no GPU: the worker says so, whatever program it runs below."""
    beside = toolchains.default()
    folder = tmp_path / "interpreter"
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "triton").symlink_to(beside.package)
    (site / "torch").mkdir()
    (site / "torch/__init__.py").write_text(
        "from types import SimpleNamespace\n__version__ = '2.0'\ncuda = SimpleNamespace(is_available=lambda: False)\n"
    )
    return replace(beside, python=folder / "bin" / "python")


def checked(case: Case, toolchain: Toolchain) -> MemoryCheck | NotMeasured:
    ((_, answer),) = memory_checks([(0, case, toolchain)], Limits(60.0, 4 * GIB), case)
    return answer


def test_a_launch_with_errors(case: Case, no_gpu: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, SHARED, monkeypatch)
    answer = checked(case, no_gpu)
    assert isinstance(answer, MemoryCheck)
    assert answer.errors == 1026
    assert "transpose_scale in kernel.py:17" in answer.words()
    assert "--tool memcheck" in (tmp_path / "arguments").read_text()
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING=1" in (tmp_path / "environment").read_text()


def test_no_error_means_nothing_where_nothing_was_launched(
    case: Case, no_gpu: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, CLEAN, monkeypatch)
    answer = checked(case, no_gpu)
    assert isinstance(answer, NotMeasured)
    assert answer.reason.startswith("no GPU that torch 2.0 in ")


def test_without_the_program(case: Case, no_gpu: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "located", lambda site_packages: None)
    answer = checked(case, no_gpu)
    assert isinstance(answer, NotMeasured)
    assert answer.reason.startswith("no compute-sanitizer on PATH")
