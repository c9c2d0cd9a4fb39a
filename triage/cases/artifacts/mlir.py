"""What MLIR itself leaves: the dump of ``MLIR_ENABLE_DUMP`` and the files of ``TRITON_REPRODUCER_PATH``.

A dump has the module before every pass; the case is the last pass on its module. Of reproducers, from 3.6 on each stage
writes a file with its whole pipeline before it runs. From 3.3 on, a crash rewrites the file with the pass that failed,
and without threads. Before 3.6, there is one file, which each stage overwrites.
"""

import re
from pathlib import Path

from triage.cases.artifacts import derived, ir_text, reading
from triage.ir import passes
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target

_REWRITTEN = re.compile(r"^\s*disable_threading: true", re.MULTILINE)
_END = 1 << 16


def is_dump(text: str) -> bool:
    """Whether this text has a dump of MLIR."""
    return passes.HEADER in text


def last_pass(path: Path, text: str, default: Target) -> tuple[Case, str]:
    """The last pass on its module, and a line on what that is. Raises InputError and EnvironmentFault."""
    last = passes.last_pass(text)
    if last is None or not last.module.strip():
        raise InputError(f"{path}: the dump ends before a module that can be read")
    files = {"kernel.mlir": passes.reproducer(last)}
    document = {"kernel": {"file": "kernel.mlir", "name": "kernel"}, "signature": {}, "target": str(default)}
    folder = derived.keep(files, document)
    case = ir_text.read(folder / "kernel.mlir", folder, default)
    return case, f"{path}: a dump of passes; the last is {last.pass_name}"


def crashed(files: list[Path], top: Path) -> tuple[Path, str]:
    """Of files in ``top`` that of the crash, or else the one that was written last, and a note on which it is. Raises
    InputError."""
    newest = sorted(files, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in newest:
        if _REWRITTEN.search(reading.tail(path, top)[-_END:]):
            return path, f"{path}: the reproducer that a failing pass left"
    return newest[0], f"{newest[0]}: the reproducer that was written last"
