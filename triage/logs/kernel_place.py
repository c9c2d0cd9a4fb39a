"""The kernel's line of a failure whose recogniser knows none.

It stands in the same line, in the words of whoever retells it: ``MLIR error in kernel.py line 88: …``. Or the pass
manager prints it when the pipeline ends: ``LLVM ERROR: Unsupported rounding mode for conversion.``, then a reproducer
of any length, then ``kernel.py:36:0: note: Pipeline failed while executing [`ConvertTritonGPUToLLVM` on …``
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.diagnostic_lines import parse
from triage.logs.finding import Finding, Specificity
from triage.logs.other_programs import is_sentence
from triage.logs.patterns import regex
from triage.logs.text import last_component
from triage.logs.user_frames import frame_file, users_line
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation, Trait

# Loggers state no column.
_STATED = regex(
    r"(?<![^\s:\"'`(,])(?P<file>[^\s:\"'`()\[\]]{1,400}\.py)"
    r"(?:\((?P<closed>\d{1,7})\): (?=error\b)"
    r"|\"?:(?P<line>\d{1,7}):(?P<column>\d{1,7})\b|,? line (?P<spelled>\d{1,7})\b)"
)
# The same in a sentence.
_TOLD = regex(
    r"(?<![^\s:\"'`(,])(?P<file>[^\s:\"'`()\[\]]{1,400}\.py)[`'\"]?(?::|,? (?:at )?line )(?P<line>[1-9]\d{0,6})\b"
    r"|\b[Ll]ine (?P<number>[1-9]\d{0,6}) (?:of|in) [`'\"]?(?P<of>[^\s:\"'`()\[\]]{1,400}\.py)\b"
)
# Several lines of a file: which of them failed first is not told.
_TOLD_LINES = regex(
    r"(?<![^\s:\"'`(,])(?P<file>[^\s:\"'`()\[\]]{1,400}\.py)[`'\"]?,? \(?(?:(?:at|on|in) )?[Ll]ines? "
    r"\d{1,7}(?:, \d{1,7}){0,8}(?:,? (?:and|or|to|&) | ?[-\u2013] ?)\d{1,7}\b"
    r"|\b[Ll]ines \d{1,7}(?:, \d{1,7}){0,8}(?:,? (?:and|or|to|&) | ?[-\u2013] ?)\d{1,7} (?:of|in) "
    r"[`'\"]?(?P<of>[^\s:\"'`()\[\]]{1,400}\.py)\b"
)


def with_told_place(findings: Sequence[Finding], lines: Iterable[str]) -> list[Finding]:
    """The findings of a short text; one without a location gets the only line of the user's that sentences name,
    or the only file where they name several of its lines."""
    if not any(_lacks_place(finding.diagnosis) for finding in findings):
        return [*findings]
    sentences = [
        line
        for line in lines
        if ".py" in line and is_sentence(line) and parse(line) is None and frame_file(line) is None
    ]
    told = {
        (match["file"] or match["of"], match["line"] or match["number"])
        for line in sentences
        for match in _TOLD.finditer(line)
        if not _TOLD_LINES.match(line, match.start())
    }
    files = {match["file"] or match["of"] for line in sentences for match in _TOLD_LINES.finditer(line)}
    if not told and len(files) == 1 and users_line(file := files.pop(), f"{file}:1"):
        return [
            replace(finding, diagnosis=replace(finding.diagnosis, file=last_component(file)))
            if _lacks_place(finding.diagnosis)
            else finding
            for finding in findings
        ]
    if len(told) != 1:
        return [*findings]
    ((file, number),) = told
    source = users_line(file, f"{file}:{number}")
    if source is None:
        return [*findings]
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, source=source), locations=(source,))
        if _lacks_place(finding.diagnosis)
        else finding
        for finding in findings
    ]


def with_stated_place(finding: Finding, line: str) -> Finding:
    """The finding; without a location it gets the only one that its line states."""
    diagnosis = finding.diagnosis
    if not _lacks_place(diagnosis) or ".py" not in line:
        return finding
    stated = [*_STATED.finditer(line)]
    if len(stated) != 1:
        return finding
    number, column = stated[0]["line"] or stated[0]["spelled"] or stated[0]["closed"], stated[0]["column"]
    source = SourceLocation(stated[0]["file"], int(number), int(column) if column else None)
    return replace(finding, diagnosis=replace(diagnosis, source=source), locations=(source,))


def _lacks_place(diagnosis: Diagnosis) -> bool:
    of_kernel = diagnosis.kind.has(Trait.IN_PASS) or diagnosis.kind is Kind.FRONTEND_ERROR
    return of_kernel and diagnosis.source is None and diagnosis.file is None


def with_place_of_pipeline(findings: Sequence[Finding], boundaries: Sequence[int]) -> list[Finding]:
    """The findings, in the log's order; a failure in a pass without a location gets that of the pipeline's end below.

    What ends a compile, as an exception does, ends the search; so does a line of ``boundaries``, where something else
    begins.
    """
    result: list[Finding] = []
    end: Finding | None = None
    for finding in reversed(findings):
        if end is not None and bisect_right(boundaries, finding.position) < bisect_right(boundaries, end.position):
            end = None
        diagnosis = finding.diagnosis
        if _is_end_of_pipeline(finding):
            end = finding
        elif diagnosis.exception is not None:
            end = None
        elif end and diagnosis.source is None and diagnosis.kind.has(Trait.IN_PASS):
            located = replace(diagnosis, source=end.diagnosis.source)
            result.append(replace(finding, diagnosis=located, locations=end.locations))
            continue
        result.append(finding)
    return result[::-1]


def _is_end_of_pipeline(finding: Finding) -> bool:
    """True for the pass manager's own line with a location; an exception's is of the line that launched the kernel."""
    diagnosis = finding.diagnosis
    is_tail = finding.specificity is Specificity.TAIL and diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    return is_tail and diagnosis.source is not None and diagnosis.exception is None
