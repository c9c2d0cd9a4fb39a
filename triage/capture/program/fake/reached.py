"""Records where the program stops."""

import sys
from types import TracebackType
from typing import Any, Optional, Type

from .. import folder

_LONGEST = 300


def follow(compiler: Any) -> None:
    """Record an exception that ends the program. ``compiler``: a program that never imports it launches nothing."""
    previous = sys.excepthook

    def hook(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        try:
            folder.leave({"at": _location(trace), "error": _text(kind, error)})
        except Exception:
            folder.note()
        previous(kind, error, trace)

    sys.excepthook = hook


def _text(kind: Type[BaseException], error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0][:_LONGEST]
    return "%s: %s" % (kind.__name__, first) if first else kind.__name__


def _location(trace: Optional[TracebackType]) -> str:
    """The program's own line: the innermost in the file where the traceback starts."""
    first, location = None, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        first = first or file
        if file == first:
            location = "%s:%d" % (file, trace.tb_lineno)
        trace = trace.tb_next
    return location
