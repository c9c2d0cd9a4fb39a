"""What a kernel's module puts in place of the compiler's own files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from triage.harness import artifacts, observe

pytestmark = pytest.mark.timeout(30)


def test_links_and_pipes_are_no_artifacts(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "run"
    secret.write_text("the user's key")
    entry = folder / "cache" / "key"
    entry.mkdir(parents=True)
    (entry / "k.ttgir").symlink_to(secret)
    (entry / "k.ttir").write_text("module {}")
    (folder / "reproducer.mlir").symlink_to(secret)
    os.mkfifo(folder / "python-stack.txt")
    files = artifacts.collect(folder, "the log", tmp_path / "kept")
    assert {name: path.read_text() for name, path in files.items()} == {
        "log": "the log",
        "ttir": "module {}",
        "ir": "module {}",
    }


def test_a_pipe_is_no_reproducer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "reproducer.mlir")
    (tmp_path / "reproducer.mlir.link").symlink_to("nothing")
    assert observe.read(observe.How.REPRODUCER, tmp_path, "") is None
