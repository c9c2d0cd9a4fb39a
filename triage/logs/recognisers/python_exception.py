"""The last line of a Python traceback: ``ValueError: text``, in a log or quoted alone."""

from collections.abc import Iterable, Sequence
from itertools import dropwhile, islice

from triage.logs.diagnostic_lines import begins_with_any
from triage.logs.finding import Finding, Specificity
from triage.logs.frontend_texts import is_languages
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.recognisers.frontend import unrepr
from triage.logs.window import Window
from triage.model.diagnosis import Kind

_STATED = regex(
    r"^(?:(?:[Cc]aught|[Rr]aised|[Gg]ot) )?(?:[A-Za-z_]\w{0,80}\.){0,12}"
    r"(?P<name>[A-Z]\w{0,80}(?:Error|ErrorImpl|Exception|Interrupt|Exit|Failure|NotFound|Failed|Warning)|Exception)"
    r"(?:: ?(?P<text>.{0,8000}))?$"
)
# With its module an exception may be named anything: `concurrent.futures.process.BrokenProcessPool: …`.
_QUALIFIED = regex(r"^(?:[a-z_]\w{0,80}\.){1,12}(?P<name>(?=[A-Z])\w{2,80}[a-z]\w{0,80})(?:: (?P<text>\S.{0,8000}))$")
#: VS Code's editor: the text is on the next line.
_OCCURRED = "Exception has occurred: "
_REPR = regex(r"^[A-Z]\w{2,80}(?:Error|ErrorImpl|Exception)\([\"'].{0,3900}[\"'],?\)$")
# One that was cut off.
_OPEN_REPR = regex(r"^(?P<name>[A-Z]\w{2,80}(?:Error|ErrorImpl|Exception))\([\"'](?P<text>.{8,3900}?)[\"')]{0,3}$")
#: Texts that say only that something failed, or that the compiler has printed why.
TAILS = (
    "error encountered during parsing",
    "Parse MLIR file failed",
    "PassManager::run failed",
    "failed to translate module to LLVM IR",
    "Failed to parse",
    "AMD LLVM ",
)
#: Wrappers whose text is another exception's.
_WRAPPERS = ("InductorError", "BackendCompilerFailed", "CalledProcessError", "NoValidChoicesError")
# What an engine or a launcher raises when one of its processes failed.
_REPORTS = regex(
    r"\bEngineDeadError\b|Engine core initialization failed|EngineCore encountered an issue|See root cause above"
    r"|\bChildFailedError\b|\bProcess(?:Raised|Exited)Exception\b|\bRay\w{0,40}Error\b|WorkerProc\w{0,20} (?:hit|init)"
    r"|DataLoader worker .{0,80}exited|Worker failed with error|\bActorDiedError\b"
)
# Python's own frames, IPython's (`--> 12     assert x`) and pytest's (`>   assert x`).
_ASSERTED = regex(r"\s{0,40}(?:-{1,6}> ?\d{1,7}\s|>)?\s{0,60}(?P<assertion>assert\s.{1,1000})$")
_NUMBERED = regex(r"\s{1,8}\d{1,7}(?:\s|$)")
# An attribute of Triton's that is missing, quoted without the exception.
_NO_ATTRIBUTE = regex(
    r"(?:[\w ]{1,80}: )?(?P<stated>module 'triton[\w.]{0,100}' has no attribute '\w{1,80}'"
    r"|torch\._(?:inductor|dynamo)\.config\.[\w.]{1,100} does not exist)\.?$"
)
# The same, retold.
_LACKS = regex(
    r"(?:^|[\s`'\"(])(?P<module>triton(?:\.\w{1,40}){1,6}) has no (?:module|attribute|function|member|method) "
    r"(?:named |called )?[`'\"]?(?P<name>\w{1,80})"
)
# A variable without a value, quoted so.
_NO_VALUE = regex(
    r"(?:^|[\s`'\"(])(?P<stated>local variable '\w{1,80}' referenced before assignment"
    r"|cannot access local variable '\w{1,80}' where it is not associated with a value)"
)
# Logged above a traceback.
_HELION = "Helion compiler triton codegen error"
# Around what Ascend's compiler printed.
_BANNER = regex(r"\s*$|///-{3,}\[|\[\w{1,60}\] encounters error:\s*$")
# The front end's own; Python writes `name 'x' is not defined`.
_NOT_DEFINED = regex(r"[A-Za-z_]\w{0,80} is not defined$")
# The key of Triton 2's cache of compiled kernels: it is looked up, not found, and then the kernel is compiled.
_CACHE_KEY = regex(r"\('2-\.-\d-\.-\d-")
_SUFFIXES = ("Error", "Exception", "Interrupt", "Exit", "Failure", "NotFound", "Failed")
_MAX_LINES = 40
#: What is not part of an exception's text: a traceback, other programs' lines, the end of a block of code.
_ENDS = ("Traceback (", "  File ", "nanobind: ", "[", "```", "~~~")


def assertion_of(lines: Iterable[str]) -> str:
    """The first line that is an assertion, all that an ``AssertionError`` without a text says; empty if none is."""
    return next((match["assertion"] for line in lines if (match := _ASSERTED.match(line))), "")


def reports_another(message: str) -> bool:
    """True for what reports only that another process failed."""
    return _REPORTS.search(message) is not None


def is_exception_line(line: str) -> bool:
    """True for a line that ends a traceback."""
    return _STATED.match(line) is not None or _QUALIFIED.match(line) is not None


def _is_caret(before: Sequence[str]) -> bool:
    return bool(before) and before[-1].strip() == "^"


def _read(window: Window) -> Finding | None:
    line = unrepr(window.line.strip()) if _REPR.match(window.line.strip()) else window.line.rstrip()
    if line.startswith(_OCCURRED) and window.after:
        line = f"{line.removeprefix(_OCCURRED).partition(' ')[0]}: {window.after[0].strip()}"
    if cut := _OPEN_REPR.match(line):
        line = f"{cut['name']}: {cut['text']}"
    if missing := _NO_ATTRIBUTE.match(line):
        line = f"AttributeError: {missing['stated']}"
    retold: list[str] = []
    if (lacks := _LACKS.search(line)) and "AttributeError" not in line:
        retold = [line.strip()]
        line = f"AttributeError: module '{lacks['module']}' has no attribute '{lacks['name']}'"
    if (unset := _NO_VALUE.search(line)) and "UnboundLocalError" not in line:
        line = f"UnboundLocalError: {unset['stated']}"
    if line.startswith(_HELION):
        return finding(window, Kind.PYTHON_EXCEPTION, _HELION, line, Specificity.TAIL)
    stated = _STATED.match(line) or _QUALIFIED.match(line)
    if stated is None or stated["name"].endswith("Warning"):
        return None
    reason = (stated["text"] or "").strip()
    after: Sequence[str] = window.after
    if stated["name"] == "MLIRCompilationError":
        after = tuple(dropwhile(_BANNER.match, window.after))
    if not reason and line.rstrip().endswith(":") and after and not after[0].startswith(("Traceback", "  File ")):
        reason = after[0].strip()
    if not reason and stated["name"] == "AssertionError":
        # The last line of the last frame, which has marks below it from Python 3.11 on, and in IPython's the lines that
        # follow it in the source.
        frame = (line for line in reversed(window.before) if line.strip(" ^~") and not _NUMBERED.match(line))
        reason = assertion_of(islice(frame, 1))
    shown = f"{stated['name']}: {reason}" if reason else stated["name"]
    lines = [line]
    for index in range(min(_MAX_LINES, len(after))):
        following = after[index]
        if not following.strip() or following.startswith(_ENDS):
            break
        if is_exception_line(following):
            break
        lines.append(following)
    says_nothing = begins_with_any(reason, TAILS) or reports_another(shown) or _CACHE_KEY.match(reason) is not None
    tail = says_nothing or stated["name"] in _WRAPPERS
    specificity = Specificity.TAIL if tail else Specificity.EXCEPTION
    message = "\n".join([shown, *retold, *lines[1:]])
    # As the front end ends its report, of which the beginning was not pasted.
    is_report = _is_caret(window.before) and _REPR.match(window.line.strip()) is not None
    of_kernel = is_report or is_languages(reason)
    kind = Kind.FRONTEND_ERROR if of_kernel else Kind.PYTHON_EXCEPTION
    not_found = stated["name"] == "NameError" and _NOT_DEFINED.match(reason) is not None
    # The interpreter runs the kernel's source.
    interpreted = stated["name"] == "InterpreterError"
    stage = "source" if of_kernel or not_found or interpreted else None
    return finding(window, kind, shown, message, specificity, exception=stated["name"], stage=stage)


RECOGNISER = Recogniser(
    anchors=(
        *_SUFFIXES,
        "exc.",
        "exceptions.",
        "errors.",
        "has no ",
        "does not exist",
        "ocal variable '",
        _HELION,
    ),
    read=_read,
    examples={
        "ValueError: bad": Kind.PYTHON_EXCEPTION,
        "module 'triton.language' has no attribute 'gather'": Kind.PYTHON_EXCEPTION,
        'it says "triton.language.math has no module round"': Kind.PYTHON_EXCEPTION,
        "torch._dynamo.exc.Unsupported: call of a kernel": Kind.PYTHON_EXCEPTION,
        "KSampler: local variable 'cl_path' referenced before assignment": Kind.PYTHON_EXCEPTION,
        "AssertionError: First input (fp16) and second input (bf16) must have the same dtype!": Kind.FRONTEND_ERROR,
        "Exception has occurred: ValueError\nthe arguments of arange must be constants": Kind.PYTHON_EXCEPTION,
    },
    most=Specificity.EXCEPTION,
)
