"""What came back from one isolated compile: facts only, nothing interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from triage.model.document import Amount, Count, Doc, Documented, Internal, encode_fields
from triage.model.gpus import TensorCore


class Status(str, Enum):
    """How a compile ended (contract: ``outcome.status``)."""

    OK = "ok"
    SUSPECT = "suspect"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"


class Stage(str, Enum):
    """Where in the pipeline (contract: ``outcome.stage``). ``source`` is the front-end, up to the first IR; of CuTe DSL
    the kernel's module and arguments, before the host function is traced."""

    SOURCE = "source"
    TRACE = "trace"
    VERIFY = "verify"
    PASSES = "passes"
    TTIR = "ttir"
    TTGIR = "ttgir"
    LLIR = "llir"
    PTX = "ptx"
    CUBIN = "cubin"
    AMDGCN = "amdgcn"
    HSACO = "hsaco"
    LOAD = "load"
    LAUNCH = "launch"


@dataclass(frozen=True, slots=True)
class Resources(Documented):
    """What a compiled kernel uses. None where the toolchain does not report it. ``warp_specialized``: the compiler
    split the warps into partitions. ``register_copies``: tiles that a loop writes from registers to shared memory, as
    it does with an operand that is stored in the wrong order."""

    shared_bytes: Annotated[Count, Doc("Bytes a block.")]
    registers: Annotated[Count | None, Doc("A thread; null where the toolchain does not report it.")]
    spill_bytes: Annotated[Count | None, Doc("Bytes a thread.")]
    tensor_core: TensorCore
    tensor_memory_columns: Annotated[Count | None, Doc(optional=True)] = None
    threads: Annotated[Count | None, Doc("A block.", optional=True)] = None
    warp_specialized: Annotated[bool, Doc(optional=True)] = False
    register_copies: Annotated[Count, Doc(optional=True)] = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """One Python frame of an exception, outermost first in its tuple."""

    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True, slots=True)
class Operand:
    """A local variable of a function of Triton's language: its type without the shape, in Triton's spelling; ``shape``
    is empty for a scalar. Of an argument that is a shape, ``type`` is empty."""

    name: str
    type: str
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        shape = f"[{', '.join(map(str, self.shape))}]" if self.shape else ""
        return " ".join(filter(None, (self.name, self.type, shape)))


@dataclass(frozen=True, slots=True)
class PythonError:
    """One exception of a chain; a chain's first element is what was raised, its last the innermost cause.

    ``kernel_line`` is the line *inside the kernel source* that Triton's front-end was visiting, where known.
    ``operation``: the function of Triton's language that raised it, such as dot, with its ``operands``.
    """

    type: str
    module: str
    message: str
    frames: tuple[Frame, ...] = ()
    kernel_line: Frame | None = None
    kernel_column: int | None = None
    operation: str = ""
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class StageTime:
    """A stage that finished, and how long it took."""

    stage: Stage
    seconds: float


@dataclass(frozen=True, slots=True)
class BeyondShared:
    """An access to shared memory beyond what a block has: ``bytes`` at ``address``, by ``thread``, of ``size`` bytes.
    ``stage``: ptx where the PTX has it, else cubin; ``instruction``: the machine's, as nvdisasm spells it;
    ``accesses``: how many instructions do so; ``file`` and ``line``: of the kernel's source, where they are stated."""

    stage: Stage
    instruction: str
    address: int
    bytes: int
    size: int
    thread: int
    accesses: int
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What is wrong with a kernel by its traced module, where no compiler says so: a sentence, and the place in the
    source where it is stated."""

    text: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome(Documented):
    """How one compile ended.

    ``log`` is standard output and error together, bounded, with the compiler's own text only; ``log_stages``
    says at which character offset of ``log`` each stage began. ``pipeline`` is true when the process was
    inside an MLIR pass pipeline when it ended. ``pass_name`` comes from a second, observed run.
    ``suspicion``: what is wrong with the kernel where the compiler does not say so.
    ``limit_s``/``limit_bytes`` are what the attempt ran under. ``imported`` is false when the kernel's module
    itself failed, before there was a kernel.
    """

    schema_rules: ClassVar[Mapping[str, Any]] = {
        "allOf": [
            {"if": {"properties": {"status": {"const": "ok"}}}, "then": {"properties": {"stage": {"type": "null"}}}},
            {
                "if": {"properties": {"status": {"const": "crash"}}},
                "then": {
                    "anyOf": [
                        {"properties": {"signal": {"type": "string"}}},
                        {"properties": {"exit_code": {"type": "integer"}}},
                    ]
                },
            },
        ]
    }

    status: Status
    stage: Annotated[Stage | None, Doc("Where it ended; null when ok.")] = None
    stages: Internal[tuple[StageTime, ...]] = ()
    exit_code: int | None = None
    signal: Annotated[str | None, Doc("Such as SIGABRT.", schema={"pattern": "^SIG[A-Z0-9+]+$"})] = None
    duration_s: Annotated[Amount, Doc(digits=3)] = 0.0
    max_rss_bytes: Count = 0
    resources: Resources | None = None
    errors: Internal[tuple[PythonError, ...]] = ()
    log: Internal[str] = ""
    log_stages: Internal[tuple[tuple[Stage, int], ...]] = ()
    log_dropped_bytes: Internal[int] = 0
    pipeline: Internal[bool] = False
    pass_name: Internal[str | None] = None
    over_limit: Internal[str | None] = None
    beyond_shared: Internal[BeyondShared | None] = None
    suspicion: Internal[Suspicion | None] = None
    cache_key: Internal[str | None] = None
    limit_s: Internal[float | None] = None
    limit_bytes: Internal[int | None] = None
    killed_from_outside: Internal[bool] = False
    imported: Annotated[bool, Doc("False: the kernel's module failed as it was imported.", optional=True)] = True
    notes: Annotated[tuple[str, ...], Doc(optional=True)] = ()
    drawbacks: Annotated[
        tuple[str, ...], Doc('Of what compiles, "but …": spills 512 B a thread; notes say more.', optional=True)
    ] = ()
    artifacts: Internal[Mapping[str, Path]] = field(default_factory=lambda: MappingProxyType({}))
    environment: Internal[Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def failed(self) -> bool:
        """True for everything but a clean compile."""
        return self.status is not Status.OK

    @property
    def stages_completed(self) -> Annotated[tuple[Stage, ...], Doc()]:
        """The stages that finished, in their order."""
        return tuple(done.stage for done in self.stages)

    @property
    def stage_seconds(self) -> Annotated[Mapping[str, Amount], Doc(optional=True)]:
        """How long each of them took."""
        return {done.stage.value: round(done.seconds, 4) for done in self.stages}

    def to_json(self) -> dict[str, Any]:
        """The ``outcome`` object of the report document."""
        document = encode_fields(self) | ({} if self.failed else {"stage": None})
        if self.imported:
            del document["imported"]
        if not self.drawbacks:
            del document["drawbacks"]
        return document

    def restored(self, derived: Mapping[str, Any]) -> Outcome:
        """With the stages, which the document has as their names and their times."""
        seconds = derived.get("stage_seconds", {})
        completed = derived.get("stages_completed", ())
        return replace(self, stages=tuple(StageTime(stage, seconds.get(stage.value, 0.0)) for stage in completed))


@dataclass(frozen=True, slots=True)
class Undecided:
    """The third answer: triage could not tell. Never read as "compiles" and never as "fails".

    ``input_error`` is true when the case itself was wrong (an argument missing), which only the worker saw.
    """

    reason: str
    input_error: bool = False
