"""A dump of ``MLIR_ENABLE_DUMP``: the module before every pass. The case is the last pass on its module."""

from __future__ import annotations

from pathlib import Path

from triage.cases.artifacts import derived, ir_text
from triage.ir import passes
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target


def is_dump(text: str) -> bool:
    """Whether this text has a dump of MLIR."""
    return passes.HEADER in text


def case(path: Path, text: str, default: Target) -> tuple[Case, str]:
    """The last pass on its module, and a line on what that is. Raises InputError and EnvironmentFault."""
    last = passes.last_pass(text)
    if last is None or not last.module.strip():
        raise InputError(f"{path}: the dump ends before a module that can be read")
    files = {"kernel.mlir": passes.reproducer(last)}
    document = {"kernel": {"file": "kernel.mlir", "name": "kernel"}, "signature": {}, "target": str(default)}
    folder = derived.keep(files, document)
    return ir_text.read(folder / "kernel.mlir", default), f"{path}: a dump of passes; the last is {last.pass_name}"
