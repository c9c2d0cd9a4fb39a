"""Regular expressions that are compiled when they are first used.

A short log needs a third of the two hundred patterns of this package, and compiling one takes as long as reading twenty
lines: compiled on import they are half the time of `triage log`.
"""

import re
from typing import cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class _UncompiledPattern:
    """Stands for a compiled pattern. After the first use its methods are those of the pattern itself."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._uncompiled = pattern, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(*self._uncompiled)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern; an error in ``text`` is raised on first use."""
    return cast("re.Pattern[str]", _UncompiledPattern(text, flags))
