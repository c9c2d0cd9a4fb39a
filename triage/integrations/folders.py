"""Folders for the cases of failing compiles."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from triage.capture.captured import is_alive


def asked_folder(config: pytest.Config) -> Path | None:
    """The folder set by ``--triage-dir`` or the configuration."""
    asked: str | None = config.getoption("triage_dir")
    if asked:
        return config.invocation_params.dir / asked
    named = config.getini("triage_dir")
    return config.rootpath / named if named else None


def usual_folder(config: pytest.Config) -> Path:
    """The default folder, in pytest's cache, where CI can fetch it."""
    cache = getattr(config, "cache", None)
    return Path(cache.mkdir("triage")) if cache is not None else Path(tempfile.mkdtemp(prefix="triage-pytest-"))


def forget(folder: Path) -> None:
    """Remove captures of processes that have ended, left by earlier sessions."""
    for old in folder.iterdir():
        pid = old.name.partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(old, ignore_errors=True)


def case_folder(config: pytest.Config) -> Path:
    """Where ``compile_matrix`` keeps failing cases: the same folder, under other names."""
    folder = asked_folder(config) or usual_folder(config)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
