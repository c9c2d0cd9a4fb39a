"""``--launch --sanitize``: the launch reproducer under compute-sanitizer, with stand-ins for that program and the GPU's
driver."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stub_driver
from commands import call_triage
from conftest import NEWEST
from running import sharing_key
from sanitizer_stand_in import CLEAN, SHARED, stand_in

from triage.frontends import documents
from triage.harness.deadline import Deadline
from triage.harness.toolchains import Toolchain
from triage.minimize import launch_script
from triage.minimize.memory_check import check_memory
from triage.minimize.problem import BudgetUsed
from triage.minimize.source.specimen import Specimen
from triage.model.measurement import MemoryCheck, NotMeasured
from triage.performance import sanitizer

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""
DOUBLE = {
    "schema": "triton-triage/case/1",
    "kernel": {"file": "kernel.py", "name": "double"},
    "signature": {"x_ptr": "*fp32", "n": "i32"},
    "constexprs": {"BLOCK": 128},
    "target": "cuda:90",
}
OLDER_PATHS = SHARED.replace("kernel.py:17", "FOLDER/reproducer_launch.py:17")

Checked = Callable[[], MemoryCheck | NotMeasured]


@pytest.fixture(scope="module")
def driver(shared_folder: Path) -> Path:
    return stub_driver.built(shared_folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the case, which is that of the script as well."""
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "case.json").write_text(json.dumps(DOUBLE))
    return tmp_path


@pytest.fixture
def checked(
    driver: Path, folder: Path, release: Callable[[str], Toolchain], monkeypatch: pytest.MonkeyPatch
) -> Checked:
    for name, value in stub_driver.variables(driver).items():
        monkeypatch.setenv(name, value)
    toolchain, case = release(NEWEST), documents.load(folder, folder)
    script = folder / launch_script.FILE
    passed = launch_script.arguments(case, case.inputs)
    text = launch_script.reproducer(Specimen(KERNEL, case), passed, None, toolchain.release)
    script.write_text(sharing_key(text))
    return lambda: check_memory(script, toolchain, 60.0, Deadline(math.inf))


def program(tmp_path_factory: pytest.TempPathFactory, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a stand-in that writes ``text``."""
    folder = tmp_path_factory.mktemp("program")
    stand_in(folder, text, monkeypatch)
    return folder


@pytest.mark.slow
def test_an_invalid_access(
    checked: Checked, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_FINISH", "700")
    home = program(tmp_path_factory, OLDER_PATHS.replace("FOLDER", str(folder.resolve())), monkeypatch)
    report = checked()
    assert isinstance(report, MemoryCheck)
    assert report.errors == 1026
    # Nothing of the user's folders: the document of an anonymous result has it.
    assert report.first == (
        "Invalid __shared__ write of size 16 bytes at transpose_scale in reproducer_launch.py:17, "
        "thread (47,0,0) in block (3,1,0), out of bounds"
    )
    assert "--tool memcheck" in (home / "arguments").read_text()
    assert "REPRODUCER_CHILD=1" in (home / "environment").read_text()


def test_no_invalid_access(
    checked: Checked, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path_factory, CLEAN, monkeypatch)
    assert checked() == MemoryCheck(0)


NO_REPORT = {
    "no GPU": (
        CLEAN,
        {"STUB_DEVICES": "0"},
        "no GPU that can be used here: CUDA error: no CUDA-capable device is detected",
    ),
    "the launch fails and no access is invalid": (
        CLEAN,
        {"STUB_FINISH": "700"},
        "the process below it ended with: RuntimeError: CUDA error: an illegal memory access was encountered",
    ),
    "the program itself fails": (
        "========= Internal Sanitizer Error: Device not supported\n",
        {},
        "Device not supported",
    ),
}


@pytest.mark.parametrize(("text", "variables", "reason"), NO_REPORT.values(), ids=NO_REPORT.keys())
def test_why_there_is_no_report(
    checked: Checked,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    variables: dict[str, str],
    reason: str,
) -> None:
    program(tmp_path_factory, text, monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert checked() == NotMeasured(reason)


def test_without_the_program(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitizer, "located", lambda site_packages: None)
    answer = checked()
    assert isinstance(answer, NotMeasured)
    assert answer.reason.endswith(": pip install nvidia-cuda-sanitizer-api")


def test_after_the_deadline_nothing_starts(folder: Path, release: Callable[[str], Toolchain]) -> None:
    deadline = Deadline(math.inf)
    deadline.stop()
    with pytest.raises(BudgetUsed):
        check_memory(folder / launch_script.FILE, release(NEWEST), 60.0, deadline)


def minimized(folder: Path, cache: Path, *arguments: str, **variables: str) -> dict[str, Any]:
    done = call_triage(
        cache, "minimize", folder, "--launch", "--sanitize", "--json", "--no-ir", "--budget", "1", *arguments,
        "-o", folder / "min", **variables,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads((folder / "min/minimized.json").read_text())["memory_check"] == done.document["memory_check"]
    return done.document


@pytest.mark.slow
def test_a_reduction_with_the_check(
    driver: Path,
    folder: Path,
    empty_cache: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program(tmp_path_factory, SHARED, monkeypatch)
    document = minimized(folder, empty_cache, STUB_FINISH="700", **stub_driver.variables(driver))
    assert document["launched"] == [1, 1]
    assert (document["memory_check"]["errors"], document["no_memory_check"]) == (1026, None)
    printed = call_triage(empty_cache, "report", folder / "min").out
    assert "compute-sanitizer: 1026 errors, first: Invalid" in printed.replace("\\_", "_").replace("**", "")


@pytest.mark.slow
def test_what_fails_before_a_launch_is_not_checked(folder: Path, empty_cache: Path) -> None:
    (folder / "case.json").write_text(json.dumps({**DOUBLE, "constexprs": {"BLOCK": 100}}))
    document = minimized(folder, empty_cache, LD_LIBRARY_PATH="")
    assert document["reproduced"] == [1, 1]
    assert document["memory_check"] is None
    assert document["no_memory_check"].startswith("reproducer_launch.py was not launched here: no GPU that can be used")
