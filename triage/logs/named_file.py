"""The compiler's file at which a short text says, in words, that an assertion failed.

``rc=134, an assert of LLVM's (Sequence.h:275)``
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.finding import Finding
from triage.logs.patterns import regex
from triage.logs.text import last_component
from triage.model.diagnosis import Kind

_FILE = regex(r"(?<![\w/.\\-])(?P<file>[\w./\\-]{1,200}\.(?:cpp|cc|h|hpp)):(?P<line>[1-9]\d{0,6})\b")


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
