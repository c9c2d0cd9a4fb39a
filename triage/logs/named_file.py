"""The compiler's file at which a short text says, in words, that the compiler failed, or where it breaks off.

``rc=134, an assert of LLVM's (Sequence.h:275)``
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.finding import Finding
from triage.logs.functions import function_name
from triage.logs.patterns import regex
from triage.logs.text import last_component
from triage.model.diagnosis import Diagnosis, Kind

# With the function before or behind it, which is told from words by its spelling.
_FUNCTION = r"(?=\w{0,60}(?:[a-z][A-Z]|::))[\w:]{3,200}"
_FILE = regex(
    rf"(?:(?<![\w:])(?P<before>{_FUNCTION})`?(?:\(\))?`?,? (?:\(|at |in ))?`?(?<![\w/.\\-])"
    r"(?P<file>[\w./\\-]{1,200}\.(?:cpp|cc|h|hpp))`?(?::|#L|,? line |,? l\. ?)(?P<line>[1-9]\d{0,6})\b"
    rf"(?:`?(?:,? in |,? ?\(|: (?=[\w:]{{3,200}}\())`?(?P<behind>{_FUNCTION}))?"
)
# One without a line.
_ALONE = regex(r"(?<![\w/.\\-])(?P<file>(?:[\w.-]{1,60}/){0,12}[A-Z]\w{2,80}\.(?:cpp|cc))(?![\w:#])")
#: Failures of the compiler's own code.
_OF_COMPILER = frozenset({Kind.ASSERTION, Kind.UNREACHABLE, Kind.LLVM_FATAL, Kind.SEGFAULT, Kind.ABORT})
# An assertion that the text breaks off in, before the word.
_CUT = regex(
    r"[\w./-]{1,200}: (?:\S{0,400}[/\\])?(?P<file>[\w.-]{1,100}\.(?:cpp|cc|h|hpp)):(?P<line>[1-9]\d{0,6}): "
    r"(?P<function>(?!error|warning|note|remark|fatal)(?!.*\bAssertion ).{2,4000}\(.{0,4000})"
)


def with_cut_assertion(findings: Sequence[Finding], lines: Sequence[str]) -> list[Finding]:
    """The findings; an error without a location, as a verifier prints it, is where the assertion fails that the lines
    end in."""
    cut = _CUT.match(lines[-1]) if lines else None
    if cut is None:
        return [*findings]
    file, line, function = cut["file"], int(cut["line"]), function_name(cut["function"])
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, file=file, line=line, function=function))
        if _lacks_location(finding)
        else finding
        for finding in findings
    ]


def _lacks_location(finding: Finding) -> bool:
    diagnosis = finding.diagnosis
    return diagnosis.kind is Kind.MLIR_DIAGNOSTIC and diagnosis.source is None and diagnosis.file is None


def named_files(line: str) -> list[tuple[str, int, str | None]]:
    """The files of C++ that a line names, each with its line and the function that is named beside it."""
    return [
        (last_component(match["file"]), int(match["line"]), function_name(match["before"] or match["behind"] or ""))
        for match in _FILE.finditer(line)
    ]


def with_named_file(findings: Sequence[Finding], lines: Iterable[str]) -> list[Finding]:
    """The findings; a failure of the compiler's code without a place gets the only one that the lines name, which is a
    file alone where they name no line."""
    if not any(_lacks_file(finding) for finding in findings):
        return [*findings]
    stated = [*lines]
    named: dict[tuple[str, int | None], str | None] = {at[:2]: at[2] for line in stated for at in named_files(line)}
    named = named or {(last_component(match["file"]), None): None for line in stated for match in _ALONE.finditer(line)}
    if len(named) != 1:
        return [*findings]
    ((file, number), function) = named.popitem()
    return [
        replace(finding, diagnosis=_located(finding.diagnosis, file, number, function))
        if _lacks_file(finding)
        else finding
        for finding in findings
    ]


def _lacks_file(finding: Finding) -> bool:
    diagnosis = finding.diagnosis
    return diagnosis.kind in _OF_COMPILER and diagnosis.file is None and diagnosis.source is None


def _located(diagnosis: Diagnosis, file: str, line: int | None, function: str | None) -> Diagnosis:
    return replace(diagnosis, file=file, line=line, function=diagnosis.function or function)
