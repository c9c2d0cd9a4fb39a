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
# What programs do not print.
_NOT_ENGLISH = regex(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
# A file in a sentence; words of languages without spaces and their punctuation may stand on either side.
_BEFORE = r"(?<![^\s:\"'`(,\u3000-\uffef])"
_PYTHON = r"[^\s:\"'`()\[\]\u3000-\uffef]{1,400}\.py"
# The same in a sentence.
_TOLD = regex(
    rf"{_BEFORE}(?P<file>{_PYTHON})[`'\"]?(?::|,? (?:at )?line )(?P<line>[1-9]\d{{0,6}})(?![0-9A-Za-z_])"
    rf"|\b[Ll]ine (?P<number>[1-9]\d{{0,6}}) (?:of|in) [`'\"]?(?P<of>{_PYTHON})\b"
)
# Several lines of a file: which of them failed first is not told.
_TOLD_LINES = regex(
    rf"{_BEFORE}(?P<file>{_PYTHON})[`'\"]?,? \(?(?:(?:at|on|in) )?[Ll]ines? "
    r"\d{1,7}(?:, \d{1,7}){0,8}(?:,? (?:and|or|to|&) | ?[-\u2013] ?)\d{1,7}\b"
    r"|\b[Ll]ines \d{1,7}(?:, \d{1,7}){0,8}(?:,? (?:and|or|to|&) | ?[-\u2013] ?)\d{1,7} (?:of|in) "
    rf"[`'\"]?(?P<of>{_PYTHON})\b"
)
# A file of which a sentence says that it fails.
_FAILS = regex(
    rf"{_BEFORE}[`'\"]?(?P<file>{_PYTHON})[`'\"]?(?: \([^()]{{1,120}}\))? "
    r"(?:\w{2,12} ){0,2}(?:hits?|fails?|failed|failing|errors?|crash(?:es|ed)?|asserts?|raises|aborts"
    r"|(?:does not|doesn't|won't|cannot|can't) (?:compile|run|build))\b"
    r"|\b(?:fail(?:s|ed|ing|ures?)?|errors?|crash(?:es|ed)?|ICE|assertion) (?:\w{2,12} ){0,3}"
    rf"(?:in|of|from|at|running|compiling) (?:the )?[`'\"]?(?P<of>{_PYTHON})"
    r"(?![\w:]|[`'\"]?,? \(?(?:at |on )?[Ll]ine)"
)


def _is_told(line: str) -> bool:
    """True for a line in somebody's own words, in whatever language; a diagnostic that has no location of its own may
    be part of it."""
    if frame_file(line) is not None or not (is_sentence(line) or _NOT_ENGLISH.search(line)):
        return False
    diagnostic = parse(line)
    return diagnostic is None or not diagnostic.locations


def with_told_place(findings: Sequence[Finding], lines: Iterable[str]) -> list[Finding]:
    """The findings of a short text; one without a location gets the only line of the user's that sentences name,
    or the only file where they name several of its lines, or none, and say that it fails."""
    if not any(_lacks_place(finding.diagnosis) for finding in findings):
        return [*findings]
    sentences = [line for line in lines if ".py" in line and _is_told(line)]
    told = {
        (match["file"] or match["of"], match["line"] or match["number"])
        for line in sentences
        for match in _TOLD.finditer(line)
        if not _TOLD_LINES.match(line, match.start())
    }
    files = {
        match["file"] or match["of"]
        for pattern in (_TOLD_LINES, _FAILS)
        for line in sentences
        for match in pattern.finditer(line)
    }
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
