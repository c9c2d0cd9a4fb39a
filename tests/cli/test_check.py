"""``triage check``: where its output goes, its exit codes, and what it keeps."""

from __future__ import annotations

import errno
import json
import sys
import tempfile
import venv
from pathlib import Path

import pytest
from commands import DATA, KERNELS, Triage
from conftest import Traces
from golden_files import Golden

from triage import knowledge
from triage.cli.main import main
from triage.filesystem import scratch
from triage.filesystem.files import usable_folder
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.errors import EnvironmentFault
from triage.model.match import Match

ADD = (f"{KERNELS}::add", "--arg", "x_ptr=*fp32", "--arg", "y_ptr=*fp32", "--arg", "n=i32", "--const", "BLOCK=128")


def test_a_source_with_every_kind_of_option_compiles(check: Triage) -> None:
    done = check(*ADD, "--divisible", "n=16", "--divisible", "y_ptr=1", "--num-warps", "2", "--num-stages", "2",
                 "--option", "maxnreg=64", "--target", "cuda:80", "--json")  # fmt: skip
    case = done.document["case"]
    assert (done.code, done.err) == (0, "")
    assert case["divisible"] == {"x_ptr": 16, "y_ptr": 1, "n": 16}
    assert case["options"] == {"num_warps": 2, "num_stages": 2, "maxnreg": 64}
    assert case["target"] == "cuda:80"
    assert done.document["outcome"]["resources"]["threads"] == 64


def test_a_stored_case_is_changed_by_options(check: Triage) -> None:
    """Two tiles of 32 by 1024 halves are over the limit of shared memory; an eighth of it compiles."""
    done = check(DATA / "too-much-shared-memory.json", "--const", "DEPTH=128", "--json")
    assert (done.code, done.document["outcome"]["status"]) == (0, "ok")
    assert done.document["case"]["constexprs"] == {"BLOCK": 32, "DEPTH": 128}


def test_a_compile_that_works(check: Triage) -> None:
    done = check(*ADD)
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("compiles in ")
    assert lines[1].startswith("add for cuda:90, Triton ")
    assert lines[2].startswith("  tensor cores: none, ")
    assert len(lines) == 3


def test_a_failure_without_the_search_for_neighbours(check: Triage) -> None:
    done = check(DATA / "undefined-name.json", "--no-suggest", "--json")
    assert done.code == 1
    assert (done.document["suggestions"], done.document["neighbours_compiled"]) == ([], 0)


def test_artifacts_and_the_report_are_kept_where_they_shall_be(check: Triage, tmp_path: Path) -> None:
    done = check("wgmma-tf32-mn-major", "--no-suggest", "-o", tmp_path / "kept", "--json")
    kept = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {"report.json", "log.txt", "pass-input.mlir", "kernel.ttgir"} <= kept
    assert json.loads((tmp_path / "kept" / "report.json").read_text()) == done.document
    assert {Path(path).parent for path in done.document["artifacts"].values()} == {tmp_path / "kept"}


@pytest.mark.slow
def test_artifacts_need_no_cache(check: Triage, traces: Traces, tmp_path: Path) -> None:
    """They are moved to the folder of ``-o``; without one they stay for a while."""
    failing = (DATA / "undefined-name.json", "--no-suggest", "--no-cache", "--json")
    kept, shown = (check(*failing, *options).document["artifacts"] for options in (("-o", tmp_path / "kept"), ()))
    assert kept == {"log": str(tmp_path / "kept" / "log.txt")}
    files = [str(path) for path in traces.temporary.rglob("*") if path.is_file() and path.name != scratch.RETAINED]
    assert files == list(shown.values())
    (log,) = map(Path, files)
    assert log.read_text() == Path(kept["log"]).read_text()


def test_artifacts_of_several_cases_are_kept_apart(check: Triage, tmp_path: Path) -> None:
    check(DATA / "undefined-name.json", DATA / "ok.json", "--no-suggest", "-o", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["001-undefined-BLOCK=128", "002-add-BLOCK=128"]


OUTPUTS = {
    "check": ("-o", "/dev/null/x"),
    "run": ("-o", "file"),
    "minimize": ("-o", "file/below"),
    "matrix": ("-o", "file"),
    "report": ("-o", "folder"),
    "kb new": ("-o", "nowhere/entry.toml"),
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_where_results_cannot_go_is_told_before_the_work(
    cli: Triage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden, command: str
) -> None:
    """The program that would run does not exist, and the compile of the case would print what it does."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    monkeypatch.chdir(tmp_path)
    work = ("--", "nowhere/program") if command == "run" else (DATA / "undefined-name.json",)
    done = cli(*command.split(), *OUTPUTS[command], *work)
    golden(done.err)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_disk_is_not_the_command_lines_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(EnvironmentFault, match=r"-o .*: cannot be written: No space left on device"):
        usable_folder("-o", tmp_path)


def test_each_case_stands_alone(check: Triage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """A path that does not exist, a case that cannot be read, null options, and a report that triage cannot make."""
    (tmp_path / "kernels.py").write_text(KERNELS.read_text())
    failing = json.loads((DATA / "undefined-name.json").read_text())
    (tmp_path / "null.json").write_text(json.dumps({**failing, "options": dict.fromkeys(["num_warps", "num_stages"])}))
    (tmp_path / "unknown.json").write_text(json.dumps({**failing, "option": {}}))
    monkeypatch.chdir(tmp_path)

    def match(diagnosis: Diagnosis, entries: object, case: Case, triton: str) -> list[Match]:
        if case.folder == DATA:
            raise ValueError("two\nlines")
        return []

    monkeypatch.setattr(knowledge, "match", match)
    names = ("nowhere.json", "null.json", "unknown.json", str(DATA / "undefined-name.json"), str(DATA / "ok.json"))
    done = check(*names, "--json", "-o", "kept", "--budget", "1")
    missing, null, unknown, broken, fine = done.documents
    assert (missing["case"], missing["exit_code"]) == ("nowhere.json", 2)
    assert (unknown["case"], unknown["exit_code"]) == ("unknown.json", 2)
    assert null["case"]["options"] == {}
    assert (null["outcome"]["status"], fine["outcome"]["status"]) == ("error", "ok")
    assert [suggestion["verified"] for suggestion in null["suggestions"]] == [False], (
        "a name is missing: the mend in words"
    )
    assert (broken["case"], broken["exit_code"]) == (names[3], 3)
    assert "internal error: ValueError" in broken["could_not_tell"]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        "002-undefined-BLOCK=128",
        "005-add-BLOCK=128",
    ]
    assert done.code == 3
    golden(done.err.replace(str(DATA), "DATA"))


def test_a_result_that_cannot_be_kept_is_printed(check: Triage, tmp_path: Path) -> None:
    (tmp_path / "001-undefined-BLOCK=128").touch()
    done = check(DATA / "undefined-name.json", DATA / "ok.json", "--no-suggest", "--json", "-o", tmp_path)
    assert [document["outcome"]["status"] for document in done.documents] == ["error", "ok"]
    assert done.code == 3
    assert done.err.count("\n") == 1
    assert (tmp_path / "002-add-BLOCK=128" / "report.json").is_file()


def test_without_a_triton_triage_cannot_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    venv.create(tmp_path / "bare", symlinks=True, with_pip=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare/bin/python"))
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SystemExit) as ended:
        main(["check", str(DATA / "ok.json")])
    assert ended.value.code == 3
    assert "bare/bin/python has no Triton; " in capsys.readouterr().err


def test_what_was_compiled_is_remembered_unless_it_shall_not_be(check: Triage) -> None:
    """Time and memory of a compile are never twice the same."""
    first, again, fresh = (check(DATA / "ok.json", "--json", *more).document for more in ((), (), ("--no-cache",)))
    assert again == first
    assert fresh["outcome"] != first["outcome"]


def test_a_case_in_the_working_folder_leaves_nothing_there(
    check: Triage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(KERNELS.read_text())
    assert check("kernels.py::add", *ADD[1:]).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["kernels.py"]
