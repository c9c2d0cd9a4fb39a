"""A kernel in the user's package is compiled as a slice: its host code is not executed, and every message names the
user's own lines."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Triage

from triage.cases import slices
from triage.cases.locate import locate
from triage.frontends.documents import load
from triage.source.imports import imported_files

FILES = {
    "pkg/__init__.py": "import torch\nfrom .ops.kernels import launch\n",
    "pkg/ops/__init__.py": "raise RuntimeError('not reached')\n",
    "pkg/ops/kernels.py": """import torch
import triton
import triton.language as tl

from ..tools import LIMIT, SIZE, helper, unused

torch.cuda.current_stream().synchronize()


@triton.jit
def kernel(p, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tl.store(p + o, helper(SIZE))


@triton.jit
def other(p):
    tl.store(p, tl.no_such_function(LIMIT))


def launch(p: torch.Tensor):
    kernel[(1,)](p, 64)
""",
    "pkg/tools.py": """import json
from pathlib import Path

import triton
import triton.language as tl

SIZE: tl.constexpr = tl.constexpr(3)
LIMIT: tl.constexpr = tl.constexpr(json.loads((Path(__file__).parent / "limit.json").read_text()))


def unused():
    pass


@triton.jit
def helper(x):
    return x + 1
""",
    "pkg/limit.json": "7",
}
KERNEL = ("--arg", "p=*i32", "--const", "BLOCK=64", "--no-suggest", "--json")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "src" / "pkg"


@pytest.fixture(autouse=True)
def slice_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_slice_is_what_a_case_reads_and_the_user_s_file_what_it_names(package: Path, slice_cache: Path) -> None:
    case = locate(f"{package}/ops/kernels.py::kernel", {"arg": ["p=*i32"]})
    assert case.path == package / "ops" / "kernels.py"
    assert case.slice == case.location == case.top / "pkg" / "ops" / "kernels.py"
    assert case.top.parent == slice_cache / "slices"
    assert "torch" not in case.text() and "other" not in case.text()
    assert case.text().split("\n")[11] == "    o = tl.arange(0, BLOCK)"
    assert [path.relative_to(case.top).as_posix() for path in imported_files(case)] == [
        "pkg/__init__.py", "pkg/ops/__init__.py", "pkg/tools.py",
    ]  # fmt: skip
    moved = case.moved(package, "other.py")
    assert moved.location == package / "other.py" and moved.slice is None


def test_host_code_changes_no_slice_and_a_reached_line_does(package: Path) -> None:
    def slice_of() -> str:
        return slices.sliced(replace(case, slice=None)).top.name

    case = locate(f"{package}/ops/kernels.py::kernel")
    first, file = case.top.name, package / "ops" / "kernels.py"
    assert slice_of() == first
    file.write_text(FILES["pkg/ops/kernels.py"].replace("64)", "128)"))
    assert slice_of() == first
    (package / "tools.py").write_text(FILES["pkg/tools.py"].replace("x + 1", "x + 2"))
    assert slice_of() != first


def test_a_package_that_needs_a_gpu_compiles_and_keeps(package: Path, check: Triage, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = check(f"{package}/ops/kernels.py::kernel", *KERNEL, "-o", out)
    assert (done.code, done.document["outcome"]["status"]) == (0, "ok"), done.err
    kept = load(out / "case")
    assert kept.is_sliced and kept.slice is None
    assert kept.file == "pkg/ops/kernels.py"
    assert (out / "case" / "pkg" / "ops" / "__init__.py").read_text().strip() == ""
    again = tmp_path / "again"
    assert check(out / "case", "--no-suggest", "--json", "-o", again).document["outcome"]["status"] == "ok"
    names = [sorted(path.relative_to(top) for path in (top / "case").rglob("*.*")) for top in (out, again)]
    assert names[0] == names[1]
    assert json.loads((out / "case" / "case.json").read_text())["kernel"]["file"] == kept.file


def test_a_kept_slice_gets_the_same_stand_ins(tmp_path: Path, check: Triage) -> None:
    file, out = tmp_path / "kernels.py", tmp_path / "out"
    file.write_text(
        "import triton\nimport triton.language as tl\nfrom triage_absent import registered\n\n\n"
        "@registered\n@triton.jit\ndef kernel(p):\n    tl.store(p, 0)\n"
    )
    note = "the kernel's module was imported with stand-ins for triage_absent"
    done = check(f"{file}::kernel", "--arg", "p=*i32", "--no-suggest", "--json", "-o", out)
    assert done.document["outcome"]["notes"] == [note]
    assert check(out / "case", "--no-suggest", "--json").document["outcome"]["notes"] == [note]


def test_failures_name_the_user_s_lines(package: Path, check: Triage) -> None:
    file = package / "ops" / "kernels.py"
    command = (f"{file}::other", "--arg", "p=*i32", "--no-suggest", "--json")
    done = check(*command)
    diagnosis = done.document["diagnosis"]
    assert (done.code, diagnosis["kind"]) == (1, "frontend-error")
    assert diagnosis["source"] == {
        "file": "kernels.py", "line": 18, "column": 17, "text": "    tl.store(p, tl.no_such_function(LIMIT))",
    }  # fmt: skip
    (package / "limit.json").unlink()
    diagnosis = check(*command).document["diagnosis"]
    assert diagnosis["headline"].startswith("Importing kernels.py raised FileNotFoundError")
    assert (diagnosis["source"]["file"], diagnosis["source"]["line"]) == ("tools.py", 8)


def test_slices_that_nobody_used_for_a_week_go_where_there_are_too_many(
    package: Path, slice_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "_MOST", 2)
    monkeypatch.setattr(slices, "_LOOKED", "")
    old = [slice_cache / "slices" / (letter * 32) for letter in "ab"]
    locate(f"{package}/ops/kernels.py::kernel")
    for folder in old:
        folder.mkdir()
        os.utime(folder, (0, time.time() - 8 * 86400))
    case = locate(f"{package}/ops/kernels.py::other")
    assert case.top.is_dir()
    assert not any(folder.exists() for folder in old)
