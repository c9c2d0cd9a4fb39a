"""From an outcome to a diagnosis: the same pass over the text, then the facts that only the harness has.

The exceptions of an outcome are appended to its log in Python's own layout, so that one set of recognisers
reads both and an exception never counts more than what the compiler printed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triage.filesystem.files import ANYWHERE, MOST_SOURCE, read_file
from triage.ir.locations import users_location
from triage.logs import diagnostic_lines, text
from triage.logs.chains import CAUSE
from triage.logs.cute_snippet import statement
from triage.logs.cute_texts import OF_WORKER
from triage.logs.episodes import ranked
from triage.logs.failed_import import failed_import
from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.recognisers.frontend import UNKNOWN_FILE
from triage.logs.recognisers.out_of_resources import out_of_resources
from triage.logs.scan import read, root_cause
from triage.logs.signals import ended_by
from triage.logs.signature import signature_of
from triage.model.case import python_text
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation, Trait
from triage.model.outcome import BeyondShared, Outcome, PythonError, Stage, Status, Suspicion

_OVER_LIMIT = regex(r"^(?P<resource>[\w ]{1,80}): (?P<required>\d{1,15}) > (?P<limit>\d{1,15})")
#: Stages after MLIR: an error without a location there is LLVM's.
_CODE_GENERATION = frozenset({Stage.PTX, Stage.CUBIN, Stage.AMDGCN, Stage.HSACO})
#: Stages that only CuTe DSL has.
_STAGES_OF_CUTE = frozenset({Stage.TRACE, Stage.VERIFY, Stage.PASSES})


def printed_error(log: str) -> Diagnosis | None:
    """The first error that a compiler printed in ``log`` although it went on; None for warnings and remarks."""
    for finding in ranked(_own(read(log, captured=False).findings)):
        if finding.diagnosis.kind in (Kind.LLVM_DIAGNOSTIC, Kind.MLIR_DIAGNOSTIC, Kind.ASSEMBLER):
            return finding.diagnosis
    return None


def _own(findings: list[Finding]) -> list[Finding]:
    """The findings: nothing but the compile ran, so that none is another program's, and the file of PTX is gone."""
    return [
        replace(finding, foreign=False, diagnosis=replace(finding.diagnosis, file=None, line=None))
        if finding.diagnosis.kind is Kind.PTXAS
        else replace(finding, foreign=False)
        for finding in findings
    ]


def _over_limit(stated: str) -> Diagnosis:
    match = _OVER_LIMIT.match(stated)
    if match is None:
        return bounded_diagnosis(Kind.OUT_OF_RESOURCES, stated, stated)
    resource, required, limit = match["resource"], int(match["required"]), int(match["limit"])
    # Triton's own wording, which is what people search for.
    message = f"out of resource: {resource}, Required: {required}, Hardware limit: {limit}"
    return out_of_resources(resource, required, limit, message)


def _beyond_shared(access: BeyondShared) -> Diagnosis:
    reads = access.instruction.startswith("LD") and not access.instruction.startswith("LDGSTS")
    verb = "reads" if reads else "writes"
    what = f"{verb} {access.bytes} B at shared address {access.address:,}, and a block has {access.size:,} B"
    others = f"; {access.accesses} instructions go beyond the end" if access.accesses > 1 else ""
    subject = "PTX" if access.stage is Stage.PTX else "binary"
    message = f"the {subject} {what} ({access.instruction} in thread {access.thread}{others})"
    source = SourceLocation(access.file, access.line) if access.file and access.line else None
    note = "its launch ends in an illegal memory access"
    # PTX that is wrong has no tool that refused it: as for a limit that only the launch reports, the kind is what the
    # launch ends in.
    kind = Kind.LAUNCH_ERROR if access.stage is Stage.PTX else Kind.PTXAS
    return bounded_diagnosis(kind, f"The {subject} {what}", message, source=source, notes=(note,))


def _suspected(outcome: Outcome, suspicion: Suspicion) -> Diagnosis:
    kind = Kind.LAUNCH_ERROR if outcome.stage is Stage.LAUNCH else Kind.FRONTEND_ERROR
    return bounded_diagnosis(kind, suspicion.text, suspicion.text, source=_suspected_place(suspicion))


def _suspected_place(suspicion: Suspicion | None) -> SourceLocation | None:
    if suspicion is None or not suspicion.file or not suspicion.line:
        return None
    return SourceLocation(suspicion.file, suspicion.line)


def _bare_end(outcome: Outcome) -> Diagnosis:
    """The diagnosis when nothing printed names a failure: only how the process ended is known."""
    if outcome.signal:
        return ended_by(outcome.signal, f"ended by {outcome.signal}")
    if outcome.errors:
        first = outcome.errors[0]
        error = f"{first.type}: {first.message}".rstrip(": \n")
        return bounded_diagnosis(Kind.PYTHON_EXCEPTION, error, error, exception=first.type)
    code = f" with exit code {outcome.exit_code}" if outcome.exit_code is not None else ""
    message = "\n".join(outcome.log.rstrip().split("\n")[-20:]).strip("\n") or f"ended{code}"
    return bounded_diagnosis(Kind.UNKNOWN, f"The compile ended{code} and printed nothing", message)


def _lines(outcome: Outcome) -> Iterator[str]:
    """The log, and the chain of exceptions as Python prints it, innermost first."""
    yield from (outcome.log, "")
    for index, error in enumerate(reversed(outcome.errors)):
        yield from ("", CAUSE, "") if index else ()
        if not error.message and error.frames:
            yield f"    {error.frames[-1].text.strip()}"  # the line that raised: an assertion's only words
        yield f"{error.type}: {error.message}".rstrip()


@dataclass(frozen=True, slots=True)
class Printed:
    """What an outcome's texts show: the root cause, and the pass that was dumped last."""

    root: Finding | None
    dumped: str | None


def read_outcome(outcome: Outcome) -> Printed:
    """Read the outcome's texts: the part of a diagnosis that takes time in proportion to the log."""
    reading = read(_lines(outcome), captured=False)
    findings = _own(reading.findings)
    if outcome.status is Status.CRASH:
        # A process that a signal or exit() ended raised nothing: an exception in its log was handled.
        findings = [finding for finding in findings if finding.specificity is not Specificity.EXCEPTION]
    root = root_cause(ranked(findings))
    if root and outcome.signal and _is_process_end(root) and not _has_stack(root, outcome.signal):
        root = None  # the harness's own signal is more certain than a shell's line
    return Printed(root, reading.context.dumped)


def _is_process_end(finding: Finding) -> bool:
    kind = finding.diagnosis.kind
    return finding.specificity is Specificity.TAIL and (kind.has(Trait.PROCESS_END) or kind is Kind.TIMEOUT)


def _has_stack(finding: Finding, signal: str) -> bool:
    """True where the text has the stack of a process that the signal ended, in CuTe DSL."""
    diagnosis = finding.diagnosis
    has_stack = diagnosis.compiler is CUTE and diagnosis.stage is not None
    return has_stack and diagnosis.kind is ended_by(signal, "").kind


def _decided(outcome: Outcome) -> Diagnosis | None:
    """The diagnosis where the harness's facts decide, regardless of what was printed."""
    if outcome.killed_from_outside:
        kind, headline = Kind.KILLED, f"Killed from outside{f' by {outcome.signal}' if outcome.signal else ''}"
    elif outcome.beyond_shared is not None:
        return _beyond_shared(outcome.beyond_shared)
    elif outcome.suspicion is not None and outcome.status is not Status.CRASH:
        return _suspected(outcome, outcome.suspicion)
    elif outcome.status is Status.TIMEOUT:
        limit = f" within {outcome.limit_s:g} s" if outcome.limit_s else ""
        stage = f" (stage {outcome.stage.value})" if outcome.stage else ""
        kind, headline = Kind.TIMEOUT, f"The compile did not end{limit}{stage}"
    elif outcome.status is Status.OUT_OF_MEMORY:
        limit = f" of {outcome.limit_bytes / 2**30:.3g} GiB" if outcome.limit_bytes else ""
        kind, headline = Kind.OUT_OF_MEMORY, f"The compile needed more memory than its limit{limit}"
    else:
        return _over_limit(outcome.over_limit) if outcome.over_limit else None
    return Diagnosis(kind=kind, headline=headline, message=headline)


def _failure(outcome: Outcome, printed: Printed | None) -> tuple[Diagnosis, tuple[SourceLocation, ...]]:
    """The diagnosis before the outcome's facts are filled in, and all its locations."""
    decided = _decided(outcome)
    if decided and (decided.kind is Kind.OUT_OF_RESOURCES or outcome.beyond_shared or outcome.suspicion):
        return decided, ()
    printed = printed or read_outcome(outcome)
    if decided or printed.root is None:
        return replace(decided or _bare_end(outcome), pass_name=printed.dumped), ()
    return printed.root.diagnosis, printed.root.locations


def _of_code_generator(diagnosis: Diagnosis, outcome: Outcome) -> Diagnosis:
    """Attribute an error without a location, printed after MLIR's passes, to LLVM."""
    if (
        diagnosis.kind is Kind.MLIR_DIAGNOSTIC
        and diagnosis.source is None
        and outcome.stage in _CODE_GENERATION
        and not outcome.pipeline
        and (error := diagnostic_lines.parse(diagnosis.message.partition("\n")[0]))
    ):
        return replace(diagnosis, kind=Kind.LLVM_DIAGNOSTIC, headline=text.headline(f"LLVM: {error.text}"))
    return diagnosis


def _kernel_location(errors: tuple[PythonError, ...], kernel: Path | None) -> SourceLocation | None:
    """Where the front-end stopped: the innermost location in the user's file, else the innermost of all."""
    locations = [
        SourceLocation(
            error.kernel_line.file or "<kernel>",
            error.kernel_line.line,
            None if error.kernel_column is None else error.kernel_column + 1,
            error.kernel_line.text.rstrip() or None,
        )
        for error in reversed(errors)
        if error.kernel_line
    ]
    if kernel is not None:
        for location in locations:
            if text.last_component(location.file) == kernel.name:
                return location
    return users_location(locations)


def _raised_at(errors: tuple[PythonError, ...], kernel: Path) -> SourceLocation | None:
    """The innermost line of the user's file that the exceptions went through, of the innermost one that did."""
    for error in reversed(errors):
        for frame in reversed(error.frames):
            if text.last_component(frame.file) == kernel.name:
                return SourceLocation(kernel.name, frame.line, None, frame.text or None)
    return None


def _of_cute(diagnosis: Diagnosis, outcome: Outcome, kernel: Path | None) -> Diagnosis:
    """The diagnosis of a failure of CuTe DSL's with the user's line, where its own words have none or name a line of
    the program that compiled it; what was raised as a kernel was traced is of the front end."""
    traced = outcome.stage is Stage.TRACE and diagnosis.kind is Kind.PYTHON_EXCEPTION
    source = None if diagnosis.source and OF_WORKER.search(diagnosis.source.file) else diagnosis.source
    if kernel is not None and diagnosis.kind.has(Trait.PYTHON):
        source = (
            statement(diagnosis.message, kernel.name, _lines_of(kernel)) or source or _raised_at(outcome.errors, kernel)
        )
    kind = Kind.FRONTEND_ERROR if traced else diagnosis.kind
    return replace(diagnosis, kind=kind, compiler=CUTE, source=source)


def refused_operation(errors: tuple[PythonError, ...]) -> PythonError | None:
    """The innermost error that a function of Triton's language raised; None if none is known."""
    return next((error for error in reversed(errors) if error.operands), None)


def _lines_of(kernel: Path) -> list[str]:
    try:
        return python_text(read_file(kernel, ANYWHERE, MOST_SOURCE)).split("\n")
    except OSError:
        return []


def _in_file(location: SourceLocation, kernel: Path) -> SourceLocation:
    """Turn a line counted from its function's ``def`` into one of the file, when only one line there has its text."""
    if not location.text:
        return location
    shown = location.text.strip()
    lines = enumerate(_lines_of(kernel), start=1)
    numbers = [number for number, line in lines if number >= location.line and line.strip() == shown]
    return replace(location, file=kernel.name, line=numbers[0]) if len(numbers) == 1 else location


def _in_kernel(
    chosen: SourceLocation | None, locations: Sequence[SourceLocation], kernel: Path | None
) -> SourceLocation | None:
    """The first location in the user's file, with the text of its line; ``chosen`` if none is."""
    if kernel is None:
        return chosen
    candidates: list[SourceLocation] = [*([chosen] if chosen else []), *locations]
    for location in candidates:
        if location.file == UNKNOWN_FILE and (in_file := _in_file(location, kernel)).file == kernel.name:
            return in_file
        if text.last_component(location.file) == kernel.name:
            lines = _lines_of(kernel)
            shown = lines[location.line - 1].rstrip() if 0 < location.line <= len(lines) else None
            return replace(location, file=kernel.name, text=shown or location.text)
    return chosen


def diagnose_outcome(outcome: Outcome, kernel: Path | None = None, printed: Printed | None = None) -> Diagnosis | None:
    """The diagnosis of an outcome; None when it did not fail. ``kernel``: the user's file, if available; ``printed``:
    what :func:`read_outcome` returned for it, if its texts were read before."""
    if outcome.status is Status.OK:
        return None
    if not outcome.imported:
        diagnosis = failed_import(outcome, kernel)
        diagnosis = replace(diagnosis, stage=Stage.SOURCE.value, source=_in_kernel(diagnosis.source, (), kernel))
        return replace(diagnosis, signature=signature_of(diagnosis))
    diagnosis, locations = _failure(outcome, printed)
    diagnosis = _of_code_generator(diagnosis, outcome)
    if diagnosis.compiler is CUTE or outcome.stage in _STAGES_OF_CUTE:
        diagnosis = _of_cute(diagnosis, outcome, kernel)
    stage = outcome.stage.value if outcome.stage else diagnosis.stage
    source = _kernel_location(outcome.errors, kernel) if diagnosis.kind is Kind.FRONTEND_ERROR else None
    notes = diagnosis.notes
    if diagnosis.kind is Kind.FRONTEND_ERROR and (refused := refused_operation(outcome.errors)):
        notes = (*notes, f"operands of {refused.operation}: {', '.join(map(str, refused.operands))}")
    if outcome.status is Status.CRASH and outcome.suspicion is not None:
        notes = (*notes, outcome.suspicion.text)
        source = source or diagnosis.source or _suspected_place(outcome.suspicion)
    if outcome.status is Status.CRASH and outcome.signal and outcome.signal != "SIGABRT":
        notes = (*notes, f"the process was then ended by {outcome.signal}") if outcome.log else notes
    diagnosis = replace(
        diagnosis,
        stage=stage,
        pass_name=outcome.pass_name or diagnosis.pass_name,
        exception=outcome.errors[0].type if outcome.errors else diagnosis.exception,
        source=_in_kernel(source or diagnosis.source, locations, kernel),
        notes=notes,
    )
    return replace(diagnosis, signature=signature_of(diagnosis))
