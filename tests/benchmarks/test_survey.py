"""What a table of a project costs against a loop of fresh processes, which is what a shell script would be.

Run with ``pytest -m slow tests/benchmarks/test_survey.py``, with nothing else on the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import Triage
from test_isolation import seconds

from triage.harness.toolchains import Toolchains

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

KERNELS, FILES = 100, 10
TARGETS = ("cuda:86", "cuda:120", "hip:gfx942")
LEAST_RATIO = 4.0
"""8 were measured on two busy cores."""
SAMPLE = 8
"""Fresh processes that are timed: each is as good as another."""
HEAD = "import triton\nimport triton.language as tl\n"
ROWS = """

@triton.jit
def rows_{number}(x_ptr, weight_ptr, out_ptr, stride, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * stride + offsets, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * stride + offsets, x * scale * weight + {number}.0, mask=mask)


def run_rows_{number}(x, weight, out):
    rows_{number}[(x.shape[0],)](x, weight, out, x.stride(0), x.shape[1], 1e-6, BLOCK={block}, num_warps=4)
"""
PRODUCT = """

@triton.jit
def product_{number}(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * K + start + inner[None, :], mask=rows[:, None] < M, other=0.0)
        b = tl.load(b_ptr + (start + inner)[:, None] * N + columns[None, :], mask=columns[None, :] < N, other=0.0)
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(c_ptr.dtype.element_ty) + {number}.0)


def run_product_{number}(a, b, c):
    product_{number}[(8, 8)](a, b, c, a.shape[0], b.shape[1], a.shape[1], BM=64, BN={block}, BK=32)
"""
FRESH = """
import json, sys, tempfile, os
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
import importlib.util, triton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource
path, name, backend, arch, types, constants = json.loads(sys.argv[1])
spec = importlib.util.spec_from_file_location("kernels", path)
module = importlib.util.module_from_spec(spec)
sys.modules["kernels"] = module
spec.loader.exec_module(module)
kernel = getattr(module, name)
names = kernel.arg_names
signature = {name: types.get(name, "constexpr") for name in names}
source = ASTSource(kernel, signature, {(names.index(name),): value for name, value in constants.items()})
target = GPUTarget("cuda", int(arch), 32) if backend == "cuda" else GPUTarget("hip", arch, 64)
triton.compile(source, target=target)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Norms of rows and products of matrices, ten kernels a file."""
    folder = tmp_path / "project"
    folder.mkdir()
    for file in range(FILES):
        numbers = range(file, KERNELS, FILES)
        texts = [
            (PRODUCT if number % 4 == 3 else ROWS).format(number=number, block=(64, 128)[number % 2])
            for number in numbers
        ]
        (folder / f"kernels_{file}.py").write_text(HEAD + "".join(texts))
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_table_against_fresh_processes(
    check: Triage, project: Path, toolchains: Toolchains, capsys: pytest.CaptureFixture[str]
) -> None:
    check("project/kernels_0.py", "--target", "cuda:80")  # files into the page cache
    began = time.perf_counter()
    done = check("project", "--target", ",".join(TARGETS), "--json", "--no-cache")
    table_s = time.perf_counter() - began
    documents = done.documents
    assert [document["outcome"]["status"] for document in documents] == ["ok"] * KERNELS * len(TARGETS)
    script = project.parent / "fresh.py"
    script.write_text(FRESH)

    def fresh() -> None:
        """In two processes at a time, as the table."""
        sample = documents[:: len(documents) // SAMPLE][:SAMPLE]
        commands = []
        for document in sample:
            case = document["case"]
            backend, _, arch = case["target"].partition(":")
            name, file = case["kernel"]["name"], case["origin"]["source"]["file"]
            question = json.dumps([file, name, backend, arch, case["signature"], case["constexprs"]])
            commands.append([str(toolchains.default().python), str(script), question])
        for pair in zip(commands[::2], commands[1::2], strict=True):
            for process in [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in pair]:
                assert process.wait() == 0

    fresh_s = seconds(fresh) / SAMPLE * len(documents)
    resumed_s = seconds(lambda: check("project", "--target", ",".join(TARGETS), "--json"))
    again_s = seconds(lambda: check("project", "--target", ",".join(TARGETS), "--json"))
    with capsys.disabled():
        print(
            f"\n{len(documents)} compiles: {len(documents) / table_s:.1f} a second; fresh processes take "
            f"{fresh_s / table_s:.1f} x as long; from the store {resumed_s / again_s:.1f} x as fast",
            file=sys.stderr,
        )
    assert fresh_s >= LEAST_RATIO * table_s
    assert resumed_s >= 3 * again_s
