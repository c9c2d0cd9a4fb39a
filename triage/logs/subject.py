"""What of a diagnosis its signature is made of: the fields that name the bug, before any normalisation.

An assertion is named by its expression and file; a failure with a message by the message; one without by the
pass, or failing that the stage, it happened in.
"""

from __future__ import annotations

from collections.abc import Callable

from triage.diagnosis import Diagnosis, Kind
from triage.logs.recognisers import (
    assembler,
    assertion,
    launch,
    llvm_diagnostic,
    llvm_fatal,
    mlir_diagnostic,
    ptxas,
    silent_pass,
    unreachable,
)

#: Headers whose assertions any caller can trip: there the expression alone does not name a bug.
SHARED_HEADERS = frozenset(
    {
        "ArrayRef.h", "SmallVector.h", "Casting.h", "StorageUniquerSupport.h", "Optional.h", "APInt.h", "DenseMap.h",
        "ilist_iterator.h", "StringRef.h", "PointerUnion.h", "Error.h", "stl_vector.h", "optional", "vector",
        "UseDefLists.h",
    }
)  # fmt: skip


def _where(diagnosis: Diagnosis) -> str:
    return diagnosis.pass_name or diagnosis.stage or "?"


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def _assertion(diagnosis: Diagnosis) -> list[str]:
    line = diagnosis.message
    found = assertion.parse(line)
    expression = found.expression if found else line
    fields = [diagnosis.file or "?", expression]
    if diagnosis.file in SHARED_HEADERS:
        # `cast<Ty>() argument of incompatible type`: the type wanted is what the bug is about.
        if wanted := assertion.bound_type(line, "To"):
            fields.append(f"To={wanted}")
        if diagnosis.stage:
            fields.append(diagnosis.stage)
    elif found and found.reason is None and expression.strip("() ") in ("false", "0", "!true"):
        fields.append(diagnosis.function or "?")
    return fields


def _fatal(diagnosis: Diagnosis) -> list[str]:
    said = llvm_fatal.subject(_first_line(diagnosis.message)) or _first_line(diagnosis.message)
    if said.endswith(":") and diagnosis.notes:
        said = f"{said} {diagnosis.notes[0]}"
    return [said]


def _mlir(diagnosis: Diagnosis) -> list[str]:
    line = _first_line(diagnosis.message)
    if silent_pass.RECOGNISER.wants(line) and not silent_pass.words(line):
        return ["pass failed without a message", _where(diagnosis)]
    located = mlir_diagnostic.split(line)
    said = silent_pass.words(line) or (located.text if located else line)
    if said.startswith(mlir_diagnostic.TAILS):
        return ["pass failed without a message", _where(diagnosis)]
    return [said]


def _frontend(diagnosis: Diagnosis) -> list[str]:
    """The text without its exception's type, which a quoted error often lacks; the type where that is all."""
    line = _first_line(diagnosis.message)
    name, separator, said = line.partition(": ")
    return [said] if separator and name.isidentifier() and len(said.split()) > 1 else [line]


def _unreachable(diagnosis: Diagnosis) -> list[str]:
    return [diagnosis.file or "?", unreachable.reason(diagnosis.message) or str(diagnosis.function or "?")]


def _bare(diagnosis: Diagnosis) -> list[str]:
    """A crash that said nothing is told apart by where it was."""
    if diagnosis.function:
        return [diagnosis.function]
    return [_where(diagnosis)]


def _abort(diagnosis: Diagnosis) -> list[str]:
    said = diagnosis.headline.partition(": ")[2]
    return [said, *_bare(diagnosis)] if said else _bare(diagnosis)


def _launch(diagnosis: Diagnosis) -> list[str]:
    line = _first_line(diagnosis.message)
    return [launch.stated(line) or line]


def _ptxas(diagnosis: Diagnosis) -> list[str]:
    return [ptxas.stated(_first_line(diagnosis.message)) or diagnosis.headline.removeprefix("ptxas: ")]


def _assembler(diagnosis: Diagnosis) -> list[str]:
    """Without the instruction: its registers are the configuration's, and old releases do not print it."""
    line = _first_line(diagnosis.message)
    return [assembler.stated(line) or line]


def _llvm_diagnostic(diagnosis: Diagnosis) -> list[str]:
    line = _first_line(diagnosis.message)
    located = mlir_diagnostic.split(line)
    return [llvm_diagnostic.words(line) or (located.text if located else line)]


def _message(diagnosis: Diagnosis) -> list[str]:
    return [_first_line(diagnosis.message)]


_FIELDS: dict[Kind, Callable[[Diagnosis], list[str]]] = {
    Kind.ASSERTION: _assertion,
    Kind.UNREACHABLE: _unreachable,
    Kind.LLVM_FATAL: _fatal,
    Kind.LLVM_DIAGNOSTIC: _llvm_diagnostic,
    Kind.MLIR_DIAGNOSTIC: _mlir,
    Kind.FRONTEND_ERROR: _frontend,
    Kind.PTXAS: _ptxas,
    Kind.ASSEMBLER: _assembler,
    Kind.OUT_OF_RESOURCES: lambda diagnosis: [diagnosis.resource or "?"],
    Kind.LAUNCH_ERROR: _launch,
    Kind.TIMEOUT: _bare,
    Kind.OUT_OF_MEMORY: _bare,
    Kind.SEGFAULT: _bare,
    Kind.ABORT: _abort,
    # Who killed it, and when, is chance.
    Kind.KILLED: lambda _: [],
}


def fields(diagnosis: Diagnosis) -> list[str]:
    """The signature's fields after version and kind, not yet normalised."""
    return _FIELDS.get(diagnosis.kind, _message)(diagnosis)
