"""No test writes to the user's cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import new_cache

import triage
from triage.filesystem.cache import FOLDERS, cache_root


def test_the_cache_is_the_sessions_own_here_and_in_other_processes(
    own_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert cache_root() == own_store
    assert own_store.parent == tmp_path_factory.getbasetemp()
    code = "from triage.filesystem.cache import cache_root; print(cache_root())"
    environment = {**os.environ, "PYTHONPATH": str(Path(triage.__file__).parents[1])}
    assert subprocess.check_output([sys.executable, "-c", code], env=environment, text=True) == f"{own_store}\n"


def test_all_but_the_environments_is_the_sessions(own_store: Path, shared_folder: Path, tmp_path: Path) -> None:
    for cache in (own_store, new_cache(tmp_path / "cache")):
        outside = {path.name for path in cache.iterdir() if not path.resolve().is_relative_to(shared_folder.parent)}
        assert outside <= {"toolchains"} < FOLDERS
