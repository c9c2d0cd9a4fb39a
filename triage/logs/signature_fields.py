"""The fields of a diagnosis that identify the bug: the parts of its signature, before any normalisation.

An assertion is identified by its expression and file; a failure with a message by the message; one without by the
pass, or else the stage, that it happened in.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from triage.logs import cute_report, diagnostic_lines
from triage.logs.cute_rewordings import of_code, without_argument
from triage.logs.patterns import regex
from triage.logs.recognisers import (
    assembler,
    assertion,
    launch_error,
    llvm_diagnostic,
    llvm_fatal,
    process_end,
    ptxas,
    silent_pass,
    unreachable,
)
from triage.logs.recognisers.frontend import FRONTEND_ERRORS
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind

#: Headers whose assertions any caller can violate: there the expression alone does not identify a bug.
SHARED_HEADERS = frozenset(
    {
        "ArrayRef.h", "SmallVector.h", "Casting.h", "StorageUniquerSupport.h", "Optional.h", "APInt.h", "DenseMap.h",
        "ilist_iterator.h", "StringRef.h", "PointerUnion.h", "Error.h", "stl_vector.h", "optional", "vector",
        "UseDefLists.h",
    }
)  # fmt: skip

#: What MLIR asserts of every attribute and type it creates; the verifier's message precedes it.
_VERIFIED = "verifyInvariants("


@dataclass(frozen=True, slots=True)
class Field:
    """One field. A ``verbatim`` one is not a message and is not normalised: a file, a function, an expression."""

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
    parsed = assertion.parse(line)
    expression = parsed.expression if parsed else line
    parts = [_verbatim(diagnosis.file or "?"), _verbatim(expression)]
    if _VERIFIED in expression and diagnosis.notes:
        return [*parts, Field(diagnosis.notes[0])]
    if diagnosis.file in SHARED_HEADERS:
        # `cast<Ty>() argument of incompatible type`: the bug is about the type that is cast to.
        target_type = assertion.bound_type(line, "To")
        parts += [_verbatim(f"To={target_type}")] if target_type else []
        parts += [_verbatim(diagnosis.stage)] if diagnosis.stage else []
    elif parsed and parsed.reason is None and expression.strip("() ") in ("false", "0", "!true"):
        parts.append(_verbatim(diagnosis.function or "?"))
    return parts


def _fatal(diagnosis: Diagnosis) -> list[Field]:
    line = _first_line(diagnosis.message)
    error = llvm_fatal.error_text(line) or line
    if error.endswith(":") and diagnosis.notes:
        error = f"{error} {diagnosis.notes[0]}"
    return [Field(error)]


def _mlir(diagnosis: Diagnosis) -> list[Field]:
    line = _first_line(diagnosis.message)
    stated = silent_pass.error_text(line)
    error = stated or _diagnostic_text(line)
    if (silent_pass.RECOGNISER.wants(line) and not stated) or error.startswith(diagnostic_lines.TAILS):
        return [_verbatim("pass failed without a message"), _verbatim(_where(diagnosis))]
    return [Field(error)]


def _diagnostic_text(line: str) -> str:
    diagnostic = diagnostic_lines.parse(line)
    return diagnostic.text if diagnostic else line


#: The exception behind an error of CuTe DSL's, where it is not the error itself.
_CAUSED = regex(r"(?:note: )?Caused exception: (?P<cause>\S.{0,1000})")


def _of_cute(diagnosis: Diagnosis) -> list[Field]:
    """The code of the error, or its text, and what caused it."""
    line, *rest = diagnosis.message.split("\n")
    code = cute_report.code_of(line)
    stated = of_code(code, line) if code else without_argument(_without_exception(line))
    cause = without_argument(next((match["cause"] for match in map(_CAUSED.match, rest) if match), ""))
    return [Field(stated, verbatim=code is not None), *([Field(cause)] if cause and cause not in line else [])]


def _without_exception(line: str) -> str:
    name, separator, reason = line.partition(": ")
    return reason if separator and name.isidentifier() and len(reason.split()) > 1 else line


def _frontend(diagnosis: Diagnosis) -> list[Field]:
    """The text without its exception's type, which a quoted error often lacks; the type where there is no text."""
    if diagnosis.compiler is CUTE:
        return _of_cute(diagnosis)
    line = _first_line(diagnosis.message)
    if any(error in line for error in FRONTEND_ERRORS):
        return [_verbatim(diagnosis.exception or "?")]  # without a text of its own; its location is the user's code
    return [Field(_without_exception(line))]


def _unreachable(diagnosis: Diagnosis) -> list[Field]:
    return [_verbatim(diagnosis.file or "?"), Field(unreachable.reason(diagnosis.message) or "?")]


def _bare(diagnosis: Diagnosis) -> list[Field]:
    """A crash without a message is identified by where it happened; a frame of Python's is not the compiler's, except
    for the functions that build an operation each."""
    is_python = (diagnosis.file or "").endswith(".py") and not (diagnosis.file or "").endswith(process_end.BUILDERS)
    return [_verbatim((not is_python and diagnosis.function) or _where(diagnosis))]


def _abort(diagnosis: Diagnosis) -> list[Field]:
    reason = diagnosis.headline.partition(": ")[2]
    return [Field(reason), *_bare(diagnosis)] if reason else _bare(diagnosis)


def _ptxas(diagnosis: Diagnosis) -> list[Field]:
    return [Field(ptxas.error_text(_first_line(diagnosis.message)) or diagnosis.headline.removeprefix("ptxas: "))]


def _first_line_read_by(*readers: Callable[[str], str | None]) -> Callable[[Diagnosis], list[Field]]:
    """The text that the first of the readers extracts from the message's first line, else that line."""

    def extract(diagnosis: Diagnosis) -> list[Field]:
        line = _first_line(diagnosis.message)
        return [Field(next(filter(None, (reader(line) for reader in readers)), line))]

    return extract


def _exception(diagnosis: Diagnosis) -> list[Field]:
    name, separator, reason = _first_line(diagnosis.message).partition(": ")
    return [_verbatim(name), *([Field(reason)] if separator else [])]


_BEYOND_SHARED = re.compile(r"the (?:PTX|binary) (?:reads|writes) \d+ B at shared address ")
"""What ``triage/logs/outcomes.py`` says of a wrong binary."""
_FIELDS: dict[Kind, Callable[[Diagnosis], list[Field]]] = {
    Kind.ASSERTION: _assertion,
    Kind.UNREACHABLE: _unreachable,
    Kind.LLVM_FATAL: _fatal,
    Kind.LLVM_DIAGNOSTIC: _first_line_read_by(llvm_diagnostic.error_text, _diagnostic_text),
    Kind.MLIR_DIAGNOSTIC: _mlir,
    Kind.FRONTEND_ERROR: _frontend,
    Kind.PYTHON_EXCEPTION: _exception,
    Kind.PTXAS: _ptxas,
    # Without the instruction: its registers are the configuration's, and old releases do not print it.
    Kind.ASSEMBLER: _first_line_read_by(assembler.error_text),
    Kind.OUT_OF_RESOURCES: lambda diagnosis: [_verbatim(diagnosis.resource or "?")],
    Kind.LAUNCH_ERROR: _first_line_read_by(launch_error.error_text),
    Kind.TIMEOUT: _bare,
    Kind.OUT_OF_MEMORY: _bare,
    Kind.SEGFAULT: _bare,
    Kind.ABORT: _abort,
    # Who killed the process, and when, is not part of a bug.
    Kind.KILLED: lambda _: [],
}


def fields(diagnosis: Diagnosis) -> list[Field]:
    """The signature's fields after version and kind, not yet normalised."""
    if _BEYOND_SHARED.match(diagnosis.message):
        # Whether it is read or written, and how wide, depends on the configuration.
        return [_verbatim(diagnosis.stage or "?"), _verbatim("beyond shared memory")]
    return _FIELDS.get(diagnosis.kind, _first_line_read_by())(diagnosis)
