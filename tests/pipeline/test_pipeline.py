"""A session: cases share the workers, answers keep the cases' order, and the toolchain is the one asked for."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from commands import DATA, MAIN_BUDGET

from triage.cases.locate import locate
from triage.frontends.documents import load
from triage.harness.toolchains import Toolchain
from triage.model.diagnosis import SourceLocation
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.outcome import Status
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.pipeline.reporting import keep_artifacts
from triage.suggest.budget import Budget

OK, BROKEN = load(DATA / "ok.json"), load(DATA / "undefined-name.json")
MISFIT = replace(OK, signature={"x_ptr": "*fp32"})


@pytest.fixture(scope="module")
def steps() -> list[str]:
    return []


@pytest.fixture(scope="module")
def session(cache: Path, steps: list[str]) -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_TRIAGE_CACHE", str(cache))
        with Session(Options(suggest=False), Progress(step=steps.append)) as made:
            yield made


def how(answer: Report | TriageError) -> str:
    return answer.outcome.status.value if isinstance(answer, Report) else type(answer).__name__


def test_answers_come_in_the_order_of_the_cases(session: Session, steps: list[str]) -> None:
    cases = [BROKEN, OK, MISFIT, OK.with_changes({"BLOCK": 64}), replace(OK, triton="2.0")]
    assert [how(answer) for answer in session.check_all(cases)] == ["error", "ok", "InputError", "ok", "InputError"]
    compiled = [f"compiled {done} of 4 cases" for done in range(1, 5)]
    assert steps == ["compiling 4 cases", *compiled], "one never got to be compiled"


def test_an_interrupt_keeps_the_reports_of_what_was_compiled(own_cache: Path) -> None:
    def step(line: str) -> None:
        if line.startswith("compiled"):
            raise KeyboardInterrupt

    answers: list[str] = []
    with Session(progress=Progress(step=step)) as interrupted, pytest.raises(KeyboardInterrupt):
        for answer in interrupted.check_all([BROKEN, MISFIT, OK]):
            answers.append(how(answer))
            assert not (isinstance(answer, Report) and answer.tried), "no search after an interrupt"
    assert len(answers) == 3
    assert answers.count("Interrupted") == 2


@pytest.mark.parametrize("seconds", [0.001, pytest.param(6.0, marks=pytest.mark.slow)])
def test_a_time_budget_bounds_the_whole_call(own_cache: Path, seconds: float) -> None:
    """One is compiled in any case. What is not says so; what is left of the time is shared by the searches."""
    notes: list[str] = []
    options = Options(budget=Budget(seconds=seconds, end=time.monotonic() + seconds), jobs=1, cache=seconds < 1)
    began = time.monotonic()
    with Session(options, Progress(note=notes.append)) as session:
        answers = list(session.check_all([BROKEN, *(OK.with_changes({"BLOCK": 2**power}) for power in range(3, 10))]))
    assert time.monotonic() - began < 1.3 * seconds + 4
    assert how(answers[0]) == "error"
    if seconds < 1:
        assert [how(answer) for answer in answers[1:]] == ["EnvironmentFault"] * 7
        assert "--budget 0.001s was used up before it was compiled; give a larger one" in str(answers[1])
        assert notes[0] == "the time budget is used up: 7 cases are not compiled"


def test_one_case_gives_its_report_or_raises(session: Session) -> None:
    assert session.check(OK).outcome.status is Status.OK
    with pytest.raises(InputError, match="argument y_ptr of add has no type"):
        session.check(MISFIT)


def test_a_case_s_own_release_counts_unless_another_is_asked_for(
    session: Session, cache: Path, monkeypatch: pytest.MonkeyPatch, triton_320: Toolchain
) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    stored = replace(OK, triton="3.2.0")
    assert session.check(stored).environment["triton"] == "3.2.0"
    with Session(Options(suggest=False, python=sys.executable)) as own:
        report = own.check(stored)
    assert report.environment["triton"] == report.case.triton != "3.2.0"


def test_a_report_without_a_failure_has_nothing_to_explain(session: Session) -> None:
    report = session.check(OK)
    assert (report.diagnosis, report.matches, report.suggestions, dict(report.artifacts)) == (None, (), (), {})
    assert report.outcome.resources is not None


def test_artifacts_are_copied(session: Session, tmp_path: Path) -> None:
    kept = keep_artifacts(session.check(BROKEN), tmp_path / "a/b")
    assert {path.parent for path in kept.artifacts.values()} == {tmp_path / "a/b"}
    assert all(path.is_file() for path in kept.artifacts.values())


def test_a_folder_that_cannot_be_made(session: Session, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFault, match=r"-o .*file/below: cannot be written"):
        keep_artifacts(session.check(BROKEN), tmp_path / "file/below")


def test_an_entry_of_the_user_s_own_is_matched(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    (tmp_path / "ours.toml").write_text(
        'id = "ours"\ntitle = "t"\ncause = "c"\nrule = "r"\nevidence = "log"\n'
        '[match]\nkind = "frontend-error"\nmessage = "nowhere"\n'
    )
    with Session(Options(suggest=False, knowledge=(tmp_path,))) as own:
        matches = own.check(BROKEN).matches
    assert "ours" in {match.id for match in matches}


def test_neighbours_are_searched_and_counted(reproduced: object, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From what ``reproduced`` compiled: the same search in another process is remembered."""
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    seen: list[tuple[int, int]] = []
    options = Options(budget=Budget(compiles=MAIN_BUDGET))
    with Session(options, Progress(tried=lambda tried, found: seen.append((tried, found)))) as own:
        report = own.check(locate("wgmma-tf32-mn-major"))
    assert seen[-1][0] == report.searched == len(seen)
    assert all(suggestion.verified for suggestion in report.suggestions)


def test_plain_check_imports_only_what_it_uses() -> None:
    code = "import sys, triage.cli.check; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("triage.")}
    unused = ("minimize", "matrix", "suggest.plan", "performance", "publish.ci", "publish.github", "cli.full")
    assert [name for name in loaded if name.startswith(tuple(f"triage.{part}" for part in unused))] == []
    assert "triage.pipeline" in loaded


def test_a_module_that_cannot_be_imported(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says that and no more: no entry is about it, and no neighbour is compiled."""
    monkeypatch.setattr(session, "options", Options())
    path = tmp_path / "kernel.py"
    path.write_text(f"import os\nprint(os.environ['TRIAGE_TEST_MODE'])\n{(OK.folder / OK.file).read_text()}")
    case = replace(OK, folder=tmp_path, file=path.name)
    report = session.check(case)
    assert report.to_json()["outcome"]["imported"] is False
    assert report.diagnosis is not None
    assert report.diagnosis.headline == "Importing kernel.py raised KeyError: 'TRIAGE_TEST_MODE' (line 2)"
    assert report.diagnosis.source == SourceLocation("kernel.py", 2, None, "print(os.environ['TRIAGE_TEST_MODE'])")
    assert (report.matches, report.suggestions, report.searched) == ((), (), 0)
