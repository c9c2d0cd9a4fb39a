"""Which of the files that ``TRITON_REPRODUCER_PATH`` made is that of the crash.

From 3.6 on each stage writes a file of its own before it runs, with its whole pipeline; from 3.3 on a crash rewrites
the file with the one pass that failed, and without threads. Before that there is one file, overwritten by each stage.
"""

from __future__ import annotations

import re
from pathlib import Path

from triage.cases.artifacts import reading

_REWRITTEN = re.compile(r"^\s*disable_threading: true", re.MULTILINE)
_END = 1 << 16


def crashed(files: list[Path]) -> tuple[Path, str]:
    """The file of the crash, else the one that was written last, and a line on that. Raises InputError."""
    newest = sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in newest:
        if _REWRITTEN.search(reading.tail(path)[-_END:]):
            return path, f"{path}: the reproducer that a failing pass left"
    return newest[0], f"{newest[0]}: the reproducer that was written last"
