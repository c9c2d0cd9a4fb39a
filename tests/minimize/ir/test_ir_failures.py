"""Real failures taken down to one pass or stage: found, made smaller, shown again by the script alone."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from triage.cases.locate import locate
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain, Toolchains
from triage.minimize.ir import run as ir_run
from triage.minimize.ir.failure_point import NoIR
from triage.minimize.ir.replays import Replays
from triage.minimize.ir.run import ReducedIR, reduce_ir
from triage.minimize.oracle import CountingRunner
from triage.minimize.problem import RunBudget
from triage.minimize.source.compiling import CandidateCompiler
from triage.minimize.source.specimen import Specimen

NEWEST = "newest"
Reduce = Callable[..., ReducedIR]


@pytest.fixture(scope="module")
def engine(toolchains: Toolchains) -> Iterator[Engine]:
    with Engine(2, spare=toolchains.installed) as shared:
        yield shared


@pytest.fixture(scope="module")
def down(engine: Engine, release: Callable[[str], Toolchain], tmp_path_factory: pytest.TempPathFactory) -> Reduce:
    """A reproducer's kernel, as it is, taken down to its IR in so many runs."""

    def reduced(name: str, version: str = NEWEST, runs: float = math.inf) -> ReducedIR:
        folder = tmp_path_factory.mktemp("ir")
        toolchain = release(version)
        case = replace(locate(name), triton=toolchain.release)
        runner = CountingRunner(engine)
        original = Specimen(case.path.read_text(encoding="utf-8"), case, in_package=True)
        failure = CandidateCompiler(runner, toolchain, Limits(), folder / "all").learn(original, 1)
        replays = Replays(runner, case, toolchain, Limits(), failure, folder / "scratch")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ir_run, "RunBudget", lambda until: RunBudget(runs, until))
            return reduce_ir(replays, folder / "out", lambda what: None, seconds=90.0)

    return reduced


@pytest.fixture(scope="module")
def sum_of_fp8(down: Reduce) -> ReducedIR:
    return down("fp8-row-sum", runs=30)


def test_a_pass_of_mlir(sum_of_fp8: ReducedIR) -> None:
    result = sum_of_fp8
    assert result.reproduced == (1, 1)
    assert result.pass_name == "convert-triton-gpu-to-llvm"
    assert result.adder == "nvidia.passes.ttgpuir.add_to_llvmir"
    assert result.command.startswith(
        "triton-opt before.mlir --pass-pipeline='builtin.module(convert-triton-gpu-to-llvm{"
    )
    # The sum of a tile of fp8, its combining region, and what holds them.
    assert result.after.operations == 5 < result.before.operations
    assert '"tt.reduce"' in result.file.read_text()
    assert result.command in result.script.read_text().split("import os")[0]


def test_code_generation_that_only_prints_its_error(down: Reduce) -> None:
    result = down("asm-constraint-letter", runs=36)
    assert (result.file.name, result.stage, result.pass_name) == ("module.ll", "ptx", None)
    assert result.reproduced == (1, 1)
    assert result.after.operations < result.before.operations
    assert re.match(r"llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90a -mattr=\+ptx\d+ .*module\.ll", result.command)


def test_without_ir_there_is_a_reason(down: Reduce) -> None:
    with pytest.raises(NoIR, match="front end"):
        down("name-not-defined")


def test_the_script_says_gone_and_cannot_tell(
    sum_of_fp8: ReducedIR, release: Callable[[str], Toolchain], tmp_path: Path
) -> None:
    shutil.copytree(sum_of_fp8.file.parent, tmp_path / "ir")
    script, file = tmp_path / "ir" / "rerun.py", tmp_path / "ir" / sum_of_fp8.file.name
    whole = file.read_text()

    def said(text: str) -> tuple[int, str]:
        file.write_text(text)
        command = [str(release(NEWEST).python), str(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, text = said(re.sub(r"f8E\w+", "f16", whole))
    assert code == 0
    assert text.startswith("it is gone: ")
    code, text = said(whole.replace("tt.func", "no_such.op"))
    assert code == 125
    assert "IR text does not travel between releases" in text


ELSEWHERE = [
    ("wgmma-tf32-mn-major", "3.2.0", "before.mlir", "convert-nv-gpu-to-llvm", 5),
    ("wgmma-tf32-mn-major", "3.0.0", "before.mlir", "convert-nv-gpu-to-llvm", 5),
    ("gluon-wgmma-k-too-small", NEWEST, "before.mlir", "convert-triton-gpu-to-llvm", 5),
    ("hopper-ws-pointer-loads", NEWEST, "before.mlir", "nvgpu-warp-specialization", 9),
    ("float-atomic-xor", NEWEST, "before.mlir", "convert-triton-amdgpu-to-llvm", 5),
    ("asm-constraint-count", NEWEST, "before.mlir", None, 5),
    ("asm-wgmma-on-sm120", NEWEST, "module.ptx", None, 1),
    ("ptx-assembly-on-amd", NEWEST, "module.s", None, 1),
    ("wgmma-mn-major-warp-specialized", "3.4.0", "before.mlir", "convert-nv-gpu-to-llvm", 5),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "version", "file", "pass_name", "most"), ELSEWHERE)
def test_stages_and_releases(
    down: Reduce, name: str, version: str, file: str, pass_name: str | None, most: int
) -> None:
    result = down(name, version)
    assert result.reproduced == (1, 1)
    assert (result.file.name, result.pass_name) == (file, pass_name)
    assert result.after.operations <= most
