"""``triage minimize`` with the failing pass at its end: what it prints, its document, and an interrupt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from commands import call_triage

from triage.cases.locate import locate
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchains
from triage.minimize.ir.replays import Replays
from triage.minimize.ir.run import reduce_ir
from triage.minimize.oracle import CountingRunner
from triage.minimize.source.compiling import CandidateCompiler
from triage.minimize.source.specimen import Specimen


@pytest.mark.slow
def test_the_document_names_file_pass_and_command(empty_cache: Path, tmp_path: Path) -> None:
    done = call_triage(empty_cache, "minimize", "fp8-row-sum", "--json", "-o", tmp_path / "min")
    found = done.document["ir"]
    assert done.code == 0, done.err
    assert found["reproduced"] == [1, 1]
    assert found["pass"] == "convert-triton-gpu-to-llvm"
    assert found["after"]["operations"] <= 5 < found["before"]["operations"]
    assert found["after"]["bytes"] == (tmp_path / "min" / "ir" / "before.mlir").stat().st_size
    assert Path(found["script"]) == tmp_path / "min" / "ir" / "rerun.py"
    assert found["ended"] == "complete"


@pytest.mark.slow
def test_without_it(empty_cache: Path, tmp_path: Path) -> None:
    arguments = ("minimize", "fp8-row-sum", "--no-ir", "--budget", "1", "-o", tmp_path / "min")
    done = call_triage(empty_cache, *arguments)
    assert done.code == 0, done.err
    assert "no IR: it was not asked for" in done.out
    assert not (tmp_path / "min" / "ir").exists()


@pytest.mark.slow
def test_an_interrupt_keeps_the_best(toolchains: Toolchains, tmp_path: Path) -> None:
    toolchain = toolchains.default()
    case = replace(locate("fp8-row-sum"), triton=toolchain.release)

    def interrupt(what: str) -> None:
        if "control flow" in what:
            # The script is there already, and shows the failure on what is there so far.
            assert (tmp_path / "out" / "ir" / "rerun.py").is_file()
            raise KeyboardInterrupt

    with Engine(2) as engine:
        runner = CountingRunner(engine)
        original = Specimen(case.path.read_text(encoding="utf-8"), case, in_package=True)
        failure = CandidateCompiler(runner, toolchain, Limits(), tmp_path / "all").learn(original, 1)
        replays = Replays(runner, case, toolchain, Limits(), failure, tmp_path / "scratch")
        result = reduce_ir(replays, tmp_path / "out", interrupt)
    assert result.ended == "interrupted"
    assert result.reproduced in (None, (1, 1))  # Ctrl-C leaves a second or two for the last run.
    assert result.after.operations < result.before.operations
    assert result.after.bytes == result.file.stat().st_size
