"""What came back from one isolated compile: facts only, nothing interpreted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any


class Status(str, Enum):
    """How a compile ended (contract: ``outcome.status``)."""

    OK = "ok"
    SUSPECT = "suspect"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"


class Stage(str, Enum):
    """Where in the pipeline (contract: ``outcome.stage``). ``source`` is the front-end, up to the first IR."""

    SOURCE = "source"
    TTIR = "ttir"
    TTGIR = "ttgir"
    LLIR = "llir"
    PTX = "ptx"
    CUBIN = "cubin"
    AMDGCN = "amdgcn"
    HSACO = "hsaco"
    LOAD = "load"
    LAUNCH = "launch"


class TensorCore(str, Enum):
    """The matrix instruction class found in the emitted assembly, fastest first within a vendor."""

    TCGEN05 = "tcgen05"
    WGMMA = "wgmma"
    MMA_SYNC = "mma.sync"
    MFMA = "mfma"
    WMMA = "wmma"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Resources:
    """What a compiled kernel uses. ``shared_bytes`` a block; ``registers`` and ``spill_bytes`` a thread;
    None where the tool chain did not say. ``warp_specialized``: the compiler split the warps into partitions.
    ``register_copies``: tiles that a loop writes from registers to shared memory, as it does with an operand that
    lies in the wrong order."""

    shared_bytes: int
    registers: int | None
    spill_bytes: int | None
    tensor_core: TensorCore
    tensor_memory_columns: int | None = None
    threads: int | None = None
    warp_specialized: bool = False
    register_copies: int = 0

    def to_json(self) -> dict[str, Any]:
        """The contract's ``resources`` object."""
        return {
            "shared_bytes": self.shared_bytes,
            "registers": self.registers,
            "spill_bytes": self.spill_bytes,
            "tensor_core": self.tensor_core.value,
            "tensor_memory_columns": self.tensor_memory_columns,
            "threads": self.threads,
            "warp_specialized": self.warp_specialized,
            "register_copies": self.register_copies,
        }


@dataclass(frozen=True, slots=True)
class Frame:
    """One Python frame of an exception, outermost first in its tuple."""

    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True, slots=True)
class PythonError:
    """One exception of a chain; a chain's first element is what was raised, its last the innermost cause.

    ``kernel_line`` is the line *inside the kernel source* that Triton's front-end was visiting, where known.
    """

    type: str
    module: str
    message: str
    frames: tuple[Frame, ...] = ()
    kernel_line: Frame | None = None
    kernel_column: int | None = None


@dataclass(frozen=True, slots=True)
class StageTime:
    """A stage that finished, and how long it took."""

    stage: Stage
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One finished compile.

    ``log`` is standard output and error together, bounded, with the compiler's own text only; ``log_stages``
    says at which character offset of ``log`` each stage began. ``pipeline`` is true when the process was
    inside an MLIR pass pipeline when it ended. ``pass_name`` and ``pass_ir`` come from an observing re-run.
    ``limit_s``/``limit_bytes`` are what the attempt ran under. ``imported`` is false when the kernel's module
    itself failed, before there was a kernel.
    """

    status: Status
    stage: Stage | None = None
    stages: tuple[StageTime, ...] = ()
    exit_code: int | None = None
    signal: str | None = None
    duration_s: float = 0.0
    max_rss_bytes: int = 0
    resources: Resources | None = None
    errors: tuple[PythonError, ...] = ()
    log: str = ""
    log_stages: tuple[tuple[Stage, int], ...] = ()
    log_dropped_bytes: int = 0
    pipeline: bool = False
    pass_name: str | None = None
    over_limit: str | None = None
    cache_key: str | None = None
    limit_s: float | None = None
    limit_bytes: int | None = None
    killed_from_outside: bool = False
    imported: bool = True
    notes: tuple[str, ...] = ()
    artifacts: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def failed(self) -> bool:
        """True for everything but a clean compile."""
        return self.status is not Status.OK

    def to_json(self) -> dict[str, Any]:
        """The contract's ``outcome`` object."""
        return {
            "status": self.status.value,
            "stage": self.stage.value if self.stage and self.failed else None,
            "stages_completed": [done.stage.value for done in self.stages],
            "stage_seconds": {done.stage.value: round(done.seconds, 4) for done in self.stages},
            "exit_code": self.exit_code,
            "signal": self.signal,
            "duration_s": round(self.duration_s, 3),
            "max_rss_bytes": self.max_rss_bytes,
            "resources": self.resources.to_json() if self.resources else None,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Undecided:
    """The third answer: triage could not tell. Never read as "compiles" and never as "fails".

    ``input_error`` is true when the case itself was wrong (an argument missing), which only the worker saw.
    """

    reason: str
    input_error: bool = False
