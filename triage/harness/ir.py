"""What a worker can be asked to do with a kernel's IR instead of compiling the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.harness.worker.ir_record import JOURNAL
from triage.model.outcome import Stage


@dataclass(frozen=True, slots=True)
class Record:
    """Compile, and keep in ``folder`` what every pass was given, and a journal, ``JOURNAL``: one JSON object a pass or
    stage, written before it was run. ``step``: every pass in a manager of its own."""

    folder: Path
    step: bool = True

    def to_message(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {"kind": "record", "folder": str(self.folder), "step": self.step}


@dataclass(frozen=True, slots=True)
class Passes:
    """Run some passes, in one manager, on the module in ``file``. ``steps``: as a journal holds them. ``spelling``: a
    file to which the pipeline goes, as ``mlir-opt`` spells it (in MLIR's reproducer up to 3.2)."""

    file: Path
    steps: tuple[Mapping[str, Any], ...]
    stage: Stage
    spelling: Path | None = None

    def to_message(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {
            "kind": "passes",
            "file": str(self.file),
            "steps": [dict(step) for step in self.steps],
            "stage": self.stage.value,
            "spelling": str(self.spelling) if self.spelling else None,
        }


@dataclass(frozen=True, slots=True)
class Rest:
    """Run a stage on the text in ``file``; where that is MLIR (``.mlir``), without any passes: what is left is LLVM's
    part."""

    file: Path
    stage: Stage

    def to_message(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {"kind": "stage", "file": str(self.file), "stage": self.stage.value}


@dataclass(frozen=True, slots=True)
class Describe:
    """Write to ``to``, as JSON, the module in ``file`` as the release prints it (``text``), and each operation's name
    and types of results, in the order in which they end (``operations``)."""

    file: Path
    to: Path

    def to_message(self) -> dict[str, Any]:
        """As the worker reads it."""
        return {"kind": "describe", "file": str(self.file), "to": str(self.to)}


Task = Record | Passes | Rest | Describe

__all__ = ["JOURNAL", "Describe", "Passes", "Record", "Rest", "Task"]
