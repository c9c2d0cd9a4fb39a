"""Lines that were wrapped at a width, as people and mail programs wrap what they paste: joined again.

``k.py:98:0: note: Pipeline failed`` / ``while executing [`A` on 'tt.func' operation]: reproducer generated``

Nothing marks such a break. It shows in a paragraph without longer lines in which the first word of the next line would
not have fitted; joined is only what begins like a line of a compiler's, a traceback's or a stack's.

A terminal breaks words as well: lines of one width, in which a diagnostic has its parts only once they are joined.
"""

from collections.abc import Sequence
from itertools import pairwise

from triage.logs.patterns import regex

#: The widths at which people wrap; a terminal breaks words too.
_NARROWEST, _WIDEST = 60, 120
#: The width of a terminal at most.
_WIDEST_TERMINAL = 400
#: Lines that were wrapped differ by less than most words.
_RAGGED = 10
#: A line that was wrapped more often is no failure's.
_MOST = 40

_FRAME = r"\s{0,16}File \"[^\"\n]{0,400}(?:$|\",?(?: |$))"
_DIAGNOSTIC = (
    r".{0,40}?(?:\S{1,400}:\d{1,7}:\d{1,7}: ?|<unknown>:0: ?|loc\(.{1,400}\): ?|^|\s)(?:error|note|remark|warning):"
)
_EXCEPTION = (
    r"\s{0,16}(?:[a-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|Exception|Failure|Construct|Resources)(?:: |\(|:?$)"
)
_STACK = r"\s{0,16}(?:\[[\w.: -]{1,40}\] ?)?#\d{1,3}:? "
_NATIVE = r"[\w./-]{1,200}: \S{1,400}\.(?:cpp|cc|cxx|h|hpp|inc):\d{1,7}:"
#: How lines begin that programs print, however long they are.
BEGINS = regex(
    rf"{_FRAME}|{_DIAGNOSTIC}|{_EXCEPTION}|{_STACK}|{_NATIVE}"
    r"|.{0,200}\bPipeline failed while|LLVM ERROR: |UNREACHABLE executed|.{0,200}\bAssertion [`']"
)
_ANYBODYS = regex(_EXCEPTION)
#: A frame that has all its parts.
_WHOLE_FRAME = regex(r"\s{0,16}File \".{1,400}\", line \d{1,7}(?:,? in .{1,200})?$")
#: Lines of one width that a terminal has cut: at least so many, and so many that it is no chance.
_FEWEST, _MANY = 2, 3
#: Characters that lines have in common which have a prefix.
_SAME = 8
#: How lines end that are as wide as others for other reasons: of tables, of rules, of progress bars.
_FRAMES = ("|", "\u2502", "\u2503", "+", "-", "=", "*", "#", "~", "_", ".", " ", "]", "^", "\\")
# A progress bar's end, behind which something else was printed.
_BAR = regex(r"(?:it/s|s/it)\][^\s\]]{1,40}$")
# What has all its parts in one line.
_PRINTED = regex(
    r"\S\.\w{1,4}:\d{1,7}:\d{1,7}: (?:error|note|remark): \S|\.\w{1,4}:\d{1,7}: [^\n]{1,800}: Assertion [`']"
    r"|^\s{0,8}File \"[^\"]{1,400}\", line \d{1,7}, in \S"
    r"|\bloc\(.{1,2000}\":\d{1,7}:\d{1,7}\){1,8}: (?:error|note|remark): \S"
)
#: What is not whole, and what continues it, at any width: paths are longer than most.
_UNFINISHED = (
    (regex(r".{0,80}?(?:^|\s)File$"), regex(r"\"[^\"]{1,400}\"?,?")),
    (regex(r".{0,80}?(?:^|\s)File \"[^\"]{1,400}\",$"), regex(r"line \d{1,7}")),
    (regex(r".{0,80}?(?:^|\s)File \"[^\"]{1,400}\", line$"), regex(r"\d{1,7}(?:,|$| in )")),
    (regex(r".{0,80}?(?:^|\s)File \"[^\"]{1,400}\", line \d{1,7},?$"), regex(r"in [\w<>.]{1,200}$")),
    (regex(r".{0,80}?(?:^|\s)File \"[^\"]{1,400}\", line \d{1,7},? in$"), regex(r"[\w<>.]{1,200}$")),
    # pytest's, and pybind11's
    (regex(r"\S{1,400}\.py:\d{1,7}:$"), regex(r"in [\w<>]{1,200}$")),
    (regex(r"\S{1,400}\.py:\d{1,7}: in$"), regex(r"[\w<>]{1,200}$")),
    (regex(r"\s{0,8}\S{1,400}\.py\(\d{1,7}\):$"), regex(r"(?:<?[a-z]\w{1,200}>?|<lambda>)$")),
    # a location, of calls in calls
    (regex(r".{0,400}?\S:\d{1,7}:\d{1,7}:$"), regex(r"(?:error|note|remark|warning): \S")),
    (regex(r"(?:.{0,80}: )?loc\((?:callsite|fused)\b[^\n]{0,3000}\d$"), regex(r"at( |$)")),
    (regex(r"(?:.{0,80}: )?loc\((?:callsite|fused)\b[^\n]{0,3000} at$"), regex(r"callsite\(|\"")),
    (regex(r"(?:.{0,80}: )?loc\((?:callsite|fused)\b[^\n]{0,3000}\):$"), regex(r"error: ")),
    (regex(r".{0,200}\bUNREACHABLE executed at$"), regex(r"\S{1,400}:\d{1,7}!")),
    (regex(r".{0,400}?:\d{1,7}:\d{1,7}: (?:error|note): Pipeline failed$"), regex(r"while executing\b")),
    (regex(r".{0,400}?:\d{1,7}:\d{1,7}: (?:error|note): Pipeline failed while$"), regex(r"executing\b")),
    # glibc's, behind the program's name
    (regex(r"[\w./-]{2,100}:$"), regex(r"\S{1,400}\.(?:cpp|cc|cxx|h|hpp|inc):\d{1,7}:")),
)
#: What no rest of a line begins with.
_OTHER = regex(
    r"\s*(?:Traceback \(|E\s|\S{1,400}:\d{1,7}:\d{1,7}:|```|~~~|[-*+] |\d{1,2}\. |#|//|\||>|%\w|\^|module "
    r"|[\w.]{1,80} = |[A-Za-z]{2,20}(?: [a-z]{2,20})?: "
    r"|(?:\[[\w:.-]{1,40}\]|\d{4}-\d\d-\d\d|(?:INFO|WARNING|ERROR|DEBUG)\b))"
)
#: How those end.
_ENDS = ("File", ",", "line", "in", "at", "failed", "while", ":", *"0123456789")


def unwrapped(text: str) -> str:
    """The text with such lines whole."""
    result: list[str] = []
    paragraph: list[str] = []
    for line in [*_of_narrow_terminal(text.split("\n")), ""]:
        if line.strip() and not line.lstrip().startswith("```"):
            paragraph.append(line)
            continue
        result += _joined(paragraph)
        paragraph = []
        result.append(line)
    return "\n".join(result[:-1])


def _of_narrow_terminal(lines: Sequence[str]) -> Sequence[str]:
    """The lines, those whole that a terminal cut, where so many are as wide as it that it is no chance."""
    width = max(map(len, lines), default=0)
    cut = [
        len(line) == width and not line.endswith(_FRAMES) and line[:_SAME] != below[:_SAME]
        for line, below in pairwise([*lines, ""])
    ]
    if sum(cut) <= _MANY or not _NARROWEST <= width <= _WIDEST_TERMINAL:
        return lines
    result: list[str] = []
    goes_on = False
    for line, is_cut in zip(lines, cut, strict=True):
        if goes_on and line.strip():
            result[-1] += line
        else:
            result.append(line)
        goes_on = is_cut
    return result


def _of_terminal(paragraph: Sequence[str]) -> Sequence[str]:
    """The lines, those whole that a terminal cut at its width, in the middle of words."""
    width = max(map(len, paragraph), default=0)
    if sum(len(line) == width for line in paragraph) < _FEWEST or not _NARROWEST <= width <= _WIDEST_TERMINAL:
        return paragraph
    result: list[str] = []
    run: list[str] = []
    for line in paragraph:
        run.append(line)
        # A progress bar lost the character that returns to its begin.
        if len(line) < width - (_BAR.search(line) is not None):
            result += _of_run(run)
            run = []
    return [*result, *_of_run(run)]


def _of_run(run: Sequence[str]) -> Sequence[str]:
    whole = "".join(run)
    # Two lines may be as wide by chance; then no single one may say what all together do.
    complete = sum(_PRINTED.search(line) is not None for line in run)
    is_one = 1 < len(run) <= _MOST and _PRINTED.search(whole) and complete <= (len(run) > _MANY)
    return [whole] if is_one else run


def _joined(paragraph: Sequence[str]) -> Sequence[str]:
    paragraph = _of_terminal(paragraph)
    if len(paragraph) < 2:
        return paragraph
    width = max((len(line.rstrip()) for line in paragraph if " " in line.strip()), default=0)
    is_wrapped = _NARROWEST <= width <= _WIDEST
    is_sure = sum(width - _RAGGED <= len(line.rstrip()) <= width for line in paragraph) > 1
    result: list[str] = []
    parts = 0
    last = 0  # the width of the last part
    for line in paragraph:
        if result and (
            _is_unfinished(result[-1], line)
            or (is_wrapped and 0 < parts < _MOST and _continues(result[-1], last, line, width, is_sure))
        ):
            result[-1] = f"{result[-1].rstrip()} {line.strip()}"
            parts = max(parts, 1) + 1
        else:
            is_source = bool(result) and _WHOLE_FRAME.match(result[-1]) is not None and line.startswith("    ")
            result.append(line)
            parts = int(is_source or BEGINS.match(line) is not None)
        last = len(line.rstrip())
    return result


def _continues(whole: str, last: int, line: str, width: int, is_sure: bool) -> bool:
    """Whether a line is the rest of one whose last part is so wide."""
    if last + 1 + len(line.split(None, 1)[0]) <= width:
        return False
    if _indentation(line) > _indentation(whole) or _WHOLE_FRAME.match(whole):
        return False
    if _OTHER.match(line) or BEGINS.match(line):
        return False
    # Words are no evidence below what may be anybody's and may end there; a sentence is none below a whole.
    is_sentence = line.lstrip()[:1].isupper() and (not is_sure or line.rstrip().endswith((".", "?", "!", ":")))
    is_word = not is_sure and line.lstrip()[:1].isalpha() and last == len(whole) and _ANYBODYS.match(whole)
    return not (is_sentence or is_word) or _is_open(whole)


def _is_open(text: str) -> bool:
    """Whether a bracket or a quotation is not closed, or a comma ends the text."""
    brackets = any(text.count(begin) > text.count(end) for begin, end in ("()", "[]", "<>"))
    quotation = text.count('"') % 2 == 1 and not text.endswith(")")
    return brackets or quotation or text.endswith((",", "&&", "||", "=", "::"))


def _is_unfinished(line: str, below: str) -> bool:
    above, rest = line.rstrip(), below.strip()
    return above.endswith(_ENDS) and any(end.match(above) and begin.match(rest) for end, begin in _UNFINISHED)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
