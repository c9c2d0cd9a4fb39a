"""What of a diagnosis its signature is made of: the fields that name the bug, before any normalisation.

An assertion is named by its expression and file; a failure with a message by the message; one without by the
pass, or failing that the stage, it happened in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from triage.logs.recognisers.frontend import FRONTEND_ERRORS
from triage.model.diagnosis import Diagnosis, Kind

#: Headers whose assertions any caller can trip: there the expression alone does not name a bug.
SHARED_HEADERS = frozenset(
    {
        "ArrayRef.h", "SmallVector.h", "Casting.h", "StorageUniquerSupport.h", "Optional.h", "APInt.h", "DenseMap.h",
        "ilist_iterator.h", "StringRef.h", "PointerUnion.h", "Error.h", "stl_vector.h", "optional", "vector",
        "UseDefLists.h",
    }
)  # fmt: skip

#: What MLIR asserts of every attribute and type it makes; the verifier's message stands before it.
_VERIFIED = "verifyInvariants("


@dataclass(frozen=True, slots=True)
class Field:
    """One field. A ``verbatim`` one is no message but names the bug as it stands: file, function, expression."""

    text: str
    verbatim: bool = False


def _verbatim(text: str) -> Field:
    return Field(text, verbatim=True)


def _where(diagnosis: Diagnosis) -> str:
    return diagnosis.pass_name or diagnosis.stage or "?"


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()


def _assertion(diagnosis: Diagnosis) -> list[Field]:
    line = diagnosis.message
    found = assertion.parse(line)
    expression = found.expression if found else line
    named = [_verbatim(diagnosis.file or "?"), _verbatim(expression)]
    if _VERIFIED in expression and diagnosis.notes:
        return [*named, Field(diagnosis.notes[0])]
    if diagnosis.file in SHARED_HEADERS:
        # `cast<Ty>() argument of incompatible type`: the type wanted is what the bug is about.
        wanted = assertion.bound_type(line, "To")
        named += [_verbatim(f"To={wanted}")] if wanted else []
        named += [_verbatim(diagnosis.stage)] if diagnosis.stage else []
    elif found and found.reason is None and expression.strip("() ") in ("false", "0", "!true"):
        named.append(_verbatim(diagnosis.function or "?"))
    return named


def _fatal(diagnosis: Diagnosis) -> list[Field]:
    said = llvm_fatal.subject(_first_line(diagnosis.message)) or _first_line(diagnosis.message)
    if said.endswith(":") and diagnosis.notes:
        said = f"{said} {diagnosis.notes[0]}"
    return [Field(said)]


def _mlir(diagnosis: Diagnosis) -> list[Field]:
    line = _first_line(diagnosis.message)
    if silent_pass.RECOGNISER.wants(line) and not silent_pass.words(line):
        return [_verbatim("pass failed without a message"), _verbatim(_where(diagnosis))]
    located = mlir_diagnostic.split(line)
    said = silent_pass.words(line) or (located.text if located else line)
    if said.startswith(mlir_diagnostic.TAILS):
        return [_verbatim("pass failed without a message"), _verbatim(_where(diagnosis))]
    return [Field(said)]


def _frontend(diagnosis: Diagnosis) -> list[Field]:
    """The text without its exception's type, which a quoted error often lacks; the type where that is all."""
    line = _first_line(diagnosis.message)
    if any(error in line for error in FRONTEND_ERRORS):
        return [_verbatim(diagnosis.exception or "?")]  # it has no words: where it happened is the user's code
    name, separator, said = line.partition(": ")
    return [Field(said if separator and name.isidentifier() and len(said.split()) > 1 else line)]


def _unreachable(diagnosis: Diagnosis) -> list[Field]:
    return [_verbatim(diagnosis.file or "?"), Field(unreachable.reason(diagnosis.message) or "?")]


def _bare(diagnosis: Diagnosis) -> list[Field]:
    """A crash that said nothing is told apart by where it was."""
    if diagnosis.function:
        return [_verbatim(diagnosis.function)]
    return [_verbatim(_where(diagnosis))]


def _abort(diagnosis: Diagnosis) -> list[Field]:
    said = diagnosis.headline.partition(": ")[2]
    return [Field(said), *_bare(diagnosis)] if said else _bare(diagnosis)


def _launch(diagnosis: Diagnosis) -> list[Field]:
    line = _first_line(diagnosis.message)
    return [Field(launch.stated(line) or line)]


def _ptxas(diagnosis: Diagnosis) -> list[Field]:
    return [Field(ptxas.stated(_first_line(diagnosis.message)) or diagnosis.headline.removeprefix("ptxas: "))]


def _assembler(diagnosis: Diagnosis) -> list[Field]:
    """Without the instruction: its registers are the configuration's, and old releases do not print it."""
    line = _first_line(diagnosis.message)
    return [Field(assembler.stated(line) or line)]


def _llvm_diagnostic(diagnosis: Diagnosis) -> list[Field]:
    line = _first_line(diagnosis.message)
    located = mlir_diagnostic.split(line)
    return [Field(llvm_diagnostic.words(line) or (located.text if located else line))]


def _message(diagnosis: Diagnosis) -> list[Field]:
    return [Field(_first_line(diagnosis.message))]


def _exception(diagnosis: Diagnosis) -> list[Field]:
    name, separator, said = _first_line(diagnosis.message).partition(": ")
    return [_verbatim(name), *([Field(said)] if separator else [])]


_FIELDS: dict[Kind, Callable[[Diagnosis], list[Field]]] = {
    Kind.ASSERTION: _assertion,
    Kind.UNREACHABLE: _unreachable,
    Kind.LLVM_FATAL: _fatal,
    Kind.LLVM_DIAGNOSTIC: _llvm_diagnostic,
    Kind.MLIR_DIAGNOSTIC: _mlir,
    Kind.FRONTEND_ERROR: _frontend,
    Kind.PYTHON_EXCEPTION: _exception,
    Kind.PTXAS: _ptxas,
    Kind.ASSEMBLER: _assembler,
    Kind.OUT_OF_RESOURCES: lambda diagnosis: [_verbatim(diagnosis.resource or "?")],
    Kind.LAUNCH_ERROR: _launch,
    Kind.TIMEOUT: _bare,
    Kind.OUT_OF_MEMORY: _bare,
    Kind.SEGFAULT: _bare,
    Kind.ABORT: _abort,
    # Who killed it, and when, is chance.
    Kind.KILLED: lambda _: [],
}


def fields(diagnosis: Diagnosis) -> list[Field]:
    """The signature's fields after version and kind, not yet normalised."""
    return _FIELDS.get(diagnosis.kind, _message)(diagnosis)
