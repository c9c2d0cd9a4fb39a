"""A report of CuTe DSL's, in the form of `triage.logs.cute_report`: on the user's code, the verifier's, the back end's.

``error[UNSUP_EARLY_EXIT]: Early exit (break) is not allowed in `k`.``, ``error[INTERNAL]: The compiler could not build
valid IR for this code.``, ``error: PTX assembly failed``; the cause of the last two is in the labelled lines below.
Release 4.6 writes ``[Internal Error] The compiler hit a problem …``, and the cause behind ``Detail:`` and ``Cause:``.
"""

from dataclasses import replace
from itertools import chain, islice

from triage.logs import cute_report
from triage.logs.cute_back_end import BackEndError, back_end_error
from triage.logs.cute_report import INTERNAL, CuteReport
from triage.logs.cute_texts import EXCEPTION, is_wrapper, undecorated
from triage.logs.diagnostic_lines import SYMPTOMS, parse
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Kind

_VERIFIED = "IR verification failed: "
_INTERNAL_EXCEPTION = "DSLRuntimeError"
_CAUSE = "Caused exception: "
_ENVELOPE = "[Internal Error] "
_DETAIL = regex(r"Detail: (?P<text>\S.{0,4000})$")
# A line of a report whose beginning was not pasted.
_REASON = f"error: {_VERIFIED}"
#: Lines of release 4.6's report of an internal error that are read.
_MOST_OF_ENVELOPE = 30
#: Lines without text between an exception and its report.
_MOST_BLANK = 3
# The operation, as the compiler prints it behind the reason.
_OPERATION = regex(r": (?:%[\w#:, %]{1,200} = |\"\w{1,40}\.[\w.]{1,80}\"\().{0,4000}$")
# What says only that the DSL does not blame the user.
_BLAMES_ITSELF = (
    "This is a bug in the DSL",
    "Re-run with CUTE_DSL_SHOW_STACKTRACE",
    "Please report this",
    "Check the source location above",
)

# Not of the program: the library that what is compiled is linked with.
_RUNTIME_LIBRARY = "The CUTE_DSL runtime library"


def _notes(report: CuteReport) -> list[str]:
    texts = chain.from_iterable(report.texts(label) for label in ("note", "suggestion"))
    return [text.removeprefix(_CAUSE) for text in texts if not _is_phrase(text)]


def _message(first: str, report: CuteReport) -> str:
    below = (detail for detail in report.details if not detail.text.endswith(first))
    return "\n".join([first, *(f"{detail.label}: {detail.text}" for detail in below if not _is_phrase(detail.text))])


def _is_phrase(text: str) -> bool:
    return text.startswith(_BLAMES_ITSELF)


def _of_back_end(report: CuteReport) -> BackEndError:
    """What the assembler, libNVVM or a pass says in a report of the back end."""
    headline = report.headline
    for heading in ("ptxas log:", "backend log:", "raw compiler error:"):
        if (lines := report.block(heading)) and (error := back_end_error(lines, headline)):
            return error
    stated = headline.partition(": ")[2] or next(iter(report.texts("error")), headline)
    return back_end_error([stated], headline) or BackEndError(Kind.MLIR_DIAGNOSTIC, stated, stated)


def _back_end(window: Window, report: CuteReport, exception: str | None) -> Finding:
    error = _of_back_end(report)
    symptom = error.text.startswith(SYMPTOMS) or not error.has_cause
    headline = _OPERATION.sub("", error.headline)
    location = error.location or report.source
    return finding(
        window,
        error.kind,
        headline,
        _message(error.text, report),
        Specificity.SYMPTOM if symptom else Specificity.DIAGNOSTIC,
        locations=(location,) if location else (),
        notes=[note for note in _notes(report) if not note.startswith(("ptxas log:", "backend log:"))],
        extent=report.extent,
        exception=exception or "CompilerDiagnosticError",
        stage=error.stage,
    )


def _internal(window: Window, report: CuteReport, exception: str | None) -> Finding:
    """An error for which the DSL does not blame the user: the verifier's, or one that it did not expect."""
    errors = report.texts("error")
    kind, stage = Kind.FRONTEND_ERROR, "trace"
    reasons = (text.removeprefix(_CAUSE) for text in errors if not is_wrapper(text))
    reason = next(reasons, report.headline)
    if reason.startswith(_VERIFIED):
        kind, stage, reason = Kind.MLIR_DIAGNOSTIC, "verify", reason.removeprefix(_VERIFIED)
    return finding(
        window,
        kind,
        reason,
        _message(reason, report),
        locations=(report.source,) if report.source else (),
        notes=_notes(report),
        extent=report.extent,
        exception=exception or _INTERNAL_EXCEPTION,
        stage=stage,
    )


def _envelope(window: Window) -> Finding | None:
    """Release 4.6's report of an error for which it does not blame the user."""
    lines = [line.strip() for line in islice(window.after, _MOST_OF_ENVELOPE)]
    detail = next(filter(None, map(_DETAIL.match, lines)), None)
    if detail is None:
        return None
    reason = undecorated(detail["text"])
    cause = next((line.partition(_CAUSE)[2] for line in lines if _CAUSE in line), "")
    if is_wrapper(reason) and cause and not is_wrapper(cause):
        reason = cause
    if is_wrapper(reason):  # the lines below `Cause:` are diagnostics that other recognisers read
        return finding(
            window, Kind.PYTHON_EXCEPTION, reason, specificity=Specificity.TAIL, exception=_INTERNAL_EXCEPTION
        )
    message = "\n".join([reason, *([f"{_CAUSE}{cause}"] if cause else [])])
    source = next(filter(None, map(cute_report.location, window.after)), None)
    return finding(
        window,
        Kind.FRONTEND_ERROR,
        reason,
        message,
        locations=(source,) if source else (),
        exception=_INTERNAL_EXCEPTION,
        stage="trace",
    )


def _introduced(window: Window) -> tuple[str, str | None, int]:
    """The line of a report, the exception whose text it is, and how many lines below the window's it stands."""
    line = window.line.strip()
    stated = EXCEPTION.match(line)
    if stated is None:
        return line, None, 0
    if stated["text"]:
        return stated["text"], stated["name"], 0
    for index, below in enumerate(islice(window.after, _MOST_BLANK)):
        if below.strip():
            return below.strip(), stated["name"], index + 1
    return line, None, 0


def _read(window: Window) -> Finding | None:
    line, exception, above = _introduced(window)
    if line.startswith(_ENVELOPE):
        return _envelope(window)
    if line.startswith(_REASON):
        rule = line.removeprefix(_REASON)
        return finding(window, Kind.MLIR_DIAGNOSTIC, rule, rule, stage="verify")
    report = cute_report.parse(line, list(window.after)[above:], introduced=exception is not None)
    if report is None:
        return None
    report = replace(report, extent=report.extent + above)
    if report.headline.startswith(cute_report.BACK_ENDS):
        return _back_end(window, report, exception)
    if report.code == INTERNAL:
        return _internal(window, report, exception)
    if report.code is None and (diagnostic := parse(line)) and diagnostic.locations:
        return None  # a compiler's own, in the text of an exception
    first = f"error[{report.code}]: {report.headline}" if report.code else report.headline
    surrounds = report.headline.startswith(_RUNTIME_LIBRARY)
    return finding(
        window,
        Kind.ENVIRONMENT if surrounds else Kind.FRONTEND_ERROR,
        report.headline,
        _message(first, report),
        locations=(report.source,) if report.source else (),
        notes=_notes(report),
        extent=report.extent,
        exception=exception or "DSLUserCodeError",
        stage="load" if surrounds else "trace",
    )


RECOGNISER = Recogniser(
    anchors=("error[", "error: ", _ENVELOPE, "DSL", "OpError:", "DiagnosticError:"),
    read=_read,
    examples={
        "error[UNSUP_LOOP_ELSE]: A `for`/`while` loop with an `else:` clause is not supported in compiled code.": (
            Kind.FRONTEND_ERROR
        ),
        "error: expects the M-mode to be 64 or 128, but got 192\n\n  --> k.py:9:5\n   |": Kind.FRONTEND_ERROR,
        "error[INTERNAL]: The compiler could not build valid IR for this code.\n\n"
        "  error: IR verification failed: 'nvvm.x' op bad": Kind.MLIR_DIAGNOSTIC,
        "error: PTX assembly failed\n  note: ptxas log:\n        ptxas x, line 9; error   : bad": Kind.PTXAS,
        "error: NVVM backend compilation failed\n  error: libNVVM failed": Kind.LLVM_DIAGNOSTIC,
        "error: The CUTE_DSL runtime library could not be resolved or is incompatible.\n  --> k.py:9:1\n   |": (
            Kind.ENVIRONMENT
        ),
        "error: compiler pass failed\n  error: failed to legalize operation 'cute.x'": Kind.MLIR_DIAGNOSTIC,
        "[Internal Error] The compiler hit a problem\n\nDetail: x to integer conversion is bad": Kind.FRONTEND_ERROR,
    },
    compiler=CUTE,
)
