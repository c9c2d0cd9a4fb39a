"""What CuTe DSL passes on of ptxas, libNVVM and its own passes: the cause among the lines of their logs."""

from collections.abc import Sequence
from dataclasses import dataclass

from triage.logs.patterns import regex
from triage.model.diagnosis import Kind, SourceLocation

# A line of ptxas's, in the log of a report or behind the text with which the DSL's pass passes it on.
_PTXAS = regex(
    r"(?:NVPTX compiler invocation failed, error log: )?"
    r"(?:ptxas(?:-blackwell)? )?(?:\S[^;]{0,200}, line \d{1,9}; {0,4})?(?:ptxas )?"
    r"(?P<severity>error|fatal)(?: {1,4}|(?<=; (?:error|fatal))): (?P<text>\S.{0,4000})$"
)
# Behind the kernel's debug information, which has the user's paths.
_PTXAS_LOG = "ptxas log: "
_ASSEMBLER_ABORTED = "Ptx assembly aborted"
# `Failed to generate PTX from the compilation unit. (error 9: NVVM_ERROR_COMPILATION), libNVVM extra log: …`; behind
# it an error of LLVM's or, where the code has lines, libNVVM's own `kernel.py(10) Error: …`.
_LOG = "libNVVM extra log:"
_LIBNVVM_LINE = regex(
    r"(?P<file>[^\s():]{1,400}\.py)\((?P<line>\d{1,7})\)[: ] ?(?:[Ee]rror|fatal error): (?P<text>\S.{0,2000})$"
)
_SEVERITY = regex(r"(?:(?:[Ee]rror|fatal error|LLVM ERROR):\s{1,4}){1,3}")
# What libNVVM's log has when it has no reason.
_NO_REASON = regex(
    r"NVVM_ERROR_\w{1,40}:?$|NVVM backend compilation failed|Failed creating the llvm::Module|libNVVM failed"
    r"|Failed to generate PTX"
)


@dataclass(frozen=True, slots=True)
class BackEndError:
    """An error of the back end: which part of it failed, its own words, and how people read them."""

    kind: Kind
    text: str
    headline: str
    stage: str = "passes"
    location: SourceLocation | None = None
    has_cause: bool = True


def ptxas_error(lines: Sequence[str]) -> BackEndError | None:
    """The first error of ptxas's that names a cause; its last line where none does."""
    errors = [match for line in lines if (match := _PTXAS.match(line.rpartition(_PTXAS_LOG)[2].strip()))]
    if not errors:
        return None
    causes = [match["text"].strip() for match in errors if not match["text"].startswith(_ASSEMBLER_ABORTED)]
    text = causes[0] if causes else errors[-1]["text"].strip()
    line = next(match.group() for match in errors if match["text"].strip() == text)
    return BackEndError(Kind.PTXAS, line, f"ptxas: {text}", "cubin", has_cause=bool(causes))


def libnvvm_error(lines: Sequence[str]) -> BackEndError:
    """The first line of libNVVM's log that gives a reason."""
    joined = " ".join(line.strip() for line in lines)
    if _LOG in joined and not any(_LOG in line for line in lines):
        lines = [joined.rpartition(_LOG)[2]]  # wrapped by whoever pasted it
    for line in lines:
        stated = line.rpartition(_LOG)[2].strip()
        if not stated or _NO_REASON.match(stated):
            continue
        severity = _SEVERITY.match(stated)
        text = stated[severity.end() :] if severity else stated
        if located := _LIBNVVM_LINE.match(text):
            location = SourceLocation(located["file"], int(located["line"]))
            return BackEndError(Kind.LLVM_DIAGNOSTIC, located["text"], f"LLVM: {located['text']}", "ptx", location)
        return BackEndError(Kind.LLVM_DIAGNOSTIC, text, f"LLVM: {text}", "ptx")
    text = "NVVM failed without a message"
    return BackEndError(Kind.LLVM_DIAGNOSTIC, f"{text}\n{lines[0].strip()}", text, "ptx", has_cause=False)


def back_end_error(lines: Sequence[str], headline: str = "") -> BackEndError | None:
    """The error that a log of ptxas's or libNVVM's names; None where the lines are neither's.

    ``headline``: that of the report that the lines are in.
    """
    if error := ptxas_error(lines):
        return error
    if headline.startswith("NVVM") or any(_LOG in line or "NVVM_ERROR" in line for line in lines):
        return libnvvm_error(lines)
    return None
