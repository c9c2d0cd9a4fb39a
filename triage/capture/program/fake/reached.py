"""Which kernels the program gets to, and where it goes no further."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Optional, Type

from .. import folder

_LONGEST = 300


def follow(compiler: Any) -> None:
    """Tell of each kernel that is there, compiled or from Triton's cache, and of an exception that ends the program;
    ``compiler`` is ``triton.compiler.compiler``."""
    kernel = compiler.CompiledKernel
    begin = kernel.__init__

    def __init__(self: Any, source: Any, metadata_group: Any, key: Any, *given: Any, **named: Any) -> None:  # noqa: N807
        begin(self, source, metadata_group, key, *given, **named)
        folder.reach(str(getattr(source, "name", "") or self.name), str(key))

    kernel.__init__ = __init__
    _follow_exceptions()


def _follow_exceptions() -> None:
    tell = sys.excepthook

    def hook(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        try:
            folder.leave({"at": _place(trace), "error": _said(kind, error)})
        except Exception:
            folder.note()
        tell(kind, error, trace)

    sys.excepthook = hook


def _said(kind: Type[BaseException], error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0][:_LONGEST]
    return "%s: %s" % (kind.__name__, first) if first else kind.__name__


def _place(trace: Optional[TracebackType]) -> str:
    """The line of the program's own: the innermost in the file in which the traceback begins."""
    first, found = None, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        first = first or file
        if file == first:
            found = "%s:%d" % (file, trace.tb_lineno)
        trace = trace.tb_next
    return found
