"""A failure behind a prefix that `clean.PREFIXES` does not list: read where the words of a recogniser begin.

``      caught RuntimeError: could not allocate output register``, ``# DSLRuntimeError: Unable to convert …``

Asked only while nothing else states a cause: in a sentence such words may be of another failure.
"""

from collections.abc import Iterator
from dataclasses import replace

from triage.logs.finding import Finding
from triage.logs.patterns import regex
from triage.logs.window import Window
from triage.model.diagnosis import Kind, Trait

#: Of a text so many characters are tried, those of a line once for each recogniser: as many as 2,000 lines of 100
#: characters for one have. Where each line has the words of four, they take 0.4 s.
MOST_CHARACTERS = 200_000
#: Of a line so many beginnings are tried.
_MOST_BEGINNINGS = 8
# Behind indentation, behind the mark that ends a prefix (`clang: error: ` names a program), and where the name of an
# exception with a text begins.
_BEGINNING = regex(
    r"^\s{1,80}(?=\S)|^(?:[-+•]|\d{1,3}\.)\s{1,4}(?=\S)"
    r"|(?::(?!\s{1,8}(?:fatal )?error: )|[\])>|#*;]|--|//| -|=>|->|→)\s{1,8}(?=\S)"
    # a type face, a field, and languages without spaces
    r"|(?:\s|^)\*{1,3}(?=['\w])|(?<=error)=['\"]?(?=\w)|\uff1a\s{0,4}(?=\S)"
    r"|(?<=[\u3040-\u30ff\u4e00-\u9fff])(?=error: \S)"
    r"|\s[`'\"(]?(?=(?:(?:[A-Za-z_]\w{0,60}|<locals>)\.){0,8}[A-Z]\w{1,60}(?:Error|Exception): \S)"
)
# What follows from a cause that stands before it, where lines were joined.
_CONSEQUENCE = regex(
    r"(?<=[^\s:])\s{1,8}(?:(?:[a-z_]\w{0,60}\.){0,8}(?:RuntimeError: PassManager::run|CompilationError: at \d"
    r"|(?:InductorError|BackendCompilerFailed|CalledProcessError|EngineDeadError|ProcessExitedException): )"
    r"|(?:\S{1,400} (?:note|error): )?(?:Pipeline failed while executing|Failures have been detected while processing)"
    r"|LLVM ERROR: Failed to translate|Aborted\b|Fatal Python error: )"
)
# A line of Python source (its comments show what was printed), and what is no failure.
_NOT_PRINTED = regex(
    r"\s{0,80}(?:raise|assert|return|print|if|def|except|with|for|import|from)\b"
    r"|.{0,400}\b(?:(?i:warning|remark)s?|note|logger\.\w{1,20}\():? "
)


def _beginnings(line: str) -> Iterator[str]:
    for number, match in enumerate(_BEGINNING.finditer(line)):
        if number == _MOST_BEGINNINGS:
            return
        yield line[match.end() :]


def _says_more(finding: Finding) -> bool:
    """False for what any program says, ``clang: error: no such file``, and for the name of an exception alone."""
    diagnosis = finding.diagnosis
    kind, is_name = diagnosis.kind, diagnosis.exception is not None and diagnosis.message == diagnosis.exception
    return kind is not Kind.OTHER and not kind.has(Trait.PROCESS_END) and not is_name


def behind_prefix(window: Window) -> tuple[Finding, Window] | None:
    """The failure that a line states behind a prefix, with the window as it is without; None where it states none."""
    if _NOT_PRINTED.match(window.line):
        return None
    whole = window.line
    cause = whole[: end.start()] if (end := _CONSEQUENCE.search(whole)) else ""
    for rest in [*([cause, *_beginnings(cause)] if cause else ()), *_beginnings(whole)]:
        shown = replace(window, line=rest)
        for recogniser in window.readers:
            finding = recogniser.recognise(shown)
            if finding and _says_more(finding):
                return finding, shown
    return None
