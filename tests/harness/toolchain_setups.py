"""What the tests of toolchains share: programs in the place of interpreters and installers."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.harness.toolchains.installers import find_installer

VERSION = "3.2.0"
UV = find_installer().uv
needs_uv = pytest.mark.skipif(not UV, reason="uv makes an environment in a second, pip in a minute; see the slow test")


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def fake_uv(folder: Path, text: str) -> Path:
    """A program `uv` that does ``text`` where uv would install, and makes environments as uv does."""
    return script(folder / "uv", f'#!/bin/sh\nif test "$1" = pip; then\n{text}\nfi\nexec {UV[0]} "$@"\n').parent


def assert_one_line(told: Exception, *parts: str) -> None:
    assert "\n" not in str(told)
    for part in parts:
        assert part in str(told)
