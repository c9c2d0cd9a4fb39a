"""What copying does to the lines of a text, undone where it shows: an indentation, numbers, empty lines between.

Only where a line is then one that a compiler or Python prints: lines of source are indented and numbered as well, and
paragraphs have empty lines between them.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from triage.logs.patterns import regex
from triage.logs.wrapped import BEGINS

_TRACEBACK = regex(r"\s{0,16}(?:Traceback \(most recent call last\)|Fatal Python error: )")
_INDENTED = regex(r"(?: {4}|\t)")
_NUMBERED = regex(r"[ \t]{0,8}(?P<number>\d{1,6})(?:[:|.)]? |[:|.)]?\t|$)(?P<rest>.*)$")
_FEWEST_NUMBERED = 6
"""Lines that count up; a notebook's traceback shows fewer of a source."""
_FEWEST_SPACED = 4
"""Lines with empty ones between."""


def as_printed(text: str) -> str:
    """The text with such lines as they were printed."""
    lines = text.split("\n")
    return "\n".join(_outdented(_unnumbered(_unspaced(lines))))


def _is_printed(line: str) -> bool:
    return _TRACEBACK.match(line) is not None or BEGINS.match(line) is not None


def _unspaced(lines: Sequence[str]) -> list[str]:
    """Without the empty line below each line; where the text itself had empty lines, there are three or more."""
    runs: list[list[tuple[str, int]]] = [[]]
    for line, empty in _with_empty_lines(lines):
        runs[-1].append((line, empty))
        if empty % 2 == 0:
            runs.append([])
    result: list[str] = []
    for run in runs:
        # What ends a run has another number of lines below it, or is the last.
        is_spaced = len(run) > _FEWEST_SPACED and sum(_is_printed(line) or line[:2] == "  " for line, _ in run) > 1
        for line, empty in run:
            result += [line, *[""] * ((empty - 1) // 2 if is_spaced and empty % 2 else empty)]
    return result


def _with_empty_lines(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each line that is not empty, with the number of empty ones below it; those at the top are below an empty one."""
    above, empty = "", -1
    for line in lines:
        if line.strip():
            if empty >= 0:
                yield above, empty
            above, empty = line, 0
        else:
            empty += 1
    yield above, max(empty, 0)


def _unnumbered(lines: Sequence[str]) -> list[str]:
    result: list[str] = []
    run: list[str] = []
    rests: list[str] = []
    last = -1
    for line in [*lines, ""]:
        numbered = _NUMBERED.match(line)
        number = int(numbered["number"]) if numbered else -1
        if run and number != last + 1:
            is_counted = len(run) >= _FEWEST_NUMBERED and any(map(_is_printed, rests))
            result += rests if is_counted else run
            run, rests = [], []
        if numbered:
            run.append(line)
            rests.append(numbered["rest"].removeprefix(" "))
        else:
            result.append(line)
        last = number
    return result[:-1]


def _outdented(lines: Sequence[str]) -> list[str]:
    """Without the indentation of blocks of code, which stand below an empty line and before what has none."""
    groups = [(is_indented, list(group)) for is_indented, group in groupby(lines, _may_be_code)]
    result: list[str] = []
    for (is_indented, block), (_, below) in pairwise([*groups, (False, [""])]):
        if is_indented and not (result and block[0].strip()) and below[0][:1] != " ":
            width = min((_indentation(line) for line in block if line.strip()), default=0)
            outdented = [line[width:] for line in block]
            block = outdented if any(map(_is_printed, outdented)) else block
        result += block
    return result


def _may_be_code(line: str) -> bool:
    return not line.strip() or _INDENTED.match(line) is not None


def _indentation(line: str) -> int:
    """The spaces before a line, but for those of a frame's own."""
    return len(line) - len(line.lstrip()) - 2 * line.lstrip().startswith('File "')
