"""A failure that a title, a sentence or an outer exception repeats in part; the rest was printed in full elsewhere.

``# Assertion `!seen' failed``, and below it ``triton-opt: /b/A.cpp:12: void mlir::A::f(): Assertion `!seen' failed.``
``JaxStackTraceBeforeTransformation: NotImplementedError: no such dtype``, and below it ``NotImplementedError``
"""

from collections.abc import Sequence
from dataclasses import replace

from triage.logs.finding import Finding, bounded_diagnosis
from triage.logs.patterns import regex
from triage.model.diagnosis import Diagnosis, Kind

# The text of an exception that another one names, as JAX does.
_TEXT = regex(r"(?:^|\s)[A-Z]\w{2,80}: (?P<text>(?P<name>[A-Z]\w{2,80}): \S.{7,1000})$")


#: How an exception ends in a title that was cut, at least: so much text stands in the whole one.
_END = 30
_FEW_WORDS = 2
"""Words that a driver's message has when it was cut."""


def with_whole(findings: Sequence[Finding]) -> list[Finding]:
    """The findings; one that another one states in full has all that this one has."""
    # The first is a title's.
    findings = [*(_uncut(finding, findings[1:]) for finding in findings[:1]), *findings[1:]]
    whole = {key: finding.diagnosis for finding in reversed(findings) if (key := _stated(finding.diagnosis, True))}
    if not whole:
        return findings
    return [
        replace(finding, diagnosis=whole[key])
        if (key := _stated(finding.diagnosis, False)) and key in whole
        else finding
        for finding in findings
    ]


def _uncut(finding: Finding, below: Sequence[Finding]) -> Finding:
    """The finding, or what another one below says if this is a part of it that was cut off."""
    diagnosis, end = finding.diagnosis, finding.diagnosis.message[-_END:]
    if diagnosis.kind not in (Kind.ENVIRONMENT, Kind.PYTHON_EXCEPTION) or len(end) < _END:
        return finding
    longer = (other.diagnosis for other in below if other.diagnosis.kind is diagnosis.kind)
    whole = next((other for other in longer if end in other.message and not other.message.endswith(end)), None)
    return replace(finding, diagnosis=whole) if whole and whole.exception == diagnosis.exception else finding


def _stated(diagnosis: Diagnosis, in_full: bool) -> tuple[Kind, str] | None:
    """What failed, if the diagnosis has all of it, or only a part."""
    match diagnosis.kind:
        case Kind.ASSERTION:
            is_full, text = diagnosis.file is not None, diagnosis.headline.partition(": ")[2]
        case Kind.OUT_OF_RESOURCES:
            is_full, text = diagnosis.required is not None, diagnosis.resource or ""
        case Kind.LAUNCH_ERROR:
            # A driver's `an illegal memory access was encountered`, wrapped in a sentence.
            words = diagnosis.headline.partition(": ")[2].split()
            is_full, text = len(words) > _FEW_WORDS, " ".join(words[:_FEW_WORDS])
        case Kind.MLIR_DIAGNOSTIC:
            is_full, text = diagnosis.source is not None, diagnosis.headline
        case _:
            return None
    return (diagnosis.kind, text) if is_full is in_full and text else None


def with_text(findings: Sequence[Finding], lines: Sequence[str]) -> list[Finding]:
    """The findings; an exception that is a name alone has the text that a line gives to it."""
    names = [finding.diagnosis.exception for finding in findings if _is_name(finding.diagnosis)]
    if not names:
        return [*findings]
    texts = {match["name"]: match["text"] for line in reversed(lines) if (match := _TEXT.search(line))}
    return [
        replace(finding, diagnosis=_with_text(finding.diagnosis, shown))
        if _is_name(finding.diagnosis) and (shown := texts.get(finding.diagnosis.exception or ""))
        else finding
        for finding in findings
    ]


def _is_name(diagnosis: Diagnosis) -> bool:
    return diagnosis.exception is not None and diagnosis.message.strip() == diagnosis.exception


def _with_text(diagnosis: Diagnosis, shown: str) -> Diagnosis:
    bounded = bounded_diagnosis(diagnosis.kind, shown, shown)
    return replace(diagnosis, headline=bounded.headline, message=bounded.message)
