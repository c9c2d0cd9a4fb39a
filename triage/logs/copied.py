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
# Where lines begin that somebody joined, and those that end where the next one begins.
_JOINED = regex(
    r"(?:^|(?<=\s))(?:(?=(?:[\w./\\-]{1,300}:\d{1,7}:\d{1,7}|loc\(.{1,300}?\)): (?:error|note): "
    r"|[\w./-]{1,200}: \S{1,300}\.(?:cpp|cc|h|hpp|inc):\d{1,7}: |LLVM ERROR: |#\d{1,3} {1,2}0x[\da-f]{6}|```"
    r"|Fatal Python error: |Current thread 0x"
    r"|(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{1,60}(?:Error|Exception|Resources|Construct|Failure): )"
    r"|(?P<whole>File \"[^\"]{1,400}\", line \d{1,7},? in [\w<>.]{1,100}|\^~{0,200}(?=\s)"
    r"|Traceback \(most recent call last\):|The above exception was the direct cause of the following exception:"
    r"|During handling of the above exception, another exception occurred:))"
)
_LONGEST = 300
"""Characters of a line from which on it may be several."""
_FEWEST_NUMBERED = 6
"""Lines that count up; a notebook's traceback shows fewer of a source."""
_FEWEST_SPACED = 4
"""Lines with empty ones between."""


def as_printed(text: str) -> str:
    """The text with such lines as they were printed."""
    lines = text.split("\n")
    lines = [part for line in lines for part in _unjoined(line)]
    return "\n".join(_outdented(_unnumbered(_unspaced(lines))))


def _unjoined(line: str) -> list[str]:
    """The lines that a long one consists of; a frame's line of source is indented below it."""
    begins = [*_JOINED.finditer(line)] if len(line) > _LONGEST else []
    if len(begins) < 2:
        return [line]
    result: list[str] = []
    at, indentation = 0, ""
    for match in begins:
        result.append(indentation + line[at : match.start()].strip())
        at, indentation = match.start(), ""
        if match["whole"]:
            is_frame = match["whole"].startswith("File")
            result.append("  " * is_frame + match["whole"])
            at, indentation = match.end(), "    " * is_frame
    return [part for part in [*result, indentation + line[at:].strip()] if part.strip()]


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
        outdented: list[str] = []
        if is_indented and not (result and block[0].strip()) and below[0][:1] != " ":
            width = min((_indentation(line) for line in block if line.strip()), default=0)
            outdented = [line[width:] for line in block]
        result += outdented if any(map(_is_printed, outdented)) else block
    return result


def _may_be_code(line: str) -> bool:
    return not line.strip() or _INDENTED.match(line) is not None


def _indentation(line: str) -> int:
    """The spaces before a line, but for those of a frame's own."""
    return len(line) - len(line.lstrip()) - 2 * line.lstrip().startswith('File "')
