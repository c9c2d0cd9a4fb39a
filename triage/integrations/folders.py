"""Folders for the cases of failing compiles."""

import functools
import shutil
from pathlib import Path

import pytest

from triage.capture.captured import is_alive
from triage.capture.program import labels
from triage.filesystem import scratch


def configured_folder(config: pytest.Config) -> Path | None:
    """The folder set by ``--triage-dir`` or the configuration."""
    option: str | None = config.getoption("triage_dir")
    if option:
        return config.invocation_params.dir / option
    setting = config.getini("triage_dir")
    return config.rootpath / setting if setting else None


def default_folder(config: pytest.Config) -> Path:
    """The default folder, in pytest's cache, where CI can fetch it."""
    cache = getattr(config, "cache", None)
    return Path(cache.mkdir("triage")) if cache is not None else _results()


@functools.cache
def _results() -> Path:
    """The folder of a session without pytest's cache; it stays for the user."""
    home = scratch.new("pytest")
    home.keep()
    return home.folder


def forget(folder: Path) -> None:
    """Remove captures of processes that have ended, left by earlier sessions."""
    for old in folder.iterdir():
        numbers = labels.numbers(old.name.lstrip("."))
        if numbers is not None and not is_alive(numbers[0]):
            shutil.rmtree(old, ignore_errors=True)


def case_folder(config: pytest.Config) -> Path:
    """Where ``compile_matrix`` keeps failing cases: the same folder, under other names."""
    folder = configured_folder(config) or default_folder(config)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
