"""Where a jitted function is defined in the program, so that compiling a copy gives the same result."""

from __future__ import annotations

import inspect
from typing import Any, Dict, Optional

from .module import python


def place_of(kernel: Any) -> Optional[Dict[str, Any]]:
    """Names, file and line of the ``def``; None if the source is no longer available."""
    plain = python(kernel)
    lines, first = getattr(kernel, "raw_src", None), getattr(kernel, "starting_line_number", None)
    if lines is None or first is None:  # up to 3.4
        try:
            lines, first = inspect.getsourcelines(plain)
        except (OSError, TypeError):
            return None
    above = next((number for number, line in enumerate(lines) if line.strip().startswith("def ")), None)
    if above is None:
        return None
    return {
        "name": plain.__name__,
        "qualname": plain.__qualname__,
        "module": plain.__module__,
        "file": plain.__code__.co_filename,
        "line": first + above,
    }
