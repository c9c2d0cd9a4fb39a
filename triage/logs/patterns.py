"""Regular expressions that are compiled when they are first used.

A short log needs a third of the patterns of this package, and compiling one takes as long as reading twenty lines:
compiled on import they are half the time of `triage log`.
"""

import re
from collections.abc import Callable
from typing import cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


_compile: Callable[[str, int], re.Pattern[str]] = re.compile


def compile_with(compile_pattern: Callable[[str, int], re.Pattern[str]]) -> None:
    """Compile what is not yet compiled by another function than ``re.compile``, one that remembers patterns."""
    global _compile  # noqa: PLW0603 - the patterns are made when their modules are imported
    _compile = compile_pattern


class _UncompiledPattern:
    """Stands for a compiled pattern. After the first use its methods are those of the pattern itself."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._uncompiled = pattern, int(flags)

    def __getattr__(self, name: str) -> object:
        compiled = _compile(*self._uncompiled)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern; an error in ``text`` is raised on first use."""
    return cast("re.Pattern[str]", _UncompiledPattern(text, flags))


# Plain characters that a pattern begins with, but for one that it repeats or leaves out.
_BEGINNING = regex(r"(?:[\w '`,:/&-](?![?*{]))*")
_GROUP = regex(r"\([^()]*\)")


class Rewordings:
    """Beginnings of texts as regular expressions, each with what it counts as. The first that matches counts.

    Most begin with words of their own: one is compiled for the texts that begin with them.
    """

    def __init__(self, *table: tuple[str, str]) -> None:
        self._table = [(_beginning(older), regex(older), newest) for older, newest in table]

    def apply(self, text: str) -> str:
        """The text with its beginning in the wording that it counts as."""
        for beginning, older, newest in self._table:
            if text.startswith(beginning) and (match := older.match(text)):
                return match.expand(newest) + text[match.end() :]
        return text


def _beginning(pattern: str) -> str:
    """What all texts begin with that match; empty where that cannot be read off."""
    match = None if "|" in _GROUP.sub("", pattern) else _BEGINNING.match(pattern)
    return match[0] if match else ""
