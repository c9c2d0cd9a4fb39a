"""The folder of a run, where it already holds something."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from triage.capture.captured import RunFolder
from triage.capture.compile_only import CompileOnly
from triage.capture.program import folder

pytestmark = pytest.mark.timeout(30)


def test_a_program_writes_through_no_link_of_the_folder(tmp_path: Path) -> None:
    folder, own = tmp_path / "out", tmp_path / "own"
    folder.mkdir()
    own.mkdir()
    (own / "file").touch()
    for name in ("tally", "note-1.txt", "left"):
        (folder / name).symlink_to(own / "file")
    for name in ("helion", ".inductor"):
        (folder / name).symlink_to(own)
    CompileOnly.parse("cuda:90", folder)
    RunFolder(folder)
    assert list(folder.iterdir()) == []
    assert list(own.iterdir()) == [own / "file"]


def test_a_pipe_in_place_of_a_record_is_not_waited_for(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    folder = tmp_path / f"add-{os.getpid()}-1"
    folder.mkdir()
    for name in ("ended.json", "case.json", "origin.json"):
        os.mkfifo(folder / name)
    os.mkfifo(tmp_path / "tally")
    (captured,) = run.read().compiles
    assert captured.case is None
    assert "not a regular file" in captured.problem


def test_what_an_ended_process_was_writing_or_removing_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of it may end the process at any time."""
    run, ended = RunFolder(tmp_path), 1 << 30
    written = tmp_path / f".add-{ended}-1"
    written.mkdir()
    removed = tmp_path / f"add-{ended}-2"
    removed.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda path, ignore_errors: None)
        folder.end(str(removed), 0.0, None, "compile")
    assert run.compiling() == {}
    assert run.read().compiles == ()
    run.tidy()
    assert list(tmp_path.iterdir()) == []
