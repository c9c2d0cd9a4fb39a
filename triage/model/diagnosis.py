"""What a failure is: the parsed form of a log or an outcome (contract: ``diagnosis``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Kind(str, Enum):
    """The kinds of failure that are told apart."""

    ASSERTION = "assertion"
    UNREACHABLE = "unreachable"
    LLVM_FATAL = "llvm-fatal"
    LLVM_DIAGNOSTIC = "llvm-diagnostic"
    SEGFAULT = "segfault"
    ABORT = "abort"
    MLIR_DIAGNOSTIC = "mlir-diagnostic"
    FRONTEND_ERROR = "frontend-error"
    PYTHON_EXCEPTION = "python-exception"
    PTXAS = "ptxas"
    ASSEMBLER = "assembler"
    OUT_OF_RESOURCES = "out-of-resources"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    KILLED = "killed"
    LAUNCH_ERROR = "launch-error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in the user's kernel: 1-based line, 1-based column, and the line's text where it is known."""

    file: str
    line: int
    column: int | None = None
    text: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The contract's ``source`` object."""
        return {"file": self.file, "line": self.line, "column": self.column, "text": self.text}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One failure, named.

    ``function`` is without return type, arguments and namespaces; ``file`` is the last path component;
    ``signature`` is equal for the same bug across releases, build paths and configurations;
    ``required``/``limit`` are the numbers of an out-of-resources failure, ``resource`` what they count.
    """

    kind: Kind
    headline: str
    message: str
    function: str | None = None
    file: str | None = None
    line: int | None = None
    pass_name: str | None = None
    exception: str | None = None
    source: SourceLocation | None = None
    signature: str = ""
    stage: str | None = None
    resource: str | None = None
    required: int | None = None
    limit: int | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The contract's ``diagnosis`` object."""
        document: dict[str, Any] = {
            "kind": self.kind.value,
            "headline": self.headline,
            "message": self.message,
            "function": self.function,
            "file": self.file,
            "line": self.line,
            "pass": self.pass_name,
            "exception": self.exception,
            "source": self.source.to_json() if self.source else None,
            "signature": self.signature,
            "notes": list(self.notes),
        }
        if self.resource is not None:
            document |= {"resource": self.resource, "required": self.required, "limit": self.limit}
        return document
