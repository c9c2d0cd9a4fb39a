"""The reports in which CuTe DSL shows its errors since release 4.6: a headline, a line of the source, labelled texts.

::

    error[UNSUP_EARLY_EXIT]: Early exit (break) is not allowed in `k`. …

      --> kernel.py:19:17
       |
    18 |             if a[i] > 0.0:
    19 |                 break
       |                 ^^^^^
      suggestion: If the condition is decided at compile time, write `if const_expr(...)` …
                  (wrapped at 100 columns)

Errors of the compiler itself have the same form: their location is the operation's, with a column that counts from 0;
``error: PTX assembly failed`` has the assembler's words in a labelled block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triage.logs.patterns import regex
from triage.model.diagnosis import SourceLocation

#: Columns that a report is wrapped at.
_WIDTH = 100
_MARKER = regex(r"error(?:\[(?P<code>[A-Za-z][\w:/.-]{1,60})\])?: (?P<headline>\S.{0,4000})$")
_LOCATION = regex(r"\s{0,12}--> (?P<file>\S.{0,1000}?):(?P<line>\d{1,7})(?::(?P<column>\d{1,7}))?\s{0,8}$")
_WITHIN = regex(r"\s{4,12}in function `")
_EXCERPT = regex(r"(?:> {0,6})?(?P<line>\d{1,7}) \| ?(?P<text>.{0,1000})$")
_GUTTER = regex(r"\s{0,12}\|")
_LABEL = regex(r"(?P<indent> {2}(?:= )?(?P<label>error|warning|remark|note|suggestion): ?)(?P<text>.{0,4000})$")
_CONTINUED = regex(r" {8,40}\S")
# Before a text for which the compiler has no location, as without CUTE_DSL_LINEINFO.
_UNLOCATED = regex(r"(?<=failed: )error: unknown: |^unknown: ")
#: The code of an error that the DSL does not attribute to the user.
INTERNAL = "INTERNAL"
# Codes of the DSL's catalog have two words or more; `E0308` is rustc's.
_OF_CATALOG = regex(r"INTERNAL$|[A-Z]{2,20}(?:_[A-Z0-9]{1,24}){1,8}$|nvvm-diag:")
#: The headlines of errors of the back end; other programs would not print them.
BACK_ENDS = (
    "PTX assembly failed",
    "NVVM backend compilation failed",
    "compiler backend failed",
    "compiler pass failed",
)
# How a line begins that does not go on with the one above it, however long that is.
_BEGINS = regex(r"(?:ptxas|error|warning|note)\b")
#: Lines of a report that are read.
_MOST_LINES = 78


@dataclass(frozen=True, slots=True)
class Detail:
    """A labelled text of a report: its first paragraph, and the lines of the block below it, unwrapped."""

    label: str
    text: str
    block: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CuteReport:
    """The parts of a report. ``extent`` is how many lines follow its headline."""

    code: str | None
    headline: str
    source: SourceLocation | None
    details: tuple[Detail, ...]
    extent: int

    def texts(self, label: str) -> list[str]:
        """The texts with a label, each with its block."""
        return [" ".join([detail.text, *detail.block]) for detail in self.details if detail.label == label]

    def block(self, heading: str) -> tuple[str, ...]:
        """The lines below a heading; none where the report has no such block."""
        return next((detail.block for detail in self.details if detail.text == heading), ())


def unwrapped(lines: Sequence[str], width: int) -> list[str]:
    """The lines before they were wrapped: one goes on where the next one's first word would not have fitted."""
    result: list[str] = []
    last = ""
    for line in lines:
        if last and len(last) + 1 + len(line.partition(" ")[0]) > width and not _BEGINS.match(line):
            result[-1] += f" {line}"
        else:
            result.append(line)
        last = line
    return result


def _detail(match_indent: str, label: str, first: str, following: Sequence[str]) -> Detail:
    width = max(20, _WIDTH - len(match_indent))
    paragraphs = unwrapped([first, *(line[len(match_indent) :].rstrip() for line in following)], width)
    return Detail(label, _UNLOCATED.sub("", paragraphs[0]), tuple(paragraphs[1:]))


def location(line: str) -> SourceLocation | None:
    """The location that a line of a report states."""
    match = _LOCATION.match(line)
    if match is None:
        return None
    return SourceLocation(match["file"], int(match["line"]), int(match["column"]) if match["column"] else None)


def _with_excerpt(source: SourceLocation, lines: Sequence[str]) -> SourceLocation:
    """The location with the text of its line."""
    excerpts = (excerpt for line in lines if (excerpt := _EXCERPT.match(line.strip())))
    text = next((excerpt["text"].rstrip() for excerpt in excerpts if int(excerpt["line"]) == source.line), None)
    return replace(source, text=text)


def parse(line: str, after: Sequence[str], *, introduced: bool = False) -> CuteReport | None:
    """The report that begins with a line; None where it begins none.

    ``introduced``: the line before names an exception of the DSL, whose text the report is.
    """
    marker = _MARKER.match(line.strip())
    if marker is None:
        return None
    source: SourceLocation | None = None
    excerpt: list[str] = []
    details: list[tuple[str, str, str, list[str]]] = []
    extent = 0
    for index in range(min(_MOST_LINES, len(after))):
        following = after[index]
        if not following.strip():
            continue
        if label := _LABEL.match(following):
            details.append((label["indent"], label["label"], label["text"], []))
        elif details and _CONTINUED.match(following):
            details[-1][3].append(following)
        elif not details and source is None and (stated := location(following)):
            source = stated
        elif source and not details and (_EXCERPT.match(following.strip()) or _GUTTER.match(following)):
            excerpt.append(following)
        elif not (source and not details and _WITHIN.match(following)):
            break
        extent = index + 1
    code, headline = marker["code"], marker["headline"].rstrip()
    in_python = source is not None and (source.file.endswith(".py") or source.file.startswith("<"))
    if not (introduced or in_python or (code and _OF_CATALOG.match(code)) or headline.startswith(BACK_ENDS)):
        return None
    if source is not None:
        source = _with_excerpt(source, excerpt)
        if code == INTERNAL or headline.startswith(BACK_ENDS):
            # The operation's column counts from 0, which is that of a whole function as well.
            source = replace(source, column=source.column + 1 if source.column else None)
    return CuteReport(code, headline, source, tuple(_detail(*detail) for detail in details), extent)


def code_of(message: str) -> str | None:
    """The code of the catalog that a message begins with: ``UNSUP_EARLY_EXIT``; None where it has none."""
    marker = _MARKER.match(message.partition("\n")[0].strip())
    return marker["code"] if marker and marker["code"] and _OF_CATALOG.match(marker["code"]) else None
