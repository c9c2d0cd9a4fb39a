"""``reproducer_launch.py`` on a GPU: what fails, and how, is what it says. Skipped where there is no NVIDIA GPU."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Run, start_triage

import triage
from triage.frontends import documents
from triage.harness.deadline import Deadline
from triage.harness.toolchains import Toolchain, Toolchains
from triage.logs.outcomes import diagnose_outcome
from triage.minimize import launch_script, reproducer
from triage.minimize.failure import Identity, OriginalFailure
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Stage, Status
from triage.performance import sanitizer


def _capability() -> str | None:
    """Of the first GPU; None without one."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    found = [ctypes.c_int(), ctypes.c_int()]
    asked = [library.cuInit(0), *(library.cuDeviceGetAttribute(ctypes.byref(found[at]), 75 + at, 0) for at in (0, 1))]
    return None if any(asked) else "".join(str(one.value) for one in found)


HERE = _capability()
if HERE is None or not (shutil.which("cc") or shutil.which("gcc")):
    pytest.skip("no NVIDIA GPU, or no C compiler for Triton's launcher", allow_module_level=True)

KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def healthy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * 2, mask=i < n)


@triton.jit
def wild(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    scaled = x * 2 + 1
    far = i.to(tl.int64) + (1 << 40)
    tl.store(y_ptr + far, scaled, mask=i < n)


@triton.jit
def misaligned(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    words = (x_ptr.to(tl.pointer_type(tl.int8), bitcast=True) + 1).to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(words + tl.arange(0, BLOCK), n)


@triton.jit
def spin(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    while tl.load(x_ptr, volatile=True) != 12345.0:
        tl.store(y_ptr, 1.0)


@triton.jit
def big(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    k = tl.arange(0, 16)
    a = tl.load(x_ptr + k[:, None] * n + i[None, :])
    b = tl.load(x_ptr + i[:, None] * n + k[None, :])
    tl.store(y_ptr + k[:, None] * n + k[None, :], tl.dot(a, b))


@triton.jit
def checked(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    # Only what the inputs promise ends well: 0, 1, 2, … in this very type.
    far = tl.where(x.to(tl.float32) == i, 0, 1 << 40).to(tl.int64)
    tl.store(y_ptr + i + far, x, mask=i < n)


@triton.jit
def by_block(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * (1 << 38) + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(y_ptr + i, x + n)


@triton.jit
def copied(x_desc, y_desc):
    y_desc.store([0, 0], x_desc.load([0, 0]))


@triton.jit
def described(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    desc = tl.make_tensor_descriptor(x_ptr, [64, 64], [64, 1], [64, 64])
    i = tl.arange(0, 64)
    tl.store(y_ptr + i[:, None] * 64 + i[None, :], desc.load([0, 0]))
"""
PYTHONPATH = os.pathsep.join([str(Path(triage.__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
"""What triage needs may lie beside this interpreter."""
POINTERS = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}
DESCRIPTORS = {"x_desc": "tensordesc<fp16[64, 64]>", "y_desc": "tensordesc<fp16[64, 64]>"}
SAID = {
    "illegal": "CUDA error: an illegal memory access was encountered",
    "misaligned": "CUDA error: misaligned address",
    "shared memory": "OutOfResources: out of resource: shared memory, Required: 1, Hardware limit: 0.",
}


def case(folder: Path, name: str, block: int = 128) -> Case:
    (folder / "kernel.py").write_text(KERNELS)
    document = {
        "schema": "triton-triage/case/1",
        "kernel": {"file": "kernel.py", "name": name},
        "signature": DESCRIPTORS if name == "copied" else POINTERS,
        "constexprs": {} if name == "copied" else {"BLOCK": block},
        "target": f"cuda:{HERE}",
    }
    return documents.checked(document, folder, "case.json")


def failure(seen: Outcome) -> OriginalFailure:
    diagnosis = diagnose_outcome(seen)
    assert diagnosis is not None
    return OriginalFailure(diagnosis, seen, Identity.of(diagnosis), Identity.of(diagnosis), 1.0)


def said(name: str) -> Outcome:
    return Outcome(Status.ERROR, Stage.LAUNCH, log=f"RuntimeError: {SAID[name]}\n", limit_s=60.0)


@pytest.fixture(scope="module")
def here(toolchains: Toolchains) -> Toolchain:
    return toolchains.resolve(None, sys.executable)


def ran(case: Case, seen: Outcome, toolchain: Toolchain) -> reproducer.ScriptRun:
    specimen = Specimen(case.path.read_text(), case)
    made = launch_script.arguments(case, case.inputs)
    script = case.folder / launch_script.FILE
    script.write_text(launch_script.reproducer(specimen, made, failure(seen), toolchain.release))
    return reproducer.run_once(script, toolchain, 120.0, Deadline())


CODES = [
    ("healthy", 128, "illegal", 0),
    ("copied", 0, "illegal", 0),
    ("described", 64, "illegal", 0),
    ("wild", 128, "illegal", 1),
    ("wild", 128, "misaligned", 125),
    ("misaligned", 128, "misaligned", 1),
    ("misaligned", 128, "illegal", 125),
    ("big", 4096, "shared memory", 1),
    ("big", 64, "shared memory", 0),
]


@pytest.mark.parametrize(("name", "block", "seen", "code"), CODES)
def test_codes(tmp_path: Path, here: Toolchain, name: str, block: int, seen: str, code: int) -> None:
    found = ran(case(tmp_path, name, block), said(seen), here)
    assert found.code == code, found


LIMITS = {"threads: 2048 > 1024": {"num_warps": 64}, "cluster blocks: 32 > 16": {"num_ctas": 32}}


@pytest.mark.parametrize(("over", "options"), LIMITS.items())
def test_limits_that_only_the_driver_knows(tmp_path: Path, here: Toolchain, over: str, options: dict[str, int]) -> None:
    wide = replace(case(tmp_path, "healthy", 4096), options=frozen(options))
    found = ran(wide, Outcome(Status.ERROR, Stage.LOAD, over_limit=over, limit_s=60.0), here)
    assert found.code == 1, found


@pytest.mark.parametrize("type_", ["fp8e4nv", "fp8e5", "fp16", "bf16", "fp32", "fp64", "i8", "i16", "i32", "i64", "u8"])
def test_inputs_are_what_they_say(tmp_path: Path, here: Toolchain, type_: str) -> None:
    """What these types hold exactly, up to 8: the narrowest has three bits."""
    inputs = {
        "arguments": {"x_ptr": {"shape": ["n"], "fill": "arange"}, "y_ptr": {"shape": ["n"], "fill": "zeros"}, "n": 8},
        "grid": [1],
    }
    filled = replace(
        case(tmp_path, "checked", 8),
        signature=frozen({"x_ptr": f"*{type_}", "y_ptr": f"*{type_}", "n": "i32"}),
        inputs=frozen(inputs),
    )
    found = ran(filled, said("illegal"), here)
    assert found.code == 0, found


def test_a_launch_that_does_not_end(tmp_path: Path, here: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_script, "_START_S", 15.0)
    found = ran(case(tmp_path, "spin"), Outcome(Status.TIMEOUT, Stage.LAUNCH, limit_s=1.0), here)
    assert found.code == 1, found


def minimized(folder: Path, what: str | Path, *arguments: str) -> Run:
    return start_triage(
        folder / "cache", "minimize", what, *arguments, "--python", sys.executable, "--launch", "--json",
        "-o", folder / "min", PYTHONPATH=PYTHONPATH,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wild", "by_block"])
def test_minimized_by_launching(tmp_path: Path, here: Toolchain, name: str) -> None:
    """The second fails in a grid of more than one block, which its inputs state."""
    inputs = {"arguments": {"x_ptr": {"shape": [4096]}, "y_ptr": {"shape": [4096]}, "n": 3}, "grid": [4]}
    whole = replace(case(tmp_path, name), inputs=frozen(inputs))
    (tmp_path / "case.json").write_text(json.dumps(whole.to_json()))
    done = minimized(tmp_path, tmp_path, "--budget", "60s")
    document = done.document
    assert (done.code, document["launched"], document["reproduced"]) == (0, [1, 1], [1, 1]), done.err
    assert document["signature"].startswith("v2|launch-error|")
    assert document["reproducer"] == str(tmp_path / "min" / launch_script.FILE)
    assert not (tmp_path / "min" / "reproducer.py").exists()
    assert document["after"]["tokens"] < document["before"]["tokens"] // 3


def test_what_runs_is_no_case(tmp_path: Path, here: Toolchain) -> None:
    whole = case(tmp_path, "healthy")
    (tmp_path / "case.json").write_text(json.dumps(whole.to_json()))
    done = minimized(tmp_path, tmp_path)
    assert (done.code, done.out) == (2, ""), done.err


@pytest.mark.slow
def test_the_invalid_access_is_named(tmp_path: Path, here: Toolchain) -> None:
    if sanitizer.located(here.package.parent) is None:
        pytest.skip("no compute-sanitizer")
    whole = case(tmp_path, "wild")
    (tmp_path / "case.json").write_text(json.dumps(whole.to_json()))
    document = minimized(tmp_path, tmp_path, "--sanitize", "--budget", "5").document
    report = document["memory_check"]
    assert document["no_memory_check"] is None
    assert report["errors"] > 0
    assert report["first"].startswith("Invalid __global__ write of size 4 bytes at wild in reproducer_launch.py:")
    assert "in block (0,0,0)" in report["first"]
