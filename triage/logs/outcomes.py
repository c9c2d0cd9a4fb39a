"""From an outcome to a diagnosis: the same pass over the text, then what only the harness can know.

The exceptions of an outcome are put behind its log in Python's own layout, so that one set of recognisers
reads both and an exception never counts more than what the compiler printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from triage.ir.locations import users_location
from triage.logs import text
from triage.logs.chains import CAUSE
from triage.logs.episodes import ranked
from triage.logs.finding import Finding, Specificity
from triage.logs.recognisers import mlir_diagnostic, process_end
from triage.logs.recognisers.out_of_resources import out_of_resources
from triage.logs.scan import read, root_cause
from triage.logs.signature import signature_of
from triage.logs.sources import in_kernel
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation, Trait
from triage.model.outcome import Outcome, PythonError, Stage, Status

_OVER_LIMIT = re.compile(r"^(?P<resource>[\w ]{1,80}): (?P<required>\d{1,15}) > (?P<limit>\d{1,15})")
#: Stages after MLIR: an error without a place there is LLVM's.
_CODE_GENERATION = frozenset({Stage.PTX, Stage.CUBIN, Stage.AMDGCN, Stage.HSACO})


def _printed_chain(errors: tuple[PythonError, ...]) -> Iterator[str]:
    """The chain as Python prints it, innermost first."""
    for index, error in enumerate(reversed(errors)):
        if index:
            yield from ("", CAUSE, "")
        yield f"{error.type}: {error.message}".rstrip()


def printed_error(log: str) -> Diagnosis | None:
    """The first error that a compiler printed in ``log`` although it went on; None for warnings and less."""
    for finding in ranked(read(log).found):
        if finding.diagnosis.kind in (Kind.LLVM_DIAGNOSTIC, Kind.MLIR_DIAGNOSTIC, Kind.ASSEMBLER):
            return finding.diagnosis
    return None


def _timeout(outcome: Outcome) -> Diagnosis:
    limit = f" within {outcome.limit_s:g} s" if outcome.limit_s else ""
    stage = f" (stage {outcome.stage.value})" if outcome.stage else ""
    said = f"The compile did not end{limit}{stage}"
    return Diagnosis(kind=Kind.TIMEOUT, headline=said, message=said)


def _out_of_memory(outcome: Outcome) -> Diagnosis:
    limit = f" of {outcome.limit_bytes / 2**30:.3g} GiB" if outcome.limit_bytes else ""
    said = f"The compile needed more memory than its limit{limit}"
    return Diagnosis(kind=Kind.OUT_OF_MEMORY, headline=said, message=said)


def _over_limit(stated: str) -> Diagnosis:
    match = _OVER_LIMIT.match(stated)
    if match is None:
        return Diagnosis(kind=Kind.OUT_OF_RESOURCES, headline=text.headline(stated), message=text.message(stated))
    resource, required, limit = match["resource"], int(match["required"]), int(match["limit"])
    # Triton's own wording, which is what people search for.
    said = f"out of resource: {resource}, Required: {required}, Hardware limit: {limit}"
    return out_of_resources(resource, required, limit, said)


def _bare_end(outcome: Outcome) -> Diagnosis:
    """Nothing was printed that names a failure: only the way it ended is left."""
    if outcome.signal:
        return process_end.ended_by(outcome.signal, f"ended by {outcome.signal}")
    if outcome.errors:
        first = outcome.errors[0]
        said = f"{first.type}: {first.message}".rstrip(": \n")
        return Diagnosis(
            kind=Kind.PYTHON_EXCEPTION, headline=text.headline(said), message=text.message(said), exception=first.type
        )
    code = f" with exit code {outcome.exit_code}" if outcome.exit_code is not None else ""
    return Diagnosis(
        kind=Kind.UNKNOWN,
        headline=f"The compile ended{code} and said nothing",
        message=text.message("\n".join(outcome.log.rstrip().split("\n")[-20:])) or f"ended{code}",
    )


def _lines(outcome: Outcome) -> Iterator[str]:
    yield outcome.log
    yield ""
    yield from _printed_chain(outcome.errors)


def _from_text(outcome: Outcome) -> tuple[Finding | None, str | None]:
    """The root cause that the outcome's texts show, and the pass that was dumped last."""
    reading = read(_lines(outcome))
    # A compile is all that ran: no exception in its log is somebody else's.
    found = [replace(finding, foreign=False) for finding in reading.found]
    if outcome.status is Status.CRASH:
        # A process that was ended from below raised nothing: an exception in its log was dealt with.
        found = [finding for finding in found if finding.specificity is not Specificity.EXCEPTION]
    root = root_cause(ranked(found))
    if root and outcome.signal and _is_process_end(root):
        root = None  # the harness knows the signal better than a shell's line does
    return root, reading.context.dumped


def _is_process_end(finding: Finding) -> bool:
    kind = finding.diagnosis.kind
    return finding.specificity is Specificity.TAIL and (kind.has(Trait.PROCESS_END) or kind is Kind.TIMEOUT)


def _decided(outcome: Outcome) -> Diagnosis | None:
    """The diagnosis where the harness's facts decide, whatever was printed."""
    if outcome.killed_from_outside:
        said = f"Killed from outside{f' by {outcome.signal}' if outcome.signal else ''}"
        return Diagnosis(kind=Kind.KILLED, headline=said, message=said)
    if outcome.status is Status.TIMEOUT:
        return _timeout(outcome)
    if outcome.status is Status.OUT_OF_MEMORY:
        return _out_of_memory(outcome)
    return _over_limit(outcome.over_limit) if outcome.over_limit else None


def _failure(outcome: Outcome) -> tuple[Diagnosis, tuple[SourceLocation, ...]]:
    """The diagnosis before the outcome's facts are filled in, and all locations it names."""
    decided = _decided(outcome)
    if decided and decided.kind is Kind.OUT_OF_RESOURCES:
        return decided, ()
    root, dumped = _from_text(outcome)
    if decided or root is None:
        return replace(decided or _bare_end(outcome), pass_name=dumped), ()
    return root.diagnosis, root.locations


def _of_code_generator(diagnosis: Diagnosis, outcome: Outcome) -> Diagnosis:
    """An error without a place, printed after MLIR was done, is LLVM's whatever it says."""
    if (
        diagnosis.kind is Kind.MLIR_DIAGNOSTIC
        and diagnosis.source is None
        and outcome.stage in _CODE_GENERATION
        and not outcome.pipeline
        and (located := mlir_diagnostic.split(diagnosis.message.partition("\n")[0]))
    ):
        return replace(diagnosis, kind=Kind.LLVM_DIAGNOSTIC, headline=text.headline(f"LLVM: {located.text}"))
    return diagnosis


def _kernel_place(errors: tuple[PythonError, ...], kernel: Path | None) -> SourceLocation | None:
    """Where the front-end was: the innermost place in the user's file, else the innermost there is."""
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
        for place in locations:
            if text.last_component(place.file) == kernel.name:
                return place
    return users_location(locations)


def diagnose_outcome(outcome: Outcome, kernel: Path | None = None) -> Diagnosis | None:
    """What an outcome's failure is; None when it did not fail. ``kernel`` is the user's file, if it is at hand."""
    if outcome.status is Status.OK:
        return None
    diagnosis, locations = _failure(outcome)
    diagnosis = _of_code_generator(diagnosis, outcome)
    stage = outcome.stage.value if outcome.stage else diagnosis.stage
    source = _kernel_place(outcome.errors, kernel) if diagnosis.kind is Kind.FRONTEND_ERROR else None
    notes = diagnosis.notes
    if outcome.status is Status.CRASH and outcome.signal and outcome.signal != "SIGABRT":
        notes = (*notes, f"the process was then ended by {outcome.signal}") if outcome.log else notes
    diagnosis = replace(
        diagnosis,
        stage=stage,
        pass_name=outcome.pass_name or diagnosis.pass_name,
        exception=outcome.errors[0].type if outcome.errors else diagnosis.exception,
        source=in_kernel(source or diagnosis.source, locations, kernel),
        notes=notes,
    )
    return replace(diagnosis, signature=signature_of(diagnosis))
