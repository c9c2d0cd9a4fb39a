"""Keeps regular expressions as Python compiled them: its compiler is Python code, and takes a seventh of the time of a
short `triage log`.

What is kept is the code for the matcher, which is an inner matter of Python's: it is used by the very interpreter that
made it, whose matcher checks it. Wherever anything about it is other than expected, a pattern is compiled as usual.
"""

import base64
import importlib
import json
import re
import sys
import zlib
from array import array
from contextlib import suppress
from functools import cached_property
from typing import Any

from triage.filesystem import cache
from triage.filesystem.files import replace_file

_FILE = f"patterns-{sys.implementation.cache_tag}.json"
_MOST = 2000
"""Patterns that are kept; triage has some 600, and those of earlier releases stay until then."""
_UNEXPECTED = (
    ImportError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    RuntimeError,
    OverflowError,
    zlib.error,
)


class CompiledPatterns:
    """The patterns that were kept, and those that are compiled besides."""

    def __init__(self) -> None:
        self._compiled: list[tuple[str, int]] = []

    def compile(self, text: str, flags: int = 0) -> re.Pattern[str]:
        """``re.compile``. Raises re.error."""
        row = self._kept.get(f"{flags} {text}")
        if row is not None:
            with suppress(*_UNEXPECTED):
                state, code, groups, index, names = row
                numbers = array("I", zlib.decompress(base64.b64decode(code))).tolist()
                pattern: re.Pattern[str] = _matcher().compile(text, state, numbers, groups, index, tuple(names))
                return pattern
        self._compiled.append((text, flags))
        return re.compile(text, flags)

    def keep(self) -> None:
        """Keep what was compiled, for the next process."""
        if not self._compiled:
            return
        with suppress(OSError, *_UNEXPECTED):
            added = {f"{flags} {text}": _row(text, flags) for text, flags in self._compiled}
            kept = {**self._kept, **added} if len(self._kept) + len(added) <= _MOST else added
            document = {"interpreter": _interpreter(), "patterns": kept}
            replace_file(cache.cache_folder("knowledge") / _FILE, json.dumps(document))

    @cached_property
    def _kept(self) -> dict[str, Any]:
        with suppress(OSError, *_UNEXPECTED):
            document = json.loads((cache.cache_folder("knowledge") / _FILE).read_bytes())
            if document["interpreter"] == _interpreter() and isinstance(document["patterns"], dict):
                return document["patterns"]
        return {}


def _matcher() -> Any:
    return importlib.import_module("_sre")


def _interpreter() -> str:
    """What the code depends on: the release and the build of Python, the format, the size and order of its numbers."""
    return f"{sys.version} {_matcher().MAGIC} {array('I').itemsize} {sys.byteorder}"


def _row(text: str, flags: int) -> list[Any]:
    """What Python's compiler hands to the matcher."""
    in_package = sys.version_info >= (3, 11)
    parser = importlib.import_module("re._parser" if in_package else "sre_parse")
    compiler = importlib.import_module("re._compiler" if in_package else "sre_compile")
    parsed = parser.parse(text, flags)
    code = array("I", compiler._code(parsed, flags)).tobytes()
    index: dict[str, int] = parsed.state.groupdict
    names: list[str | None] = [None] * parsed.state.groups
    for name, number in index.items():
        names[number] = name
    return [
        flags | parsed.state.flags,
        base64.b64encode(zlib.compress(code)).decode(),
        parsed.state.groups - 1,
        index,
        names,
    ]
