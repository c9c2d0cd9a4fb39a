"""Temporary folders: who holds one, what the next start removes, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from triage.filesystem import scratch
from triage.model.errors import EnvironmentFault
from triage.pipeline import Session


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, as yet without one of triage's."""
    folder = tmp_path / "base"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


_OWNER = """
import sys, time
from triage.filesystem import scratch
home = scratch.new("test")
(home.folder / "content").write_text("x")
{more}
print(home.folder, flush=True)
time.sleep(60)
"""


@contextmanager
def owner(more: str = "") -> Iterator[tuple[Path, Callable[[], None]]]:
    """The folder of another process, and what kills that."""
    process = subprocess.Popen([sys.executable, "-c", _OWNER.format(more=more)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None

    def kill() -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    try:
        yield Path(process.stdout.readline().strip()), kill
    finally:
        kill()
        process.stdout.close()


def start_again(base: Path) -> None:
    """What a new process does when it makes its first folder."""
    scratch._tidy.cache_clear()
    scratch.new("next").remove()


def test_a_folder_is_private_and_goes_with_its_parent(base: Path) -> None:
    with scratch.folder("one") as first, scratch.folder("two") as second:
        assert first.parent == second.parent
        assert [first.parent.parent, first.name[:4]] == [base, "one-"]
        assert (first.parent.stat().st_mode & 0o777, first.stat().st_mode & 0o777) == (0o700, 0o700)
        (first / "below").mkdir(0)
    assert list(base.iterdir()) == []


def test_the_next_start_removes_what_a_killed_process_left(base: Path) -> None:
    with owner() as (folder, kill):
        start_again(base)
        assert (folder / "content").exists(), "its owner lives"
        kill()
        start_again(base)
        assert list(base.iterdir()) == []


def test_results_outlive_their_process_for_a_month(base: Path) -> None:
    with owner("home.keep()") as (folder, kill):
        kill()
        start_again(base)
        assert (folder / "content").exists()
        long_ago = time.time() - scratch.RETENTION_S - 1
        os.utime(folder, (long_ago, long_ago))
        start_again(base)
        assert list(base.iterdir()) == []


def test_a_folder_for_results_without_any_goes_at_once(base: Path) -> None:
    with owner('home.keep(); (home.folder / "content").rename(home.folder / "tally")') as (_, kill):
        kill()
        start_again(base)
        assert list(base.iterdir()) == []


def test_links_are_not_followed(base: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "below").mkdir(parents=True)
    root = scratch._root(base)
    root.mkdir()
    (root / "link").symlink_to(outside)
    left = root / "left"
    left.mkdir()
    (left / "link").symlink_to(outside)
    start_again(base)
    assert (outside / "below").exists()
    assert not left.exists()


@pytest.mark.parametrize("how", ["a link", "a file", "open to all"])
def test_a_folder_that_others_made_is_left_alone(base: Path, tmp_path: Path, how: str) -> None:
    root, outside = scratch._root(base), tmp_path / "outside"
    (outside / "below").mkdir(parents=True)
    match how:
        case "a link":
            root.symlink_to(outside)
        case "a file":
            root.touch()
        case _:
            (root / "left").mkdir(parents=True)
            root.chmod(0o777)
    start_again(base)
    with scratch.folder("work") as folder:
        assert folder.parent.parent == base
        assert folder.parent != root
    assert list(base.iterdir()) == [root]
    assert (outside / "below").exists()
    assert how != "open to all" or (root / "left").exists()


def test_a_parent_that_is_gone_is_made_again(base: Path) -> None:
    first, second = scratch.new("first"), scratch.new("second")
    first.remove()
    second.remove()
    with scratch.folder("third") as folder:
        assert folder.exists()


def test_a_base_that_takes_no_files_is_one_line(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/self")
    with pytest.raises(EnvironmentFault, match="set TMPDIR"):
        scratch.new("work")


def test_a_session_that_needs_no_folder_removes_what_a_killed_one_left(base: Path) -> None:
    with owner() as (folder, kill):
        kill()
        scratch._tidy.cache_clear()
        with Session():
            assert not folder.exists()
    assert not scratch.root().exists()
