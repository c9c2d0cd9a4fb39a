"""An exception of CuTe DSL's, in the form that it has until release 4.5; later ones show a report.

::

    cutlass.cute.nvgpu.common.OpError: OpError: expects the M-mode to be 64 or 128, but got 192
    Error Code: MmaF16BF16Op error
    💡 Suggestions:
     Check your Op construction code

Some only wrap another failure: ``DSLRuntimeError: 🧊🧊🧊 ICE IR Verification Failed 🧊🧊🧊`` a diagnostic below it,
``💥💥💥 Error during runtime code generation for function `host` 💥💥💥`` the exception above it in the chain, or
behind ``Caused exception:``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from triage.logs.cute_snippet import HEADING
from triage.logs.cute_texts import EXCEPTION, is_wrapper, undecorated
from triage.logs.diagnostic_lines import parse
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Kind, SourceLocation

_LABEL = regex(
    r"\s{0,4}(?:[^\w\s]{1,4} ?)?"
    r"(?P<label>Caused exception|Error Code|Line|File|Snippet|Additional Context|Suggestions):"
    r"\s{0,2}(?P<text>.{0,4000})$"
)
_ENDS = ("Traceback (", "  File ", "The above exception", "During handling of", "====", "```", "~~~")
_MOST_LINES = 40
# A text is wrapped at some width, and into few lines; its last line may be shorter.
_WRAPPED, _MOST_WRAPPED = 30, 6
# What the driver says as a kernel is loaded or launched.
_DRIVER = regex(r"(?:CUDA_ERROR_|cudaError)\w{3,60}|CUDA launch failed")
_LOADING = regex(r"NO_BINARY|INVALID_(?:SOURCE|PTX|IMAGE)|UNSUPPORTED_PTX|NoKernelImage|InvalidPtx")
_COLLAPSED = regex(
    r"(?P<listed>Verification failed|Failure while executing pass pipeline): {1,4}(?P<error>error: .{1,4000}?)"
    r"(?: {1,4}(?:note|error): .*)?$"
)
#: Exceptions whose text is other failures', which follow it.
_OF_COMPILER = ("MLIRError", "CompilationError", "CompilerDiagnosticError")
_SUGGESTED, _SNIPPET = "Suggestions", "Snippet"


@dataclass(frozen=True, slots=True)
class _Labelled:
    """The labelled texts below an exception, and how many lines they take."""

    texts: dict[str, list[str]]
    extent: int

    def first(self, label: str) -> str:
        return next((text for text in self.texts.get(label, ()) if text), "")


def _wrapped(text: str, after: Sequence[str]) -> list[str]:
    """The lines that a text was continued on when somebody's terminal or editor wrapped it."""
    lines: list[str] = []
    last = text
    while len(last) >= _WRAPPED and last.rstrip()[-1] not in ".!?:" and len(lines) < min(_MOST_WRAPPED, len(after)):
        last = after[len(lines)].strip()
        if not last or last.startswith(_ENDS) or _LABEL.match(last) or EXCEPTION.match(last) or parse(last):
            break
        lines.append(last)
    return lines


def _labelled(after: Sequence[str]) -> _Labelled:
    texts: dict[str, list[str]] = {}
    label = ""
    extent = 0
    for index in range(min(_MOST_LINES, len(after))):
        line = after[index]
        if line.startswith(_ENDS) or EXCEPTION.match(line.strip()):
            break
        if stated := _LABEL.match(line):
            label = stated["label"]
            texts.setdefault(label, []).append(stated["text"].strip())
        elif not label or not _goes_on(line, label, texts[label]):
            break
        elif line.strip():
            texts[label].append(line.rstrip() if label == _SNIPPET else line.strip())
        extent = index + 1
    return _Labelled(texts, extent)


def _goes_on(line: str, label: str, texts: list[str]) -> bool:
    """Whether a line is of the labelled text above it. A snippet is not indented, and ends with an empty line."""
    if label == _SNIPPET:
        return bool(line.strip()) or not any(texts)
    return not line.strip() or line.startswith(" ")


_OF_DRIVER = "DSLCudaRuntimeError"
_ERROR_NAME = regex(r"[-\s]{0,8}Error name: (?:.{0,100}\bb')?(?P<name>(?:CUDA_ERROR_|cudaError)\w{1,60})")


def _location(labelled: _Labelled) -> SourceLocation | None:
    """The statement that the DSL shows of a file, whose line it does not always tell."""
    file, line = labelled.first("File"), labelled.first("Line")
    if not file or not line.isdecimal():
        return None
    return SourceLocation(file, int(line), None, labelled.first(_SNIPPET) or None)


def _read(window: Window) -> Finding | None:
    stated = EXCEPTION.match(window.line.strip())
    if stated is None:
        return None
    wrapped = _wrapped(stated["text"] or "", window.after)
    name, text = stated["name"], undecorated(" ".join([stated["text"] or "", *wrapped]))
    labelled = _labelled(tuple(islice(window.after, len(wrapped), len(wrapped) + _MOST_LINES)))
    cause = undecorated(labelled.first("Caused exception"))
    if is_wrapper(text) and cause and not is_wrapper(cause):
        text, cause = cause, ""
    named = map(_ERROR_NAME.match, islice(window.after, _MOST_LINES)) if name == _OF_DRIVER else ()
    if error := next(filter(None, named), None):
        text = f"{error['name']}: {text}"
    if collapsed := _COLLAPSED.search(text):
        return _listed(window, name, collapsed)
    if not text or is_wrapper(text) or name in _OF_COMPILER:
        shown = f"{name}: {text}" if text else name
        # The compiler's own are no link of a chain: what they list is closer to the cause than what is chained to them.
        exception = None if name in _OF_COMPILER else name
        return finding(
            window, Kind.PYTHON_EXCEPTION, shown, shown, Specificity.TAIL, exception=exception, stage=_stage(text)
        )
    located = _location(labelled)
    snippet = labelled.texts.get(_SNIPPET, ())
    message = [
        text,
        *([f"Caused exception: {cause}"] if cause else []),
        *([HEADING, *filter(None, snippet)] if any(snippet) and located is None else []),
    ]
    kind = Kind.LAUNCH_ERROR if _DRIVER.match(text) else Kind.FRONTEND_ERROR
    stage = "trace" if kind is Kind.FRONTEND_ERROR else "load" if _LOADING.search(text) else "launch"
    return finding(
        window,
        kind,
        text,
        "\n".join(message),
        locations=(located,) if located else (),
        notes=[*labelled.texts.get("Additional Context", ()), *labelled.texts.get(_SUGGESTED, ())],
        extent=len(wrapped) + labelled.extent,
        exception=name,
        stage=stage,
    )


def _listed(window: Window, name: str, collapsed: re.Match[str]) -> Finding | None:
    """The first error that an exception lists, in a text whose lines somebody joined."""
    error = parse(collapsed["error"])
    if error is None:
        return None
    stage = _stage(collapsed["listed"])
    return finding(
        window, Kind.MLIR_DIAGNOSTIC, error.text, error.text, locations=error.locations, exception=name, stage=stage
    )


def _stage(text: str) -> str | None:
    """The stage in which what an exception wraps failed."""
    if "Verification" in text:
        return "verify"
    return "trace" if "code generation" in text else "passes" if "pipeline" in text else None


RECOGNISER = Recogniser(
    anchors=("DSL", "OpError: ", "MLIRError: ", "base_dsl.compiler.C", "DependencyError: "),
    read=_read,
    examples={
        "cutlass.base_dsl.common.DSLRuntimeError: DSLRuntimeError: Expect 3d grid!": Kind.FRONTEND_ERROR,
        "DSLRuntimeError: 💥💥💥 Error during runtime code generation for function `f` 💥💥💥\n"
        "  Caused exception: cannot access local variable 'y'": Kind.FRONTEND_ERROR,
        "DSLRuntimeError: ICE\nCaused exception: ... NVPTX compiler invocation failed ...\n"
        "ptxas application ptx input, line 705; error: Unexpected instruction types": Kind.PTXAS,
        "cutlass.cute.nvgpu.common.OpError: OpError: expects the M-mode to be 64": Kind.FRONTEND_ERROR,
        "DSLCudaRuntimeError: CUDA_ERROR_NO_BINARY_FOR_GPU (error code: 209)": Kind.LAUNCH_ERROR,
        "DSLCudaRuntimeError: Unknown CUDA error\n- Error name: CUDA_ERROR_INVALID_CONTEXT": Kind.LAUNCH_ERROR,
    },
    compiler=CUTE,
)
