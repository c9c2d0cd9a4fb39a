"""A message quoted alone, without the exception or the ``error:`` that it came with.

Only for a text of a few lines without any other failure: in a longer one such words prove nothing.
"""

import re

from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.frontend_texts import is_frontends
from triage.model.diagnosis import Kind

#: Lines, and characters of each, beyond which a text is not a quotation.
MAX_LINES = 8
_MAX_LINE = 600

_DEVICE = re.compile(r"misaligned address|address misaligned|illegal memory access")
_PYTHON = re.compile(r"(?:map::at|'\w{1,80}' object has no attribute '\w{1,80}'|name '\w{1,80}' is not defined)\.?$")
# A term of the compiler, and a word for what is wrong with it.
_TERM = re.compile(r"layout|encoding|MMA|intrinsic|memdesc|swizzl|operand|legaliz", re.IGNORECASE)
_WRONG = re.compile(r"\b(?:must|unsupported|expected|invalid|failed|no matching|cannot|not supported)\b", re.IGNORECASE)


def _kind(line: str) -> Kind | None:
    if is_frontends(line):
        return Kind.FRONTEND_ERROR
    if _DEVICE.match(line):
        return Kind.LAUNCH_ERROR
    if _PYTHON.match(line):
        return Kind.PYTHON_EXCEPTION
    return Kind.MLIR_DIAGNOSTIC if _TERM.search(line) and _WRONG.search(line) else None


def quoted(lines: list[str]) -> Finding | None:
    """The failure that a few lines quote, if any."""
    if not 0 < len(lines) <= MAX_LINES:
        return None
    for position, line in enumerate(lines):
        message = line.strip().strip("\"'> ") if not line.strip().startswith("'") else line.strip()
        if len(message) <= _MAX_LINE and (kind := _kind(message)):
            stage = "source" if kind is Kind.FRONTEND_ERROR else None
            return Finding(bounded_diagnosis(kind, message, message, stage=stage), Specificity.DIAGNOSTIC, position)
    return None
