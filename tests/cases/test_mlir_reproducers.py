"""What MLIR itself leaves: reproducers, which name a pipeline, and dumps of the module before every pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from compile_outputs import OutputsOf

from triage.cases.locate import locate, locate_all
from triage.harness.toolchains import Toolchain
from triage.ir import passes
from triage.model.errors import InputError
from triage.model.outcome import Stage, Status
from triage.pipeline import Options, Session


def assert_fails_in(path: Path, session: Session, stage: Stage, pass_name: str) -> None:
    report = session.check(locate(str(path)))
    assert report.diagnosis is not None
    assert (report.outcome.stage, report.diagnosis.pass_name) == (stage, pass_name)


AMD_PASS = "convert-triton-amdgpu-to-llvm"


def test_a_reproducer_runs_its_own_pass(outputs_of: OutputsOf, newest_session: Session) -> None:
    """By the beginning of its name, which is what the variable holds."""
    left = outputs_of("float-atomic-xor")
    assert not left.reproducer.exists()
    assert_fails_in(left.reproducer, newest_session, Stage.LLIR, AMD_PASS)


def test_of_a_folder_the_one_that_a_failing_pass_left(outputs_of: OutputsOf, tmp_path: Path) -> None:
    left = outputs_of("float-atomic-xor")
    for path in left.folder.glob("reproducer*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    found = locate_all(str(tmp_path))
    assert found.cases[0].file == "reproducer.mlir.make_llir.repro.mlir"
    assert found.notes == (f"{found.cases[0].path}: the reproducer that a failing pass left",)


def test_a_pipeline_that_does_not_fail(outputs_of: OutputsOf, newest_session: Session) -> None:
    left = outputs_of("float-atomic-xor")
    path = left.folder / "reproducer.mlir.make_ttgir.repro.mlir"
    report = newest_session.check(locate(str(path)))
    assert (report.outcome.status, report.outcome.resources) == (Status.OK, None)
    assert "passes from tritongpu-coalesce on, and nothing behind it" in report.outcome.notes[0]


def test_options_that_the_pipeline_was_not_made_with(outputs_of: OutputsOf, newest_session: Session) -> None:
    left = outputs_of("float-atomic-xor")
    path = left.folder / "reproducer.mlir.make_ttgir.repro.mlir"
    with pytest.raises(InputError, match=r"runs the pipeline of .* with these options"):
        newest_session.check(locate(str(path), {"num_stages": 7}))


def test_the_last_pass_of_a_dump(outputs_of: OutputsOf, newest_session: Session) -> None:
    left = outputs_of("float-atomic-xor", dump_passes=True)
    log = left.folder / "log.txt"
    log.write_text(left.printed)
    assert locate_all(str(log)).notes == (f"{log}: a dump of passes; the last is {AMD_PASS}",)
    assert_fails_in(log, newest_session, Stage.LLIR, AMD_PASS)


def test_a_dump_that_was_cut(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("// -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //\n")
    with pytest.raises(InputError, match="the dump ends before a module that can be read"):
        locate(str(tmp_path / "log.txt"))


def test_a_module_ends_where_it_ends() -> None:
    header = "// -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //\n"
    module = "module {\n  tt.func public @k() {\n  } loc(#loc1)\n} loc(#loc)\n#loc = loc(unknown)\n"
    last = passes.last_pass(f"{header}{module}\n\npython: Assertion `false' failed.\n")
    assert last is not None
    assert last.module.strip() == module.strip()


OLDER = [
    ("3.0.0", "wgmma-tf32-mn-major", Stage.LLIR, "convert-nv-gpu-to-llvm"),
    ("3.2.0", "wgmma-tf32-mn-major", Stage.LLIR, "convert-nv-gpu-to-llvm"),
    ("3.3.1", "cluster-cumsum", Stage.LLIR, "convert-triton-gpu-to-llvm"),
    ("3.5.1", "hopper-ws-pointer-loads", Stage.TTGIR, "nvgpu-warp-specialization"),
    ("3.6.0", "wgmma-mn-major-warp-specialized", Stage.LLIR, "convert-nv-gpu-to-llvm"),
    ("3.6.0", "float-atomic-xor", Stage.LLIR, AMD_PASS),
]


@pytest.mark.slow
@pytest.mark.parametrize("dump_passes", [False, True], ids=["reproducer", "dump"])
@pytest.mark.parametrize(("version", "case", "stage", "pass_name"), OLDER)
def test_older_releases(
    outputs_of: OutputsOf,
    release: Callable[[str], Toolchain],
    version: str,
    case: str,
    stage: Stage,
    pass_name: str,
    dump_passes: bool,
) -> None:
    left = outputs_of(case, version, dump_passes)
    path = left.reproducer
    if dump_passes:
        path = left.folder / "log.txt"
        path.write_text(left.printed)
    with Session(Options(suggest=False, cache=False, python=str(release(version).python))) as session:
        assert_fails_in(path, session, stage, pass_name)
