"""A text of IR as a case: it fails as the kernel does, from its stage on, and says what it does not know."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import call_triage
from compile_outputs import OutputsOf
from golden_files import Golden

from triage.cases.artifacts import ir_text
from triage.cases.locate import locate, locate_all
from triage.harness.judge import RunFacts
from triage.harness.judge import judge as judge_attempt
from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.matrix.cell import CellVerdict, judge
from triage.minimize.result import MinimizeOptions
from triage.minimize.run import minimize
from triage.model import case as cases
from triage.model.case import Case, frozen
from triage.model.errors import InputError
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.target import Target
from triage.pipeline import Options, Session
from triage.suggest.plan import applicable
from triage.suggest.proposal import Move, Proposal

MATMUL = {
    "schema": "triton-triage/case/1",
    "language": "triton",
    "kernel": {"file": "kernel.py", "name": "matmul"},
    "signature": {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"},
    "constexprs": {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 32},
    "target": "cuda:90",
    "options": {"num_warps": 8, "num_stages": 2},
}
RELEASES = ["3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0", "3.7.1", "3.8.0"]


@pytest.fixture(scope="session")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case folder of a kernel that compiles."""
    folder = tmp_path_factory.mktemp("matmul")
    source = Path(__file__).parents[1] / "harness" / "kernels" / "matmul.py"
    (folder / "kernel.py").write_text(source.read_text())
    (folder / "case.json").write_text(json.dumps(MATMUL))
    return folder


def session_of(release: Callable[[str], Toolchain], version: str) -> Session:
    return Session(Options(suggest=False, cache=False, python=str(release(version).python)))


TEXTS = {
    "layouts of 3.0": (
        "k.ttgir",
        'module attributes {"triton_gpu.num-ctas" = 2 : i32, "triton_gpu.num-warps" = 8 : i32, triton_gpu.target = '
        '"cuda:80"} {\n  tt.func public @scale(%arg0: i32) {',
        ("scale", "cuda:80", {"num_warps": 8, "num_ctas": 2}),
    ),
    "layouts of 3.9": (
        "k.ttgir",
        'module attributes {"ttg.maxnreg" = 64 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942"} {\n'
        "  tt.func private @helper(%arg0: i32) {\n  tt.func public @scale(%arg0: i32) {",
        ("scale", "hip:gfx942", {"num_warps": 4, "maxnreg": 64}),
    ),
    "no layouts": ("k.ttir", "module {\n  tt.func public @scale(%x: i32) {", ("scale", None, {})),
    "PTX": (
        "k.ptx",
        ".version 8.4\n.target sm_90a\n.visible .entry scale(\n)\n.maxntid 256, 1, 1\n{",
        ("scale", "cuda:90", {"num_warps": 8}),
    ),
    "AMD's assembly": (
        "k.amdgcn",
        '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n\t.globl scale\nscale:\n\t.amdhsa_kernel scale\n'
        "    .max_flat_workgroup_size: 256\n",
        ("scale", "hip:gfx942", {"num_warps": 4}),
    ),
    "a reproducer's options": (
        "k.mlir",
        "module {\n  tt.func public @scale(%x: i32) {\n{-#\n mlir_reproducer: {\n      pipeline: "
        '"builtin.module(convert-triton-to-tritongpu{num-ctas=1 num-warps=2 target=cuda:86 threads-per-warp=32},'
        'tritongpu-pipeline{num-stages=5})",',
        ("scale", "cuda:86", {"num_warps": 2, "num_ctas": 1, "num_stages": 5}),
    ),
}


@pytest.mark.parametrize(("name", "text", "told"), TEXTS.values(), ids=TEXTS.keys())
def test_what_a_text_says_of_itself(tmp_path: Path, name: str, text: str, told: tuple[Any, ...]) -> None:
    (tmp_path / name).write_text(text)
    declared = ir_text.declared_in(tmp_path / name, tmp_path)
    assert (declared.name, declared.target and str(declared.target), declared.options) == told


@pytest.mark.parametrize(
    ("triple", "target"), [("amdgcn-amd-amdhsa", "cuda:90"), ("nvptx64-nvidia-cuda", "hip:gfx942")]
)
def test_llvm_ir_of_the_other_vendor(tmp_path: Path, triple: str, target: str) -> None:
    (tmp_path / "k.llir").write_text(f'target triple = "{triple}"\ndefine void @scale() {{\n')
    with pytest.raises(InputError, match=r"is for (hip|cuda) and does not name the architecture; give --target"):
        locate(str(tmp_path / "k.llir"), {"target": target})


def fails_alike(session: Session, path: Path, stage: Stage, case: str, ended: int = 0) -> None:
    whole = session.check(locate(case))
    alone = session.check(locate(str(path), {"target": str(whole.case.target)}))
    assert alone.diagnosis is not None
    assert whole.diagnosis is not None
    assert alone.outcome.stage is stage
    assert len(alone.outcome.stages) == (0 if path.suffix == ".ttgir" else ended)
    assert alone.diagnosis.signature == whole.diagnosis.signature
    assert alone.diagnosis.pass_name == whole.diagnosis.pass_name
    assert alone.diagnosis.kind is whole.diagnosis.kind


@pytest.mark.parametrize(
    ("case", "ending", "stage"),
    [
        ("float-atomic-xor", ".ttgir", Stage.LLIR),
        ("asm-unknown-instruction", ".ptx", Stage.CUBIN),
        pytest.param("hopper-ws-pointer-loads", ".ttir", Stage.TTGIR, marks=pytest.mark.slow),
    ],
)
def test_it_fails_as_the_kernel_does(
    outputs_of: OutputsOf, newest_session: Session, case: str, ending: str, stage: Stage
) -> None:
    left = outputs_of(case)
    assert left.code != 0
    fails_alike(newest_session, next(left.entry.glob(f"*{ending}")), stage, case)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".source", ".glir", ".ttgir"])
def test_gluons_stages(outputs_of: OutputsOf, newest_session: Session, ending: str) -> None:
    left = outputs_of("gluon-mma-v2-k-width")
    fails_alike(newest_session, next(left.entry.glob(f"*{ending}")), Stage.LLIR, "gluon-mma-v2-k-width", ended=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "case", "ending", "stage"),
    [
        ("3.0.0", "wgmma-tf32-mn-major", ".ttgir", Stage.LLIR),
        ("3.2.0", "wgmma-tf32-mn-major", ".ttgir", Stage.LLIR),
        ("3.3.1", "cluster-cumsum", ".ttgir", Stage.LLIR),
        ("3.5.1", "hopper-ws-pointer-loads", ".ttir", Stage.TTGIR),
        ("3.6.0", "cluster-cumsum", ".ttgir", Stage.LLIR),
    ],
)
def test_it_fails_as_the_kernel_does_on_older_releases(
    outputs_of: OutputsOf, release: Callable[[str], Toolchain], version: str, case: str, ending: str, stage: Stage
) -> None:
    with session_of(release, version) as session:
        fails_alike(session, next(outputs_of(case, version).entry.glob(f"*{ending}")), stage, case)


EVERY = (".source", ".ttir", ".ttgir", ".llir", ".ptx")


def compiles_alike(matmul: Path, entry: Path, session: Session, version: str, endings: tuple[str, ...]) -> None:
    whole = session.check(locate(str(matmul))).outcome.resources
    assert whole is not None
    for ending in endings:
        path = entry / f"matmul{ending}"
        if not path.exists():
            assert (version, ending) < ("3.4", ".source")  # not written before 3.4
            continue
        early = {"num_warps": 8, "num_stages": 2} if ending in (".source", ".ttir") else {}
        report = session.check(locate(str(path), early))
        assert report.outcome.status is Status.OK
        resources = report.outcome.resources
        assert resources is not None
        assert (resources.registers, resources.tensor_core) == (whole.registers, whole.tensor_core)
        if ending in (".llir", ".ptx"):
            assert any("is not known" in note for note in report.outcome.notes)
        else:
            assert resources.shared_bytes == whole.shared_bytes


def test_it_compiles_to_the_same_from_a_later_stage(
    matmul: Path, outputs_of: OutputsOf, newest_session: Session
) -> None:
    compiles_alike(matmul, outputs_of(matmul).entry, newest_session, "newest", (".ttgir", ".llir"))


@pytest.mark.slow
@pytest.mark.parametrize("version", [*RELEASES, "newest"])
def test_it_compiles_to_the_same_from_every_stage_of_every_release(
    matmul: Path, outputs_of: OutputsOf, release: Callable[[str], Toolchain], version: str
) -> None:
    with session_of(release, version) as session:
        compiles_alike(matmul, outputs_of(matmul, version).entry, session, version, EVERY)


def test_what_the_text_does_not_say_is_said(matmul: Path, outputs_of: OutputsOf) -> None:
    entry = outputs_of(matmul).entry
    assert locate_all(str(entry / "matmul.ttgir")).notes == ()
    (said,) = locate_all(str(entry / "matmul.ttir"), {"num_stages": 2}).notes
    assert said == (
        "matmul.ttir does not state target, num_warps: compiled with cuda:90, the default num_warps; change with "
        "--target, --num-warps"
    )


BUILT_IN = {
    "warps": {"num_warps": 4},
    "target": {"target": "cuda:80"},
    "constexpr": {"const": ["BLOCK=1"]},
    "argument": {"arg": ["x=i32"]},
}


@pytest.mark.parametrize("options", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_what_is_built_in_cannot_be_changed(
    matmul: Path, outputs_of: OutputsOf, golden: Golden, options: dict[str, Any]
) -> None:
    entry = outputs_of(matmul).entry
    with pytest.raises(InputError) as caught:
        locate(str(entry / "matmul.ttgir"), options)
    golden(str(caught.value).replace(str(entry), "ENTRY"))


def test_a_case_folder_may_hold_ir(tmp_path: Path, outputs_of: OutputsOf, newest_session: Session) -> None:
    text = next(outputs_of("float-atomic-xor").entry.glob("*.ttgir")).read_text()
    (tmp_path / "kernel.ttgir").write_text(text)
    document = {
        "schema": cases.SCHEMA,
        "kernel": {"file": "kernel.ttgir", "name": "checksum"},
        "signature": {},
        "target": "hip:gfx1100",
    }
    (tmp_path / "case.json").write_text(json.dumps(document))
    found = locate(str(tmp_path))
    assert dict(found.options) == {"num_warps": 4, "num_ctas": 1}
    report = newest_session.check(found)
    assert report.outcome.stage is Stage.LLIR
    document["signature"] = {"x_ptr": "*fp32"}
    (tmp_path / "case.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"x_ptr: kernel\.ttgir is IR"):
        locate(str(tmp_path))


FUNCTION = "  tt.func public @f() {\n    tt.return\n  }\n"
UNREADABLE = {
    "empty": ("k.ttgir", "", "contains no kernel: no function of ttgir"),
    "prose": ("k.ttir", "hello\n", "contains no kernel: no function of ttir"),
    "cut short": ("k.ttir", f"module {{\n{FUNCTION}", "cannot read this text"),
    "of another release": (
        "k.ttgir",
        f'#b = #triton_gpu.blocked<{{}}>\nmodule attributes {{"triton_gpu.num-warps" = 4 : i32}} {{\n{FUNCTION}',
        "line 1: .* IR belongs to the release that wrote it",
    ),
    "not for this back end": ("k.amdgcn", "\t.amdhsa_kernel f\n", "is not what a stage for cuda makes"),
    "no pipeline": ("k.mlir", f"module {{\n{FUNCTION}}}\n", "names no pipeline"),
    "an unknown pipeline": (
        "k.mlir",
        f'module {{\n{FUNCTION}}}\n{{-#\n pipeline: "any(frob)"\n#-}}\n',
        "runs pass frob",
    ),
}


@pytest.mark.parametrize(("name", "text", "told"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_no_failure(
    tmp_path: Path, newest_session: Session, name: str, text: str, told: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=told):
        newest_session.check(locate(str(tmp_path / name)))


def test_a_nul_a_pipe_and_a_huge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.ttgir").write_bytes(b"module {\0}")
    with pytest.raises(InputError, match="binary, not text"):
        locate(str(tmp_path / "k.ttgir"))
    os.mkfifo(tmp_path / "pipe.ttgir")
    os.mkfifo(tmp_path / "pipe.py")
    for name in ("pipe.ttgir", "pipe.py"):
        with pytest.raises(InputError, match="not a regular file"):
            locate(str(tmp_path / name))
    huge = tmp_path / "huge.ttgir"
    with huge.open("wb") as stream:
        stream.truncate(1 << 33)
    with pytest.raises(InputError, match="at most 64 MiB are read"):
        locate(str(huge))


CHANGES = {
    ".ttir": [{"num_warps": 8}, {"num_stages": 1}],
    ".ttgir": [{"maxnreg": None}, {"enable_fp_fusion": False}],
    ".ptx": [{"enable_fp_fusion": False}],
    ".mlir": [],
}


@pytest.mark.parametrize(("ending", "left"), CHANGES.items())
def test_suggestions_change_what_is_left_to_compile(ending: str, left: list[dict[str, Any]]) -> None:
    case = Case(Path(), f"k{ending}", "k", frozen(), options=frozen({"maxnreg": 64}))
    proposed = [{"num_warps": 8}, {"num_stages": 1}, {"target": "cuda:80"}, {"debug": True}]
    found = applicable(case, "3.3.1", [Proposal(changes, Move.OPTION, 0.0, 1.0, "") for changes in proposed])
    assert [dict(one.changes) for one in found] == left
    if ending == ".ttgir":
        assert [dict(one.changes) for one in applicable(case, "3.5.0", [])] == [{"enable_fp_fusion": False}]


def test_a_release_that_cannot_read_it_is_not_applicable(outputs_of: OutputsOf) -> None:
    case = locate(str(next(outputs_of("float-atomic-xor").entry.glob("*.ttgir"))))
    cell = judge(case, "3.0.0", Undecided("cannot read this text", input_error=True), None)
    assert (cell.verdict, cell.reason) == (CellVerdict.NOT_APPLICABLE, "cannot read this text")
    assert judge(case, "3.0.0", Undecided("disk full"), None).verdict is CellVerdict.UNDECIDED


@pytest.mark.slow
def test_matrix_tells_the_releases_that_can_read_it(
    outputs_of: OutputsOf, tmp_path: Path, release: Callable[[str], Toolchain]
) -> None:
    text = next(outputs_of("cluster-cumsum", "3.5.1").entry.glob("*.ttgir"))
    rows = [word for v in ("3.2.0", "3.3.1", "3.5.1", "3.9.0") for word in ("--python", f"{v}={release(v).python}")]
    done = call_triage(tmp_path / "cache", "matrix", text, *rows, "--json")
    assert done.code == 1
    verdicts = [cell["verdict"] for cell in done.document["cells"]]
    assert verdicts == ["not applicable", "fails", "fails", "not applicable"]


def test_minimize_begins_with_source(outputs_of: OutputsOf, tmp_path: Path) -> None:
    text = next(outputs_of("float-atomic-xor").entry.glob("*.ttgir"))
    with pytest.raises(InputError, match="is IR, and minimize begins with the kernel's source"):
        minimize(locate(str(text)), MinimizeOptions(folder=tmp_path / "min"))


def ended(stage: str, status: int) -> Outcome | Undecided:
    case = Case(Path(), "k.ttgir", "k", frozen())
    return judge_attempt(case, RunFacts(events=[{"ev": "begin", "stage": stage}], status=status), Limits(), "0")


def test_a_parser_that_dies_says_nothing_of_the_kernel() -> None:
    reading = ended("source", signal.SIGABRT)
    assert isinstance(reading, Undecided)
    assert (reading.reason.split(";")[0], reading.input_error) == ("died of SIGABRT reading this text", True)
    compiling = ended("llir", signal.SIGABRT)
    assert isinstance(compiling, Outcome)
    assert (compiling.status, compiling.signal) == (Status.CRASH, "SIGABRT")


def test_the_target_of_a_text_is_its_own(matmul: Path, outputs_of: OutputsOf) -> None:
    assert locate(str(outputs_of(matmul).entry / "matmul.ptx")).target == Target("cuda", "90")
