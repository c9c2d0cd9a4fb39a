"""What ``MLIR_ENABLE_DUMP`` printed: the module before every pass. The last one is what the last pass was given."""

from __future__ import annotations

from pathlib import Path

from triage.cases.artifacts import derived, ir_text
from triage.harness import observe
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target

_MARK = "// -----// IR Dump Before "
_TRAILER = """
{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "builtin.module({})"
    }}
  }}
#-}}
"""


def is_dump(text: str) -> bool:
    """Whether passes are announced in this text."""
    return _MARK in text


def case(path: Path, text: str, otherwise: Target) -> tuple[Case, str]:
    """The last pass on its module, and a line on what that is. Raises InputError and EnvironmentFault."""
    last = observe.last_pass(text)
    if last is None or not last.module.strip():
        raise InputError(f"{path}: the dump ends before a module that can be read")
    files = {"kernel.mlir": last.module + _TRAILER.format(last.pass_name)}
    document = {"kernel": {"file": "kernel.mlir", "name": "kernel"}, "signature": {}, "target": str(otherwise)}
    folder = derived.keep(files, document)
    return ir_text.read(folder / "kernel.mlir", otherwise), f"{path}: a dump of passes; the last is {last.pass_name}"
