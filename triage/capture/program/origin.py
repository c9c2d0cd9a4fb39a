"""Where a captured compile comes from: the ``origin`` of its case."""

import os
import sys
from typing import Any, Dict, Optional

from . import values
from .service import compiler_variables


def origin(kernel: str, function: Any, frame: Any) -> Dict[str, Any]:
    """The origin of the compile that ``frame`` is in. ``function``: the kernel's Python function; None for a kernel
    without one."""
    code = getattr(function, "__code__", None)
    return {
        "tool": "triage run",
        "kernel": kernel,
        "file": code.co_filename if code else None,
        "line": code.co_firstlineno if code else None,
        "called_from": _caller(frame),
        "command": list(getattr(sys, "orig_argv", None) or sys.argv),
        "directory": _directory(),
        "python": sys.executable,
        "pid": os.getpid(),
        "environment": compiler_variables(),
    }


def _directory() -> Optional[str]:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def _caller(frame: Any) -> Optional[str]:
    """The program's line that asked for the kernel: the innermost frame outside the compilers and triage."""
    own = __name__.partition(".")[0]
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if not values.is_compilers(module) and str(module).partition(".")[0] != own:
            return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
