"""Python exceptions as data: the chain of causes, their frames, the kernel line that Triton was visiting, and the
operands of what it refused."""

import gc
import inspect
import linecache
import traceback
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Set

from . import operands
from .load import is_jitted

MAX_TEXT = 8 * 1024
"""Maximal characters of one message: ptxas errors quote whole kernels, which the log has as well."""
MAX_CHAIN = 12
MAX_FRAMES = 24


def describe(error: BaseException) -> List[Dict[str, Any]]:
    """The chain of ``error``, what was raised first and the innermost cause last. Its classes may be user code."""
    try:
        return [_described(link) for link in chain(error)]
    except BaseException as failure:
        message = "<%s raised while its chain was read>" % type(failure).__name__
        return [{"type": type(error).__name__, "module": "", "message": message}]


def chain(error: BaseException, suppressed: bool = False) -> Iterator[BaseException]:
    """``error`` and its causes, a bounded number of them; with ``suppressed`` also what ``from None`` hides."""
    link: Optional[BaseException] = error
    seen: Set[int] = set()
    while link is not None and id(link) not in seen and len(seen) < MAX_CHAIN:
        seen.add(id(link))
        yield link
        hidden = link.__suppress_context__ and not suppressed
        link = link.__cause__ or (None if hidden else link.__context__)


_TRACEBACK = vars(BaseException)["__traceback__"]


def traceback_of(error: BaseException) -> Optional[TracebackType]:
    """The traceback that Python has given the exception, whatever its class says of it."""
    trace: Optional[TracebackType] = _TRACEBACK.__get__(error)
    return trace


def print_chain(error: BaseException) -> None:
    """Print the traceback as the user's own program would have."""
    try:
        *_, last = chain(error, suppressed=True)
        last.__cause__ = last.__context__ = None  # Python prints chains of any length.
        traceback.print_exception(type(error), error, traceback_of(error))
    except BaseException:  # __str__ of a user's exception is user code
        return


def _described(error: BaseException) -> Dict[str, Any]:
    frames = traceback.extract_tb(traceback_of(error))[-MAX_FRAMES:]
    located = [_frame(frame.filename, frame.lineno or 0, frame.name, frame.line or "") for frame in frames]
    if isinstance(error, SyntaxError) and isinstance(error.lineno, int):
        located.append(_frame(str(error.filename), error.lineno, "<module>", str(error.text or "").rstrip()))
    described: Dict[str, Any] = {
        "type": type(error).__name__,
        "module": str(type(error).__module__),
        "message": message(error)[:MAX_TEXT],
        "frames": located,
    }
    try:
        described.update(kernel_location(error))
    except Exception:  # an unknown location must not hide the error itself
        described["kernel_line"] = None
    try:
        described.update(operands.of(error))
    except Exception:  # nor may unknown operands
        described["operands"] = []
    return described


def message(error: BaseException) -> str:
    """The exception's text; never raises."""
    try:
        # CompilationError's own text repeats the source with a caret; its cause alone is in error_message.
        own = getattr(error, "error_message", None)
        return own if isinstance(own, str) else str(error)
    except BaseException as failure:  # __str__ is user code here
        return "<%s raised in __str__>" % type(failure).__name__


def kernel_location(error: BaseException) -> Dict[str, Any]:
    source, node = getattr(error, "src", None), getattr(error, "node", None)
    line = getattr(node, "lineno", None)
    if not isinstance(source, str) or not isinstance(line, int):
        return {}
    column = getattr(node, "col_offset", None)
    if not isinstance(column, int):
        column = None
    lines = source.split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    function = owner_of(error)
    if function is None:
        return {"kernel_line": _frame("", line, "", text), "kernel_column": column}
    plain = function.fn
    first, indent = _definition(plain)
    file = plain.__code__.co_filename
    location = _frame(file, first + line - 1, plain.__name__, linecache.getline(file, first + line - 1).rstrip())
    return {"kernel_line": location, "kernel_column": None if column is None else column + indent}


def owner_of(error: BaseException) -> Any:
    """The JITFunction that Triton's front end was compiling: the error has only its source, so search all live
    objects. None where it has none."""
    source = getattr(error, "src", None)
    gc.unfreeze()  # A server has put aside what it had made before this process was forked.
    for candidate in gc.get_objects() if isinstance(source, str) else ():
        if is_jitted(candidate) and getattr(candidate, "src", None) == source:
            return candidate
    return None


def _definition(function: Any) -> Any:
    """File line of the ``def`` (a JITFunction's source starts there, dedented) and its indentation."""
    lines, first = inspect.getsourcelines(function)
    for offset, line in enumerate(lines):
        stripped = line.lstrip()
        if stripped.startswith("def "):
            return first + offset, len(line) - len(stripped)
    return first, 0


def _frame(file: str, line: int, function: str, text: str) -> Dict[str, Any]:
    return {"file": file, "line": line, "function": function, "text": text[:400]}
