"""What a failure is: the parsed form of a log or an outcome (contract: ``diagnosis``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Annotated, Any

from triage.model.compilers import Compiler
from triage.model.document import Doc, Documented, Internal, Name, encode_fields
from triage.model.setting import UNKNOWN_SETTING, Setting


class Trait(Flag):
    """What kinds of failure have in common."""

    NONE = 0
    WORDLESS = auto()
    """It says how the process ended and nothing more."""
    PROCESS_END = auto()
    """How a process ended, which its parent sees as well."""
    GAVE_UP = auto()
    """The compiler stopped itself, or the system stopped it, in its own code."""
    IN_PASS = auto()
    """It happens in a pass of the compiler, which has a name and an input."""
    COMPILER_MESSAGE = auto()
    """The compiler's own text says what went wrong."""
    PYTHON = auto()
    """It is raised by Python code: the front end's, the driver's or the user's."""
    EXHAUSTED = auto()
    """It ran out of time or memory, or was stopped for that."""


class Kind(str, Enum):
    """The kinds of failure: what documents call each, and its traits."""

    ASSERTION = "assertion", Trait.GAVE_UP | Trait.IN_PASS | Trait.COMPILER_MESSAGE
    UNREACHABLE = "unreachable", Trait.GAVE_UP | Trait.IN_PASS | Trait.COMPILER_MESSAGE
    LLVM_FATAL = "llvm-fatal", Trait.GAVE_UP | Trait.IN_PASS | Trait.COMPILER_MESSAGE
    LLVM_DIAGNOSTIC = "llvm-diagnostic"
    SEGFAULT = "segfault", Trait.GAVE_UP | Trait.IN_PASS | Trait.PROCESS_END | Trait.WORDLESS
    ABORT = "abort", Trait.GAVE_UP | Trait.IN_PASS | Trait.PROCESS_END | Trait.WORDLESS
    MLIR_DIAGNOSTIC = "mlir-diagnostic", Trait.IN_PASS | Trait.COMPILER_MESSAGE
    FRONTEND_ERROR = "frontend-error", Trait.PYTHON
    PYTHON_EXCEPTION = "python-exception", Trait.PYTHON
    PTXAS = "ptxas"
    ASSEMBLER = "assembler"
    OUT_OF_RESOURCES = "out-of-resources"
    TIMEOUT = "timeout", Trait.IN_PASS | Trait.EXHAUSTED
    OUT_OF_MEMORY = "out-of-memory", Trait.EXHAUSTED
    KILLED = "killed", Trait.PROCESS_END | Trait.EXHAUSTED
    LAUNCH_ERROR = "launch-error"
    ENVIRONMENT = "environment"
    OTHER = "other"
    UNKNOWN = "unknown", Trait.WORDLESS

    traits: Trait

    def __new__(cls, value: str, traits: Trait = Trait.NONE) -> Kind:
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.traits = traits
        return kind

    def has(self, trait: Trait) -> bool:
        """Whether failures of this kind have the trait."""
        return bool(self.traits & trait)


@dataclass(frozen=True, slots=True)
class SourceLocation(Documented):
    """A location in the user's kernel, or of the line that launches it: 1-based line and column, and the line's text
    where it is known."""

    file: str
    line: Annotated[int, Doc(schema={"minimum": 0})]
    column: Annotated[int | None, Doc(schema={"minimum": 0})] = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis(Documented):
    """One failure, named. ``stage`` is where it happened; ``required`` and ``limit`` are the numbers of an
    out-of-resources failure, ``resource`` what they count: documents have these three only where there is one.
    ``compiler`` is whose failure it is, where its words or those around it tell.
    ``elsewhere``: it only reports the failure of another process, and nothing shows that this one compiles kernels; or
    a library only warns that it goes on without Triton.
    ``setting`` is what the text shows of the machine; ``related`` are the failures that the same text chains to this
    one, as exceptions do, or that follow from it."""

    kind: Kind
    headline: Annotated[Name, Doc("One line that a person reads first.")]
    message: Annotated[str, Doc("The failing text itself.")]
    function: Annotated[str | None, Doc("The compiler's, without return type, arguments and namespaces.")] = None
    file: Annotated[str | None, Doc("The last component of its path.", schema={"pattern": "^[^/]*$"})] = None
    line: int | None = None
    pass_name: Annotated[str | None, Doc("As mlir-opt spells it.", name="pass")] = None
    exception: str | None = None
    source: SourceLocation | None = None
    signature: Annotated[Name, Doc("Equal for the same bug over releases, build paths and configurations.")] = ""
    stage: Internal[str | None] = None
    compiler: Internal[Compiler | None] = None
    resource: Annotated[str | None, Doc(optional=True)] = None
    required: Annotated[int | None, Doc(optional=True)] = None
    limit: Annotated[int | None, Doc(optional=True)] = None
    notes: Annotated[tuple[str, ...], Doc(optional=True)] = ()
    setting: Internal[Setting] = UNKNOWN_SETTING
    related: Internal[tuple[Diagnosis, ...]] = ()
    elsewhere: Internal[bool] = False

    def to_json(self) -> dict[str, Any]:
        """The ``diagnosis`` object of the report document."""
        document = encode_fields(self)
        if self.resource is None:
            del document["resource"], document["required"], document["limit"]
        return document
