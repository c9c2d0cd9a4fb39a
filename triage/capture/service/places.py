"""Copies captured cases to folders named by their content, so that their outcomes are remembered."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from triage.files import replace_file
from triage.harness.toolchains import cache_root
from triage.model.case import Case

_MOST = 2000
_KEPT_S = 30 * 86400.0


def place(case: Case) -> Case:
    """The same case, with its source in triage's cache. Raises OSError."""
    text = case.path.read_bytes()
    said = [case.identity(), case.name, case.origin.get("functions")]
    digest = hashlib.sha256(text + json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:32]
    folder = cache_root() / "guarded" / digest
    path = folder / case.file
    if not path.exists():
        replace_file(path, text)
        _prune(folder.parent)
    return replace(case, folder=folder)


def _prune(root: Path) -> None:
    """Where there are too many, let those go that are older than a month."""
    folders = list(root.iterdir())
    if len(folders) < _MOST:
        return
    limit = time.time() - _KEPT_S
    for folder in folders:
        with suppress(OSError):
            if folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
