"""What a recorded compile leaves: every pass with its arguments and the module before it, good to be run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from triage.cases.locate import locate
from triage.harness.engine import Engine
from triage.harness.request import JOURNAL, IrTask, RecordPasses, Request, RunPasses, RunStage
from triage.harness.toolchains import Toolchain, Toolchains
from triage.ir.mlir import reparsable
from triage.model.outcome import Outcome, Stage, Status

FAILING = [
    ("wgmma-tf32-mn-major", "3.0.0", Status.CRASH),
    ("wgmma-tf32-mn-major", "3.2.0", Status.CRASH),
    ("wgmma-mn-major-warp-specialized", "3.4.0", Status.ERROR),
    ("gluon-wgmma-k-too-small", "newest", Status.ERROR),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "version", "status"), FAILING)
def test_every_pass_that_passed_passes_alone(
    name: str,
    version: str,
    status: Status,
    toolchains: Toolchains,
    release: Callable[[str], Toolchain],
    tmp_path: Path,
) -> None:
    toolchain = release(version)
    case = replace(locate(name), triton=toolchain.release)

    def outcome(task: IrTask) -> Outcome:
        (attempt,) = engine.run([Request(case, toolchain, action=task)])
        assert isinstance(attempt.result, Outcome)
        return attempt.result

    with Engine(2, spare=toolchains.installed) as engine:
        failed = outcome(RecordPasses(tmp_path))
        lines = (tmp_path / JOURNAL).read_text().splitlines()
        passes = [record for record in map(json.loads, lines) if record["kind"] == "pass"]
        kept = [record for record in passes if (tmp_path / record["file"]).is_file()]
        assert len(kept) >= 20
        for path in tmp_path.glob("*.mlir"):
            path.write_text(reparsable(path.read_text()))
        ends = [
            outcome(RunPasses(tmp_path / record["file"], tuple(record["steps"]), Stage(record["stage"]))).status
            for record in kept
        ]
    assert failed.status is status
    assert ends == [Status.OK] * (len(kept) - 1) + [status]


KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, tl.exp(x) + tl.sum(x), mask=offsets < n)
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
@pytest.mark.parametrize("version", ["3.0.0", "3.2.0", "3.4.0", "3.6.0", "newest"])
def test_every_later_stage_passes_alone(
    version: str, target: str, toolchains: Toolchains, release: Callable[[str], Toolchain], tmp_path: Path
) -> None:
    """LLVM's part of a stage, code generation and assembly, on what they were given in a compile."""
    toolchain = release(version)
    (tmp_path / "kernel.py").write_text(KERNEL)
    given = {"arg": ("x_ptr=*fp32", "y_ptr=*fp32", "n=i32"), "const": ("BLOCK=256",), "target": target}
    case = locate(f"{tmp_path / 'kernel.py'}::add", given)
    journal = tmp_path / "journal"
    journal.mkdir()
    with Engine(2, spare=toolchains.installed) as engine:
        (recorded,) = engine.run([Request(case, toolchain, action=RecordPasses(journal))])
        assert isinstance(recorded.result, Outcome)
        assert recorded.result.status is Status.OK, recorded.result.log
        records = map(json.loads, (journal / JOURNAL).read_text().splitlines())
        later = {record["stage"]: record for record in records if record["kind"] in ("llvm", "stage")}
        tasks = [RunStage(journal / record["file"], Stage(stage)) for stage, record in later.items()]
        ends = {
            attempt.request.action: attempt.result
            for attempt in engine.run(Request(case, toolchain, action=task) for task in tasks)
        }
    assert set(later) == ({"llir", "ptx", "cubin"} if target.startswith("cuda") else {"llir", "amdgcn", "hsaco"})
    assert [one.status if isinstance(one, Outcome) else one for one in ends.values()] == [Status.OK] * 3
