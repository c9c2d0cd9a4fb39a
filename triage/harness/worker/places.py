"""Have a captured kernel be compiled as the one that it was written down from: same names, same file, same lines.

They are in what a compile gives: line tables, mangled names of functions that stay functions, texts of device-side
assertions. Triton takes them from the function's code object, from attributes of its own (3.5 and later), and from
the file's text by ``inspect`` (up to 3.4).
"""

from __future__ import annotations

import inspect
import linecache
from types import ModuleType
from typing import Any, Dict, Mapping

from . import load


def restore(module: ModuleType, functions: Mapping[str, Mapping[str, Any]]) -> None:
    """``functions``: by name in ``module``, where each was in the program: ``name``, ``qualname``, ``module``,
    ``file``, and ``line``, that of its ``def``."""
    texts: Dict[str, Dict[int, str]] = {}
    for name, place in functions.items():
        found = getattr(module, name, None)
        while found is not None and not load.is_jitted(found) and hasattr(found, "fn"):
            found = found.fn
        if found is not None and load.is_jitted(found):
            _restore(found, place, texts.setdefault(place["file"], {}))
    for file, lines in texts.items():
        text = [lines.get(number, "\n") for number in range(1, max(lines) + 1)]
        # Without a time the entry is taken for a module's that has a loader, and is not compared with the disk.
        linecache.cache[file] = (sum(map(len, text)), None, text, file)


def _restore(kernel: Any, place: Mapping[str, Any], text: Dict[int, str]) -> None:
    plain = kernel.fn
    own, _ = inspect.getsourcelines(plain)
    above = next(number for number, line in enumerate(own) if line.strip().startswith("def "))
    first = place["line"] - above
    text.update(enumerate(own, first))
    plain.__code__ = plain.__code__.replace(co_filename=place["file"], co_firstlineno=first, co_name=place["name"])
    for one in (plain, kernel):
        one.__module__, one.__qualname__, one.__name__ = place["module"], place["qualname"], place["name"]
    for attribute, value in {
        "module": place["module"],
        "starting_line_number": first,
        "def_file_line_number": place["line"],
        "file_name": place["file"],
        # From 3.4 on with the module.
        "_fn_name": "%(module)s.%(qualname)s" % place if "." in getattr(kernel, "_fn_name", "") else place["name"],
    }.items():
        if hasattr(kernel, attribute):
            setattr(kernel, attribute, value)
