"""Finds the statement that CuTe DSL shows until release 4.5 without its line: one that it cannot preprocess.

::

    DSLAstPreprocessorError: Early exit (break) is not allowed in `k`
      File: kernel.py
      Snippet:
     for i in cutlass.range(n):
        if a[i] > 0.0:
            break

The snippet is written anew from the syntax tree, without comments and with other spaces, brackets and quotation marks.
"""

from collections.abc import Sequence

from triage.logs.patterns import regex
from triage.model.diagnosis import SourceLocation

#: Heads the snippet in a message.
HEADING = "Snippet:"
_EXIT = regex(r"Early exit \((?P<keyword>break|continue|return)\)")
# What differs between source and a snippet of it.
_LAYOUT = regex(r"[\s'\"()]|#.*$")


def _bare(line: str) -> str:
    return _LAYOUT.sub("", line)


def statement(message: str, file: str, lines: Sequence[str]) -> SourceLocation | None:
    """The statement that a message is about, in the file with ``lines``; None unless the snippet occurs once there.

    It is the snippet's first line, or the exit in it that a message about an early exit means.
    """
    stated, _, snippet = message.partition(f"\n{HEADING}\n")
    if not snippet:
        return None
    shown = list(map(_bare, snippet.split("\n")))
    stated_exit = _EXIT.search(stated)
    exits = [index for index, line in enumerate(shown) if stated_exit and line.startswith(stated_exit["keyword"])]
    bare = [(number, text) for number, line in enumerate(lines, start=1) if (text := _bare(line))]
    starts = [start for start in range(len(bare)) if [text for _, text in bare[start : start + len(shown)]] == shown]
    if len(starts) != 1:
        return None
    number = bare[starts[0] + next(iter(exits), 0)][0]
    return SourceLocation(file, number, None, lines[number - 1].rstrip())
