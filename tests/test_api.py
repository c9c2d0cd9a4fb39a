"""The Python API: three functions, imported on first use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import DATA

import triage
from triage.frontends.documents import load
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import InputError
from triage.model.outcome import Status
from triage.model.report import Report
from triage.pipeline import Options

ASSERTION = 'python: /x/NVGPUToLLVMPass.cpp:528: void WGMMAOpPattern::getPtxAsm(): Assertion `supported && ' \
    '"WGMMA type or shape is not supported"\' failed.'  # fmt: skip


OK = DATA / "ok.json"


@pytest.mark.parametrize("case", [load(OK), OK, str(OK)], ids=["Case", "Path", "str"])
def test_check_takes_a_case_a_path_or_a_name(own_cache: Path, case: Case | Path | str) -> None:
    report = triage.check(case, Options(suggest=False))
    assert isinstance(report, Report)
    assert report.outcome.status is Status.OK
    assert report.to_json()["schema"] == "triton-triage/report/1"


def test_check_raises_for_bad_input_and_never_for_a_failing_compile(own_cache: Path) -> None:
    with pytest.raises(InputError, match="no such case"):
        triage.check("nowhere")
    assert triage.check(DATA / "undefined-name.json", Options(suggest=False)).outcome.failed


def test_diagnose_takes_text_or_the_path_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(ASSERTION)
    found = triage.diagnose(ASSERTION)
    assert found == triage.diagnose(tmp_path / "log.txt")
    assert (found.kind, found.function) == (Kind.ASSERTION, "WGMMAOpPattern::getPtxAsm")


@pytest.mark.parametrize("text", ["", "all tests passed"])
def test_a_text_without_a_failure_is_unknown(text: str) -> None:
    assert triage.diagnose(text) == Diagnosis(kind=Kind.UNKNOWN, headline="no failure found", message="")


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no: cannot be read: No such file"):
        triage.diagnose(tmp_path / "no")


def test_match_is_surer_with_the_case() -> None:
    found = triage.diagnose(ASSERTION)
    case = load(DATA / "ok.json")
    alone = {one.id: one.confidence for one in triage.match(found)}
    with_case = {one.id: one.confidence for one in triage.match(found, case)}
    assert with_case["wgmma-operand-not-k-major"] > alone["wgmma-operand-not-k-major"] > 0
    assert triage.match(triage.diagnose("")) == []


def test_names() -> None:
    functions = {"check", "diagnose", "draft", "early_config_prune", "guard", "match", "sweep"}
    assert all(callable(getattr(triage, name)) for name in functions)
    assert set(triage.__all__) == functions | {"CompileFailed", "__version__"}
    # In a process of its own: it imports Triton.
    command = [sys.executable, "-c", "import triage; assert issubclass(triage.CompileFailed, Exception)"]
    subprocess.run(command, check=True)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        triage.nothing  # noqa: B018


@pytest.mark.slow
def test_the_type_checker_sees_the_lazy_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(
        "import triage\n"
        "report = triage.check('x')\n"
        "status: str = report.outcome.status.value\n"
        "wrong: int = triage.diagnose('x').headline\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", "user.py"]
    root = str(Path(triage.__file__).parent.parent)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env={"MYPYPATH": root})
    assert re.findall(r"^user.py:(\d+): error: ", done.stdout, re.MULTILINE) == ["4"]
