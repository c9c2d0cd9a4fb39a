"""Real launches: skipped where torch, a GPU of the Hopper kind or a C compiler (for Triton's launcher) is missing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from triage.frontends import documents
from triage.harness.limits import GIB, Limits
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.measurement import Measurement, MemoryCheck, NotMeasured, settled
from triage.model.target import Target
from triage.performance import sanitizer
from triage.performance.bench import bench, memory_checks

torch = pytest.importorskip("torch")
if not torch.cuda.is_available() or torch.version.hip or not (shutil.which("gcc") or shutil.which("cc")):
    pytest.skip("no NVIDIA GPU that torch can use, or no C compiler", allow_module_level=True)

HERE = Target("cuda", "{}{}".format(*torch.cuda.get_device_capability()))
LIMITS = Limits(120.0, 32 * GIB)
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def add(x_ptr, FACTOR: tl.constexpr, n, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * FACTOR, mask=i < n)

@triton.jit
def spin(x_ptr, FACTOR: tl.constexpr, n, y_ptr, BLOCK: tl.constexpr):
    while tl.load(x_ptr, volatile=True) != 12345.0:
        tl.store(y_ptr, 1.0)

@triton.jit
def wild(x_ptr, FACTOR: tl.constexpr, n, y_ptr, BLOCK: tl.constexpr):
    far = tl.full((1,), 1 << 40, tl.int64)
    tl.store(y_ptr + far + tl.arange(0, 1), 1.0)
"""


@pytest.fixture(scope="module")
def here(toolchains: Toolchains) -> Toolchain:
    return toolchains.resolve(None, sys.executable)


def case(folder: Path, name: str = "add", block: int = 128, factor: int = 2, n: int = 1 << 20) -> Case:
    (folder / "kernel.py").write_text(KERNEL)
    document = {
        "schema": "triton-triage/case/1",
        "kernel": {"file": "kernel.py", "name": name},
        "signature": {"x_ptr": "*fp32", "n": "i32", "y_ptr": "*fp32"},
        "constexprs": {"FACTOR": factor, "BLOCK": block},
        "target": str(HERE),
        "inputs": {
            "sizes": {"n": n},
            "arguments": {"x_ptr": {"shape": ["n"]}, "y_ptr": {"shape": ["n"], "fill": "zeros"}},
            "grid": ["cdiv(n, BLOCK)"],
            "outputs": ["y_ptr"],
            "flops": "n",
        },
    }
    return documents.checked(document, folder, "case.json")


def test_times_and_agreement(tmp_path: Path, here: Toolchain) -> None:
    todo = [
        ("128", case(tmp_path), here),
        ("512", case(tmp_path, block=512), here),
        ("x3", case(tmp_path, factor=3), here),
    ]
    found = settled(dict(bench(todo, LIMITS)))
    assert all(isinstance(one, Measurement) for one in found.values()), found
    first, second, wrong = (one for one in found.values() if isinstance(one, Measurement))
    for one in (first, second, wrong):
        assert 0 < one.p20_ms <= one.median_ms <= one.p80_ms < 10
        assert one.launches >= 20
        assert one.tflops == pytest.approx((1 << 20) / one.median_ms / 1e9)
        assert one.device == torch.cuda.get_device_name()
    assert (first.agrees, second.agrees, wrong.agrees) == (True, True, False)
    assert second.difference is not None
    assert second.difference.absolute == 0.0
    assert wrong.difference is not None
    assert wrong.difference.relative == pytest.approx(0.5)


DO_BENCH = """
import sys, torch, triton
sys.path.insert(0, sys.argv[1])
from kernel import add
n = 1 << 24
x, y = torch.randn(n, device="cuda"), torch.zeros(n, device="cuda")
for _ in range(2000):
    add[(n // 1024,)](x, 2, n, y, BLOCK=1024)
print(triton.testing.do_bench(lambda: add[(n // 1024,)](x, 2, n, y, BLOCK=1024), return_mode="median"))
"""


def test_the_time_is_the_one_that_do_bench_gives(tmp_path: Path, here: Toolchain) -> None:
    """128 MB moved, which takes long enough for a launch's own cost not to show."""
    ((_, found),) = bench([(0, case(tmp_path, block=1024, n=1 << 24), here)], LIMITS)
    assert isinstance(found, Measurement)
    said = subprocess.run([sys.executable, "-c", DO_BENCH, str(tmp_path)], capture_output=True, text=True, check=True)
    assert found.median_ms == pytest.approx(float(said.stdout), rel=0.15)


def test_a_broken_launch_leaves_the_next_one_alone(tmp_path: Path, here: Toolchain) -> None:
    todo = [("wild", case(tmp_path, "wild"), here), ("add", case(tmp_path), here)]
    found = dict(bench(todo, LIMITS))
    assert isinstance(found["wild"], NotMeasured)
    assert "while launching" in found["wild"].reason
    assert isinstance(found["add"], Measurement)


@pytest.mark.slow
def test_a_kernel_that_does_not_end_is_killed(tmp_path: Path, here: Toolchain) -> None:
    todo = [("spin", case(tmp_path, "spin"), here), ("add", case(tmp_path), here)]
    found = dict(bench(todo, replace(LIMITS, timeout_s=40.0)))
    assert found["spin"] == NotMeasured("no end within 40 s, while launching")
    assert isinstance(found["add"], Measurement)


@pytest.mark.skipif(sanitizer.located(Path(sysconfig.get_path("purelib"))) is None, reason="no compute-sanitizer")
def test_the_sanitizer_names_the_access(tmp_path: Path, here: Toolchain) -> None:
    todo = [("wild", case(tmp_path, "wild"), here), ("add", case(tmp_path), here)]
    checks = dict(memory_checks(todo, LIMITS, todo[0][1]))
    wild = checks["wild"]
    assert isinstance(wild, MemoryCheck), wild
    assert wild.errors > 0
    assert wild.first.startswith("Invalid __global__ write of size 4 bytes at wild in ")
    assert checks["add"] == MemoryCheck(0)
