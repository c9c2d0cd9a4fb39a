"""What the engine takes, requests with one action each, and what it gives back, attempts.

The fields of an action on a kernel's IR are its message to the worker."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from triage.harness.limits import Limits
from triage.harness.toolchains import Toolchain
from triage.harness.worker import ir_record
from triage.logs.outcomes import Printed, diagnose_outcome
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Stage, Undecided

JOURNAL = ir_record.JOURNAL


@dataclass(frozen=True, slots=True)
class FullCompile:
    """Compile the kernel through all stages. The only action whose outcome the store remembers.

    ``observe``: if it fails inside a pass pipeline, run it again, observed, to name the pass. ``keep``: keep the
    artifacts of a failure (log, IR, PTX). ``use_cache``: a remembered outcome may answer. ``entry``: a folder that does
    not exist yet, to which the finished entry of Triton's cache is moved; the kernel is then compiled under the names
    and at the line numbers that its capture recorded (``origin``'s ``functions``).
    """

    observe: bool = False
    keep: bool = False
    use_cache: bool = True
    entry: Path | None = None


class Milestone(str, Enum):
    """A point inside the stage llir. ``ALLOCATED``: shared and tensor memory are allocated, and nothing is converted to
    LLVM yet; ``CONVERTED``: MLIR's passes are done, and LLVM has not begun."""

    ALLOCATED = "allocated"
    CONVERTED = "converted"


@dataclass(frozen=True, slots=True)
class PartialCompile:
    """Compile the kernel and stop after a stage, or at a point inside one; what was compiled then counts as the whole,
    and of its resources only those that the metadata state are known. ``observe``: as for FullCompile. ``keep``: keep
    the artifacts, of a success as well."""

    until: Stage | Milestone
    observe: bool = False
    keep: bool = False


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


@dataclass(frozen=True, slots=True)
class DescribeKernel:
    """Write to ``to`` what the release and the kernel's decorators say of the kernel (:mod:`triage.harness.description`
    reads it). Of the case only the file, the name and the target count. ``arguments``: those of a launch, for the
    heuristics, by parameter: a JSON value as in a case's constexprs, or ``{"pointer": "fp16"}`` for a tensor."""

    to: Path
    arguments: Mapping[str, Any] = field(default_factory=dict)


IrTask = RecordPasses | RunPasses | RunStage | DescribeModule
Action = FullCompile | PartialCompile | DescribeKernel | IrTask


@dataclass(frozen=True, slots=True)
class Request:
    """One action on one case with one toolchain. ``tag`` is the caller's own and comes back with the attempt."""

    case: Case
    toolchain: Toolchain
    limits: Limits = field(default_factory=Limits)
    action: Action = field(default_factory=FullCompile)
    tag: Any = None


@dataclass(frozen=True)
class Attempt:
    """The answer to one request. ``cached``: it was remembered, nothing ran. ``printed``: what was read in a long log
    when the run was judged."""

    request: Request
    result: Outcome | Undecided
    cached: bool = False
    printed: Printed | None = None

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """What the failure is; None when the case compiles or when triage could not tell."""
        if isinstance(self.result, Undecided):
            return None
        return diagnose_outcome(self.result, self.request.case.path, self.printed)
