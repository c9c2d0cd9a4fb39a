"""The compiler's function in which a short text says, in words, that the compiler crashed.

``Segmentation fault in `triton::ir::builder::insert<triton::ir::instruction>```
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from triage.logs.finding import Finding
from triage.logs.functions import function_name
from triage.logs.patterns import regex
from triage.model.diagnosis import Kind

_CRASHED_IN = regex(
    r"\b(?:seg(?:mentation)?[ -]?fault(?:s|ed|ing)?|sigsegv|sigabrt|crash(?:es|ed|ing)?|abort(?:s|ed|ing)?"
    r"|null(?:ptr|[ -]pointer) dereference)\b[^.\n]{0,40}?\b(?:in|inside|at) `?"
    r"(?P<function>(?:[a-z_]\w{1,60}::){1,8}~?[a-z_]\w{1,60}(?:<[\w:<>, ]{1,200}>)?)",
    re.IGNORECASE,
)


def with_named_function(findings: Sequence[Finding], lines: Iterable[str]) -> list[Finding]:
    """The findings; a crash without a place gets the only function that the lines name."""
    if not any(_lacks_function(finding) for finding in findings):
        return [*findings]
    named = {function_name(match["function"]) for line in lines for match in _CRASHED_IN.finditer(line)}
    if len(named) != 1:
        return [*findings]
    function = named.pop()
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, function=function))
        if _lacks_function(finding)
        else finding
        for finding in findings
    ]


def _lacks_function(finding: Finding) -> bool:
    diagnosis = finding.diagnosis
    return diagnosis.kind in (Kind.SEGFAULT, Kind.ABORT) and diagnosis.file is None and diagnosis.function is None
