"""Finds the MLIR reproducer of the crash among the files of ``TRITON_REPRODUCER_PATH``.

From 3.6 on, each stage writes a file with its whole pipeline before it runs. From 3.3 on, a crash rewrites the file
with the pass that failed, and without threads. Before 3.6, there is one file, which each stage overwrites.
"""

from __future__ import annotations

import re
from pathlib import Path

from triage.cases.artifacts import reading

_REWRITTEN = re.compile(r"^\s*disable_threading: true", re.MULTILINE)
_END = 1 << 16


def crashed(files: list[Path]) -> tuple[Path, str]:
    """The file of the crash, or else the one that was written last, and a note on which it is. Raises InputError."""
    newest = sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in newest:
        if _REWRITTEN.search(reading.tail(path)[-_END:]):
            return path, f"{path}: the reproducer that a failing pass left"
    return newest[0], f"{newest[0]}: the reproducer that was written last"
