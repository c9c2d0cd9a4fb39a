"""--compile-only where torch is: device tensors are fake, the host is real, and published libraries' kernels are
captured whole. TRIAGE_TEST_TORCH names an interpreter with torch (a build for the CPU is enough), and for the libraries
with liger-kernel, flash-linear-attention and transformers; without it these tests are skipped.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from running import PROGRAMS, Bench, signatures

from triage.capture import program
from triage.harness.toolchains import Toolchain

TORCH = os.environ.get("TRIAGE_TEST_TORCH", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TORCH, reason="TRIAGE_TEST_TORCH names no interpreter with torch"),
]
MEMORY = """\
torch.Size([98432]) cuda:0 0 4
0.0 torch.Size([0, 1])
[4, 8, 16] 8 [5, 8] 16
tensor(41)
0.0 [0, 0, 0]
tensor([7, 7, 7]) True
True 3 [[1.0, 0.0], [0.0, 1.0]]
torch.Size([64, 64]) cuda:0 0.00
True (9, 0) 132
1.0 torch.Size([3]) cuda
[0.0, 0.0]
[1.0, 1.0, 1.0]
ends
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, Path(TORCH))


def python(code: str) -> str:
    return subprocess.run([TORCH, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def needs(*modules: str) -> None:
    for module in modules:
        found = python(f"import importlib.util; print(importlib.util.find_spec({module!r}) is not None)")
        if found != "True":
            pytest.skip(f"TRIAGE_TEST_TORCH has no {module}")


def test_the_device_holds_what_the_host_has_put_there(bench: Bench) -> None:
    done = bench.run("device_memory.py", options=("--target", "cuda:90", "--compile-only"))
    assert (done.code, done.out) == (0, MEMORY), done.err
    assert done.err.splitlines()[-3:] == [
        "triage: 1 kernel reached, for cuda:90",
        "triage: add: 2 configurations",
        "triage: 2 kernels compiled, none failed",
    ]


def test_gradients_are_those_of_torchs_own_engine() -> None:
    folder = Path(program.__file__).parent
    done = subprocess.run([TORCH, PROGRAMS / "gradients.py", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 20
    assert [line for line in done.stdout.splitlines() if not line.endswith(" same")] == []


def test_a_program_with_torch_is_the_same_with_and_without(bench: Bench) -> None:
    plain = bench.plain("warms_up_torch.py", TRITON_CACHE_DIR=str(bench.folder / "other"))
    done = bench.run("warms_up_torch.py")
    assert (done.code, done.out, done.err.splitlines()[:-1]) == (plain.code, plain.out, plain.err.splitlines())
    assert (plain.code, done.err.splitlines()[-1]) == (5, "triage: 2 kernels compiled, none failed")


def test_compile_workers_of_inductor_are_followed(bench: Bench) -> None:
    done = bench.run(
        "inductor_workers.py",
        options=("--target", "cuda:90", "--compile-only", "--keep-all"),
        TORCHINDUCTOR_COMPILE_THREADS="2",
    )
    assert done.code == 0, done.err
    (main,) = [int(line.split()[1]) for line in done.out.splitlines() if line.startswith("process ")]
    cases = bench.cases()
    assert len(cases) == 3
    assert main not in {case.origin["pid"] for case in cases}


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("script", "target", "modules", "least"),
    [
        ("descriptors.py", "cuda:90", (), 3),
        ("inductor_models.py", "cuda:90", (), 200),
        ("liger_ops.py", "cuda:90", ("liger_kernel", "transformers"), 250),
        # On Hopper the library refuses some operations with this release of Triton.
        ("fla_ops.py", "cuda:80", ("fla", "transformers"), 500),
    ],
)
def test_kernels_of_libraries_compile_from_their_folders_alone(
    bench: Bench,
    release: Callable[[str], Toolchain],
    script: str,
    target: str,
    modules: tuple[str, ...],
    least: int,
) -> None:
    """In an environment with nothing but the same release of Triton, at least 95 of 100."""
    needs(*modules)
    done = bench.run(script, options=("--target", target, "--compile-only", "--keep-all"))
    assert "ends" in done.out, done.err
    folders = [path for path in bench.captured.iterdir() if path.is_dir()]
    clean = release(python("import triton; print(triton.__version__)"))
    # What the program could not compile or load is not asked of the folder.
    cases = [case for case in bench.cases() if '"how": "compiled"' in (case.folder / "ended.json").read_text()]
    found = signatures(cases, clean)
    lost = sum(not (folder / "case.json").exists() for folder in folders)
    good = found.count("compiles")
    assert len(cases) >= least
    assert good >= 0.95 * (len(cases) + lost), sorted(set(found))
