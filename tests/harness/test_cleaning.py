"""What ``triage clean`` removes, and what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import kernel_cases
import pytest
from commands import Run, call_triage

from triage.filesystem import scratch
from triage.harness.limits import Limits
from triage.harness.reads import ModuleReads
from triage.harness.request import FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain
from triage.harness.toolchains.managed import MARKER
from triage.model.outcome import Outcome, Stage, Status

DAY_S = 86400.0
HASH = "0123456789abcdef" * 2


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with an outcome, its artifacts, a case, a toolchain, and what nobody knows."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    root = tmp_path / "cache"
    kernel = tmp_path / "kernel.py"
    kernel.write_text("def add(): ...\n")
    toolchain = Toolchain(Path("/env/bin/python"), "3.9.0", "3.11.7", False, "identity", Path("/env/triton"))
    request = Request(kernel_cases.case(kernel, "add", {}), toolchain, Limits(), FullCompile(keep=True))
    outcomes = Store(root / "outcomes")
    outcomes.put(
        request,
        Outcome(Status.ERROR, Stage.LLIR, log="x" * 1000, exit_code=1),
        tmp_path,
        ModuleReads(0.0, None, {}, {}),
    )
    outcomes.close()
    for folder in ("cases", "guarded"):
        (root / folder / HASH).mkdir(parents=True)
        (root / folder / HASH / "kernel.py").write_text("x" * 100)
    environment = root / "toolchains" / "3.2.0-py3.11"
    (environment / "bin").mkdir(parents=True)
    (environment / MARKER).touch()
    (root / "toolchains" / "3.2.0-py3.11.log").touch()
    return root


def cleaned(root: Path, *arguments: str) -> dict[str, int]:
    """How many of each part were removed."""
    done = call_triage(root, "clean", *arguments, "--json")
    assert done.code == 0, done.err
    return {part["part"]: part["removed"] for part in done.document["parts"]}


def left(root: Path) -> set[str]:
    """The folders of the cache that hold something."""
    patterns = ("cases/*/*", "guarded/*/*", "toolchains/*/*", "outcomes/artifacts/*")
    return {path.parent.name for pattern in patterns for path in root.glob(pattern)}


def test_everything_but_toolchains(root: Path) -> None:
    assert cleaned(root) == {"outcomes": 1, "cases": 2, "scratch": 0}
    assert left(root) == {"3.2.0-py3.11"}
    assert cleaned(root) == {"outcomes": 0, "cases": 0, "scratch": 0}


def test_toolchains_when_they_are_asked_for(root: Path) -> None:
    assert cleaned(root, "toolchains") == {"toolchains": 1}
    assert left(root) == {HASH, "artifacts"}
    assert [path.name for path in (root / "toolchains").iterdir()] == ["3.2.0-py3.11.lock"]


def test_a_dry_run_removes_nothing(root: Path) -> None:
    before = left(root)
    parts = ("outcomes", "cases", "scratch", "toolchains")
    assert cleaned(root, *parts, "--dry-run") == {"outcomes": 1, "cases": 2, "scratch": 0, "toolchains": 1}
    assert left(root) == before
    assert cleaned(root, *parts) == {"outcomes": 1, "cases": 2, "scratch": 0, "toolchains": 1}


def test_only_what_is_older(root: Path) -> None:
    ten_days_ago = time.time() - 10 * DAY_S
    os.utime(root / "cases" / HASH, (ten_days_ago, ten_days_ago))
    os.utime(root / "toolchains" / "3.2.0-py3.11" / MARKER, (ten_days_ago, ten_days_ago))
    assert cleaned(root, "cases", "toolchains", "--older-than", "11d") == {"cases": 0, "toolchains": 0}
    assert cleaned(root, "outcomes", "cases", "toolchains", "--older-than", "9.5d") == {
        "outcomes": 0,
        "cases": 1,
        "toolchains": 1,
    }


_TRIAGE_AT_WORK = "from triage.filesystem.cache import cache_folder; cache_folder('cases')"
_BUILDER = "import fcntl; lock = open({folder!r} + '.lock', 'w'); fcntl.flock(lock, fcntl.LOCK_EX)"
_SCRATCH = "from triage.filesystem import scratch; scratch.new('test')"


@contextmanager
def process(code: str) -> Iterator[None]:
    """A process that has run ``code`` and stays."""
    command = [sys.executable, "-c", code + "; print(flush=True); import time; time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield
        started.kill()


def test_what_a_running_triage_uses_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(root))
    long_ago = time.time() - 2 * DAY_S
    os.utime(root / "guarded" / HASH, (long_ago, long_ago))
    with process(f"{_TRIAGE_AT_WORK}; {_SCRATCH}"):
        done = call_triage(root, "clean", "--json")
        assert [(part["removed"], part["in_use"]) for part in done.document["parts"]] == [(0, 1), (1, 1), (0, 1)]
    assert cleaned(root) == {"outcomes": 1, "cases": 1, "scratch": 1}


@pytest.mark.parametrize("how", ["it is being made", "a program of it runs"])
def test_a_toolchain_in_use_stays(root: Path, how: str) -> None:
    folder = root / "toolchains" / "3.2.0-py3.11"
    code = _BUILDER.format(folder=str(folder)) if how == "it is being made" else repr(f"{folder}/bin/python")
    with process(code):
        assert cleaned(root, "toolchains") == {"toolchains": 0}
    assert cleaned(root, "toolchains") == {"toolchains": 1}


def test_links_are_left_alone(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / HASH).mkdir(parents=True)
    (outside / HASH / "file").touch()
    (root / "cases" / ("f" * 32)).symlink_to(outside / HASH)
    (root / "toolchains" / "3.3.0-py3.11").symlink_to(outside / HASH)
    (root / "guarded").rename(tmp_path / "elsewhere")
    (root / "guarded").symlink_to(outside)
    assert cleaned(root, "cases", "toolchains") == {"cases": 1, "toolchains": 1}
    assert (outside / HASH / "file").exists()
    assert (root / "cases" / ("f" * 32)).is_symlink()


def test_nothing_of_the_user_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    home = tmp_path / "home"
    names = ("cases/mine", "outcomes/artifacts/mine", "toolchains/mine", "guarded/mine", "mine", f"outcomes/{HASH}")
    for name in names:
        (home / name).mkdir(parents=True)
    assert sum(cleaned(home, "outcomes", "cases", "scratch", "toolchains").values()) == 0
    assert all((home / name).is_dir() for name in names)
    assert home.stat().st_mode & 0o777 != 0o700


def test_scratch_of_killed_runs(root: Path, tmp_path: Path) -> None:
    with process(_SCRATCH):
        pass
    folder = scratch.root()
    assert len(list(folder.iterdir())) == 1
    assert cleaned(root, "scratch", "--older-than", "1h") == {"scratch": 0}
    assert cleaned(root, "scratch") == {"scratch": 1}


def test_a_cache_of_somebody_else_is_left_alone(root: Path) -> None:
    root.chmod(0o777)
    done = call_triage(root, "clean")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert left(root) == {HASH, "artifacts", "3.2.0-py3.11"}


@pytest.mark.parametrize("arguments", [["--older-than", "long"], ["--older-than", "-1d"], ["everything"]])
def test_bad_arguments_are_one_line(root: Path, arguments: list[str]) -> None:
    done = call_triage(root, "clean", *arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert left(root) == {HASH, "artifacts", "3.2.0-py3.11"}


def test_text(root: Path) -> None:
    done: Run = call_triage(root, "clean", "--dry-run")
    assert done.out.splitlines()[0] == "would be removed:"
    assert [line.split()[:2] for line in done.out.splitlines()[1:3]] == [["outcomes", "1"], ["cases", "2"]]
