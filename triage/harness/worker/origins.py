"""Restores the names, the file and the line numbers that a captured kernel had in its program.

They are part of the result of a compile: line tables, mangled names of functions that stay functions, texts of
device-side assertions. Triton takes them from the function's code object, from attributes of its own (3.5 and later),
and from the file's text by ``inspect`` (up to 3.4).
"""

import inspect
import linecache
from types import ModuleType
from typing import Any, Dict, Mapping

from . import load


def restore(module: ModuleType, functions: Mapping[str, Mapping[str, Any]]) -> None:
    """Restore ``functions``: by name in ``module``, the origin of each in the program: ``name``, ``qualname``,
    ``module``, ``file``, and ``line`` of its ``def``."""
    texts: Dict[str, Dict[int, str]] = {}
    for name, origin in functions.items():
        kernel = load.unwrap(getattr(module, name, None))
        if load.is_jitted(kernel):
            _restore(kernel, origin, texts.setdefault(origin["file"], {}))
    for file, lines in texts.items():
        text = [lines.get(number, "\n") for number in range(1, max(lines) + 1)]
        # Python does not compare an entry without a time with the disk.
        linecache.cache[file] = (sum(map(len, text)), None, text, file)


def _restore(kernel: Any, origin: Mapping[str, Any], text: Dict[int, str]) -> None:
    plain = kernel.fn
    own, _ = inspect.getsourcelines(plain)
    above = next(number for number, line in enumerate(own) if line.strip().startswith("def "))
    first = origin["line"] - above
    text.update(enumerate(own, first))
    plain.__code__ = plain.__code__.replace(co_filename=origin["file"], co_firstlineno=first, co_name=origin["name"])
    for function in (plain, kernel):
        function.__module__, function.__qualname__ = origin["module"], origin["qualname"]
        function.__name__ = origin["name"]
    for attribute, value in {
        "module": origin["module"],
        "starting_line_number": first,
        "def_file_line_number": origin["line"],
        "file_name": origin["file"],
        # From 3.4 on it includes the module.
        "_fn_name": "%(module)s.%(qualname)s" % origin if "." in getattr(kernel, "_fn_name", "") else origin["name"],
    }.items():
        if hasattr(kernel, attribute):
            setattr(kernel, attribute, value)
