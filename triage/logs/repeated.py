"""A failure that a title or a sentence repeats in part: what is missing stands where it was printed in full.

``# Assertion `!seen' failed``, and below it ``triton-opt: /b/A.cpp:12: void mlir::A::f(): Assertion `!seen' failed.``
"""

from collections.abc import Sequence
from dataclasses import replace

from triage.logs.finding import Finding
from triage.model.diagnosis import Diagnosis, Kind


def with_whole(findings: Sequence[Finding]) -> list[Finding]:
    """The findings; one that another one states in full has all that this one has."""
    whole = {key: finding.diagnosis for finding in reversed(findings) if (key := _stated(finding.diagnosis, True))}
    if not whole:
        return [*findings]
    return [
        replace(finding, diagnosis=whole[key])
        if (key := _stated(finding.diagnosis, False)) and key in whole
        else finding
        for finding in findings
    ]


def _stated(diagnosis: Diagnosis, in_full: bool) -> tuple[Kind, str] | None:
    """What failed, if the diagnosis has all of it, or only a part."""
    match diagnosis.kind:
        case Kind.ASSERTION:
            is_full, text = diagnosis.file is not None, diagnosis.headline.partition(": ")[2]
        case Kind.OUT_OF_RESOURCES:
            is_full, text = diagnosis.required is not None, diagnosis.resource or ""
        case Kind.MLIR_DIAGNOSTIC:
            is_full, text = diagnosis.source is not None, diagnosis.headline
        case _:
            return None
    return (diagnosis.kind, text) if is_full is in_full and text else None
