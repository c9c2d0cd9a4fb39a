"""Selects where a failure happened among the locations in its text.

A failure is at one place: a line of the kernel or of what launched it (``source``), or one of the code that failed
(``file``, ``line``, ``function``). Fields that its recogniser set are not changed. A failure without a location takes
the first available of these:

1. the line of the kernel that its own line states: :func:`stated`
2. the end of its traceback, the user's line before Triton's: :func:`raised`
3. the line of the kernel in the pass manager's report below it: :func:`of_pipeline`
4. what the rest of the text shows: ``_IN_COMPILER``, then ``_IN_PYTHON``, in their order

A rule with several candidates yields none. The pass in which it failed is determined in the same way.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from triage.logs.context import Context, Traceback
from triage.logs.finding import Finding, Specificity
from triage.logs.named_pass import failing_pass, named_pass
from triage.logs.named_places import (
    crashed_function,
    cut_assertion,
    file_in_prose,
    line_in_prose,
    named_file,
    stated_line,
)
from triage.logs.native_frames import first_stack
from triage.logs.recognisers import stack_trace
from triage.logs.text import last_component
from triage.logs.user_frames import closing_line, with_text
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation, Trait

_FATAL = "LLVM ERROR: "
Fields: TypeAlias = Mapping[str, Any]
#: Exceptions that vendors' compilers raise when a pass fails.
_RAISED_BY_PASS = "MLIRCompilationError"
_OF_PYTHON = (Kind.ENVIRONMENT, Kind.PYTHON_EXCEPTION)


@dataclass(frozen=True, slots=True)
class _Shown:
    """Input of the rules: the failures so far, the context, and the lines of a short text."""

    findings: Sequence[Finding]
    context: Context
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A way to locate failures, and the failures to which it applies."""

    applies: Callable[[Diagnosis], bool]
    find: Callable[[_Shown, Kind], Fields | None]


def _is_located(diagnosis: Diagnosis) -> bool:
    """Whether a line of the kernel or the compiler is known; a line of generated PTX does not count."""
    return diagnosis.source is not None or (diagnosis.file is not None and diagnosis.kind is not Kind.PTXAS)


def _lacks_pass(diagnosis: Diagnosis) -> bool:
    is_in_pass = diagnosis.kind.has(Trait.IN_PASS) or diagnosis.exception == _RAISED_BY_PASS
    return is_in_pass and diagnosis.pass_name is None


def _lacks_function(diagnosis: Diagnosis) -> bool:
    is_crash = diagnosis.kind in (Kind.SEGFAULT, Kind.ABORT, Kind.ASSERTION, Kind.UNKNOWN)
    return is_crash and diagnosis.file is None and diagnosis.function is None


def _lacks_stack(diagnosis: Diagnosis) -> bool:
    may_be_native = diagnosis.kind in (Kind.UNKNOWN, Kind.PYTHON_EXCEPTION) and not _is_located(diagnosis)
    return may_be_native or _lacks_function(diagnosis)


def _gave_up(diagnosis: Diagnosis) -> bool:
    return diagnosis.kind.has(Trait.GAVE_UP) and not _is_located(diagnosis)


def _is_nowhere(diagnosis: Diagnosis) -> bool:
    return _gave_up(diagnosis) or _lacks_function(diagnosis)


def _may_be_cut(diagnosis: Diagnosis) -> bool:
    is_diagnostic = diagnosis.kind is Kind.MLIR_DIAGNOSTIC and not _is_located(diagnosis)
    return is_diagnostic or _gave_up(diagnosis)


def _lacks_kernel(diagnosis: Diagnosis) -> bool:
    of_kernel = diagnosis.kind.has(Trait.IN_PASS) or diagnosis.kind is Kind.FRONTEND_ERROR
    return of_kernel and not _is_located(diagnosis)


def _of_python(diagnosis: Diagnosis, *kinds: Kind) -> bool:
    """True for an exception around the compiler or in its Python code; its location is the line that raised it."""
    return diagnosis.kind in (*_OF_PYTHON, *kinds) and diagnosis.exception is not None and not _is_located(diagnosis)


def _in_code(raised: tuple[SourceLocation, str] | None) -> Fields | None:
    if raised is None:
        return None
    source, function = raised
    return {"file": last_component(source.file), "line": source.line, "function": function}


def _open_source(shown: _Shown, kind: Kind) -> Fields | None:
    """The user's line in a truncated traceback at the end, which repeats the last failure; of one in a pass, the line
    of the kernel takes precedence."""
    last = shown.findings[-1].diagnosis
    if kind is not last.kind or (shown.lines and kind.has(Trait.IN_PASS) and any(map(_is_of_kernel, shown.findings))):
        return None
    return {"source": shown.context.open_source}


def _is_of_kernel(finding: Finding) -> bool:
    return finding.diagnosis.kind.has(Trait.IN_PASS) and finding.diagnosis.source is not None


def _like_others(shown: _Shown, kind: Kind) -> Fields | None:
    """The location of the first failure of the same kind, or of the kind of one with the same text; the user's line in
    the last traceback if no failure has one.

    A short text is about one failure.
    """
    if not shown.lines:
        return None
    diagnoses = [finding.diagnosis for finding in shown.findings]
    messages = [diagnosis.message for diagnosis in diagnoses if diagnosis.kind is kind]
    kinds = {each.kind for each in diagnoses if any(_is_part(each.message, message) for message in messages)}
    located = [diagnosis for diagnosis in diagnoses if _is_located(diagnosis)]
    alike = (diagnosis.source for diagnosis in located if diagnosis.kind in kinds)
    return {"source": next(alike, None) if located else shown.context.last_source}


def _is_end(diagnosis: Diagnosis) -> bool:
    return diagnosis.kind.has(Trait.PROCESS_END) or diagnosis.kind is Kind.UNKNOWN


def _where_it_ended(shown: _Shown, _: Kind) -> Fields | None:
    """The innermost frame of Python code that ran when the process ended, as Python's faulthandler prints it."""
    ends = (finding.diagnosis for finding in shown.findings if _is_end(finding.diagnosis))
    last = next((end for end in ends if end.file is not None), None)
    return {"file": last.file, "line": last.line, "function": last.function} if last and shown.lines else None


def _is_part(message: str, other: str) -> bool:
    """Whether one of two messages repeats the other: what gives up quotes the reason."""
    first, second = (text.partition(_FATAL)[2] or text for text in (message, other))
    return first in second or second in first


#: The pass and the code that failed, which distinguish failures.
_IN_COMPILER = (
    _Rule(_lacks_pass, lambda shown, _: {"pass_name": named_pass(shown.lines)}),
    # Back ends of vendors assign memory in a pass.
    _Rule(
        lambda diagnosis: diagnosis.kind is Kind.OUT_OF_RESOURCES and diagnosis.pass_name is None,
        lambda shown, _: {"pass_name": failing_pass(shown.lines)},
    ),
    _Rule(_may_be_cut, lambda shown, _: cut_assertion(shown.lines)),
    _Rule(_lacks_function, lambda shown, _: crashed_function(shown.lines)),
    _Rule(_lacks_stack, lambda shown, _: stack_trace.located(first_stack(shown.lines))),
    _Rule(_gave_up, lambda shown, _: named_file(shown.lines)),
    _Rule(
        lambda diagnosis: _gave_up(diagnosis) or _lacks_function(diagnosis), lambda shown, _: file_in_prose(shown.lines)
    ),
    _Rule(lambda diagnosis: _gave_up(diagnosis) or _lacks_function(diagnosis), _where_it_ended),
)
#: The line of the kernel or of what launched it, and Triton's Python code where the text has no such line.
_IN_PYTHON = (
    _Rule(lambda diagnosis: not _is_located(diagnosis), _open_source),
    _Rule(lambda diagnosis: not _is_located(diagnosis), _like_others),
    _Rule(
        lambda diagnosis: _of_python(diagnosis, Kind.FRONTEND_ERROR),
        lambda shown, _: _in_code(shown.context.only_tritons) if shown.lines else None,
    ),
    _Rule(_lacks_kernel, lambda shown, _: {"source": line_in_prose(shown.lines)}),
    _Rule(_of_python, lambda shown, _: {"source": line_in_prose(shown.lines, failed=True)}),
)


def _at(finding: Finding, fields: Fields | None) -> Finding:
    """The finding with those of the fields that it lacks."""
    diagnosis = finding.diagnosis
    lacking = {name: value for name, value in (fields or {}).items() if getattr(diagnosis, name) is None}
    return replace(finding, diagnosis=replace(diagnosis, **lacking)) if lacking else finding


def in_compiler(findings: Sequence[Finding], context: Context, lines: Sequence[str]) -> list[Finding]:
    """The findings with the pass and the code that failed, from the rest of the text.

    ``lines``: the lines of a short text, empty for a long one.
    """
    return _located(_IN_COMPILER, findings, context, lines)


def in_python(findings: Sequence[Finding], context: Context, lines: Sequence[str]) -> list[Finding]:
    """The findings with a line of the kernel, of what launched it or of Triton's Python code."""
    return _located(_IN_PYTHON, findings, context, lines)


def _located(
    rules: Iterable[_Rule], findings: Sequence[Finding], context: Context, lines: Sequence[str]
) -> list[Finding]:
    result = [*findings]
    for rule in rules:
        shown = _Shown(tuple(result), context, lines)
        kinds = {finding.diagnosis.kind for finding in result if rule.applies(finding.diagnosis)}
        places = {kind: rule.find(shown, kind) for kind in kinds}
        result = [
            _at(finding, places[finding.diagnosis.kind]) if rule.applies(finding.diagnosis) else finding
            for finding in result
        ]
    return result


def stated(finding: Finding, line: str) -> Finding:
    """The finding with the kernel location that its line states, if there is exactly one."""
    if not _lacks_kernel(finding.diagnosis) or (source := stated_line(line)) is None:
        return finding
    return replace(_at(finding, {"source": source}), locations=(source,))


def raised(finding: Finding, window: Window, traceback: Traceback | None) -> Finding:
    """The finding for an exception with the line at which its traceback ends."""
    source = closing_line(window.line, [window.line, *window.after]) or (traceback.source if traceback else None)
    if source is not None and not _is_located(finding.diagnosis):
        finding = _at(finding, {"source": with_text(source, window.before)})
    if traceback is not None and _of_python(finding.diagnosis):
        finding = _at(finding, _in_code(traceback.raised))
    return finding


def of_pipeline(findings: Sequence[Finding], boundaries: Sequence[int]) -> list[Finding]:
    """The findings in log order; a failure in a pass takes the location in the pass manager's report below it.

    The search ends at the end of the compile (such as an exception) and at a line of ``boundaries``, where another
    part of the log begins.
    """
    result: list[Finding] = []
    end: Finding | None = None
    for finding in reversed(findings):
        if end is not None and bisect_right(boundaries, finding.position) < bisect_right(boundaries, end.position):
            end = None
        diagnosis = finding.diagnosis
        if _is_report(finding):
            end = finding
        elif diagnosis.exception is not None:
            end = None
        elif end and diagnosis.source is None and diagnosis.kind.has(Trait.IN_PASS):
            result.append(replace(_at(finding, {"source": end.diagnosis.source}), locations=end.locations))
            continue
        result.append(finding)
    return result[::-1]


def _is_report(finding: Finding) -> bool:
    """True for the pass manager's own line with a location; an exception's location is the kernel launch."""
    diagnosis = finding.diagnosis
    is_tail = finding.specificity is Specificity.TAIL and diagnosis.kind is Kind.MLIR_DIAGNOSTIC
    return is_tail and diagnosis.source is not None and diagnosis.exception is None


def in_pass(findings: Iterable[Finding], context: Context, lines: Sequence[str]) -> list[Finding]:
    """The findings with the pass that ran at their lines; in a short text, with its only failed pass.

    A short text is about one failure, in whatever order it was printed.
    """
    failed = context.only_failed if lines else None
    return [
        _at(finding, {"pass_name": context.pass_at(finding.position) or failed})
        if finding.diagnosis.kind.has(Trait.IN_PASS)
        else finding
        for finding in findings
    ]
