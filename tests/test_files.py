"""Atomic file replacement."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from triage.files import replace_file


@pytest.mark.parametrize(
    ("content", "written"), [("größe\n", "größe\n".encode()), (b"\0\xff", b"\0\xff"), ("\ud800", b"?")]
)
def test_content_replaces_what_was_there(tmp_path: Path, content: str | bytes, written: bytes) -> None:
    path = tmp_path / "new" / "case.json"
    for _ in range(2):
        replace_file(path, content)
        assert path.read_bytes() == written
    assert list(path.parent.iterdir()) == [path]


def test_old_content_survives_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "case.json"
    path.write_text("old")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as sink:
            sink.write(data[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
