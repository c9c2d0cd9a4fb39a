"""What a worker can do with a kernel's IR instead of compiling the kernel. The fields are the message to the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from triage.harness.worker import ir_record
from triage.model.outcome import Stage

JOURNAL = ir_record.JOURNAL


@dataclass(frozen=True, slots=True)
class RecordPasses:
    """Compile the kernel, and write the input of every pass to ``folder``, with a journal, ``JOURNAL``: one JSON object
    per pass or stage, written before it runs. ``step``: run every pass in a pass manager of its own."""

    kind: ClassVar[str] = "record"
    folder: Path
    step: bool = True


@dataclass(frozen=True, slots=True)
class RunPasses:
    """Run some passes, in one pass manager, on the module in ``file``. ``steps``: as in the journal. ``spelling``: a
    file that receives the pipeline in ``mlir-opt``'s syntax (up to 3.2 as MLIR's reproducer)."""

    kind: ClassVar[str] = "passes"
    file: Path
    steps: tuple[Mapping[str, Any], ...]
    stage: Stage
    spelling: Path | None = None


@dataclass(frozen=True, slots=True)
class RunStage:
    """Run a stage on the text in ``file``. Of MLIR (``.mlir``) no pass is run, only LLVM's part of the stage."""

    kind: ClassVar[str] = "stage"
    file: Path
    stage: Stage


@dataclass(frozen=True, slots=True)
class DescribeModule:
    """Write to ``to``, as JSON, the module in ``file`` as the release prints it (``text``), and each operation's name
    and result types, in the order in which the operations end (``operations``)."""

    kind: ClassVar[str] = "describe"
    file: Path
    to: Path


IrTask = RecordPasses | RunPasses | RunStage | DescribeModule
