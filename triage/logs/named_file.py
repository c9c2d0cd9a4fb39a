"""The compiler's file at which a short text says, in words, that an assertion failed, or where it breaks off in one.

``rc=134, an assert of LLVM's (Sequence.h:275)``
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.finding import Finding
from triage.logs.functions import function_name
from triage.logs.patterns import regex
from triage.logs.text import last_component
from triage.model.diagnosis import Kind

_FILE = regex(r"(?<![\w/.\\-])(?P<file>[\w./\\-]{1,200}\.(?:cpp|cc|h|hpp)):(?P<line>[1-9]\d{0,6})\b")


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


def with_named_file(findings: Sequence[Finding], lines: Iterable[str]) -> list[Finding]:
    """The findings; an assertion without a file gets the only one that the lines name."""
    if not any(_lacks_file(finding) for finding in findings):
        return [*findings]
    named = {(last_component(match["file"]), int(match["line"])) for line in lines for match in _FILE.finditer(line)}
    if len(named) != 1:
        return [*findings]
    file, number = named.pop()
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, file=file, line=number))
        if _lacks_file(finding)
        else finding
        for finding in findings
    ]


def _lacks_file(finding: Finding) -> bool:
    return finding.diagnosis.kind is Kind.ASSERTION and finding.diagnosis.file is None
