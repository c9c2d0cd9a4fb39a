"""A document as GitHub's Markdown, within the size of an issue.

Text of logs, kernels and documents cannot become markup: fences of code are longer than any run of backticks in it; in
a line, every character that could begin markup is escaped, and what GitHub would turn into a mention or a reference to
an issue or a commit gets a zero-width space, as GitHub's own bots do.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import replace

from triage.publish.document import (
    Block,
    Bullets,
    Code,
    Comparison,
    Document,
    Heading,
    Line,
    Listing,
    Paragraph,
    ReportTable,
    Section,
    Span,
    Strong,
    WebLink,
    Weight,
)

MOST = 65_536
"""Characters of an issue's or comment's text that GitHub takes."""
_ROOM = 1_536
"""Reserve: GitHub counts a line end from a browser as two characters, and the poster adds a mark."""
_LEAST_LISTING = 2_000
"""Characters of a shortened listing; with fewer it is dropped."""
_ESCAPED = re.compile(r"[\\`*_\[\]<>|~$&]")
_BEGINNING = re.compile(r"^(?:[-+=#>:]|\d{1,9}(?=[.)]))")
"""Begins a list, a title or a quotation at the start of a line."""
_PINGS = re.compile(
    # Mentions, issues, addresses, names of emoji
    r"@(?=[\w-])|#(?=\d)|\b(?i:GH-)(?=\d)|\b(?i:https?|ftp|mailto):(?=\S)|\b(?i:www)(?=\.)|:(?=[a-z0-9_+-]{1,40}:)"
    # Commits: seven hexadecimal digits and more
    r"|\b(?=[a-f]{0,40}\d)[0-9a-f]{7,64}\b"
)
_HASH = 6
"""Characters of a hash that stay together: fewer than GitHub takes for a commit."""
_APART = "&#8203;"


def render(document: Document, most: int = MOST - _ROOM) -> str:
    """The Markdown, of at most ``most`` characters; omissions are named at its end."""
    room = _Room(document, f"GitHub's {MOST}" if most == MOST - _ROOM else str(most))
    while len(room.text) > most and room.smaller(len(room.text) - most):
        pass
    return room.text


class _Room:
    """Shrinks a document to a size, block by block."""

    def __init__(self, document: Document, limit: str) -> None:
        self._document = document
        self._limit = limit
        self._omissions: dict[str, str] = {}
        # By the block's id, with the block, so that no other block gets that id: most stay the same between attempts.
        self._rendered: dict[int, tuple[Block, str]] = {}
        self.text = self._whole()

    def smaller(self, excess: int) -> bool:
        """Shorten or drop the block of the lowest weight; False where none may go."""
        listed = [block for block in self._document.blocks() if block.weight < Weight.ESSENTIAL]
        if not listed:
            return self._forced(excess)
        # Of equals the last: suggestions are sorted best first.
        block = min(reversed(listed), key=lambda item: item.weight)
        length = len(self._block(block))
        if isinstance(block, Listing) and length - excess >= _LEAST_LISTING and not block.text.startswith("\u2026"):
            self._replace(block, _cut(block, excess), f"cut by {excess} characters or more")
        else:
            self._replace(block, None, f"{length} characters")
        return True

    def _forced(self, excess: int) -> bool:
        """Shorten the longest essential block, as of a kernel of a thousand lines."""
        block = max(self._document.blocks(), key=lambda item: len(self._block(item)), default=None)
        if block is None or len(self._block(block)) < _LEAST_LISTING // 4:
            return False
        shorter = _cut(block, excess) if isinstance(block, Listing) and len(block.text) > _LEAST_LISTING else None
        self._replace(block, shorter, "too long")
        return True

    def _replace(self, block: Block, other: Block | None, how: str) -> None:
        def changed(section: Section) -> Section:
            blocks = (other if item is block else item for item in section.blocks)
            return replace(section, blocks=tuple(item for item in blocks if item is not None))

        sections = tuple(changed(section) for section in self._document.sections)
        self._document = replace(self._document, sections=tuple(section for section in sections if section.blocks))
        if title := _title(block):
            self._omissions[title] = how
        self.text = self._whole()

    def _whole(self) -> str:
        parts = []
        for number, section in enumerate(self._document.sections):
            parts.append(f"### {escaped(section.title)}")
            if number == 0:
                parts.append(f"**{escaped(self._document.headline)}**")
                parts += [escaped(best)] if (best := self._document.best) else []
            parts += [text for block in section.blocks if (text := self._block(block))]
        parts += ["---", _foot(self._document, self._omissions, self._limit)]
        return "\n\n".join(parts) + "\n"

    def _block(self, block: Block) -> str:
        if id(block) not in self._rendered:
            self._rendered[id(block)] = (block, _block(block))
        return self._rendered[id(block)][1]


def _cut(block: Listing, excess: int) -> Listing:
    """A listing without its middle: its beginning and its end are the most useful."""
    marker = "\n\u2026 left out here \u2026\n"
    keep = max(len(block.text) - excess - len(marker) - 400, _LEAST_LISTING // 2)
    head, tail = block.text[: keep // 2], block.text[-(keep - keep // 2) :]
    head = head[: head.rfind("\n")] if "\n" in head else head
    tail = tail[tail.find("\n") + 1 :] if "\n" in tail else tail
    # A listing that was shortened is dropped the next time.
    weight = Weight(max(block.weight - 1, 0)) if block.weight < Weight.ESSENTIAL else Weight.SCRIPT
    return replace(
        block, text=f"{head}{marker}{tail}", title=f"{block.title} (in part)", marked=frozenset(), why="", weight=weight
    )


def _title(block: Block) -> str:
    match block:
        case Listing():
            return block.title
        case Heading():
            return "".join(span if isinstance(span, str) else span.text for span in block.line)
        case ReportTable() | Comparison():
            return block.caption
    return ""


def _foot(document: Document, omissions: dict[str, str], limit: str) -> str:
    lines = [escaped(text) for text in document.footer()]
    if omissions:
        names = "; ".join(f"{title} ({how})" for title, how in omissions.items())
        lines.append(escaped(f"Left out to stay below {limit} characters: {names}."))
    return f"<sub>{'<br>'.join(lines)}</sub>"


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _begun(line(block.line))
        case Bullets():
            return "\n".join(f"- {_begun(line(item))}" for item in block.lines)
        case Heading():
            return f"#### {line(block.line)}"
        case Listing():
            return _listing(block)
        case ReportTable():
            return _table(block)
        case Comparison():
            return _table(block.table())


def _listing(block: Listing) -> str:
    code = fenced(block.text, block.language)
    marked = _marked(block)
    if not block.folded:
        return f"{_begun(escaped(f'{block.title}:'))}\n\n{code}{marked}"
    # Within a line of HTML, Markdown's own escapes would be seen.
    title = html.escape(_PINGS.sub(_parted, " ".join(block.title.split()))).replace("\u200b", _APART)
    return f"<details><summary>{title}</summary>\n\n{code}{marked}\n\n</details>"


def _marked(block: Listing) -> str:
    """The failing lines again, with their numbers: Markdown cannot mark a line."""
    if not block.marked:
        return ""
    lines = block.text.split("\n")
    numbers = sorted(number for number in block.marked if number < len(lines))[:5]
    shown = "\n".join(f"{number + 1}: {lines[number].strip()[:400]}" for number in numbers)
    return f"\n\n{escaped(f'The failing operation ({block.why}):')}\n\n{fenced(shown)}"


def _table(block: ReportTable) -> str:
    rows = [_row(escaped(name) for name in block.head), _row("---" for _ in block.head)]
    rows += [_row(line(cell.line, table=True) for cell in row) for row in block.rows]
    return "\n".join(rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def line(spans: Line, table: bool = False) -> str:
    """A line of Markdown."""
    return "".join(_span(span, table) for span in spans)


def _begun(text: str) -> str:
    """The text at the start of a line: a backslash behind its digits, else before its first character."""
    match = _BEGINNING.match(text)
    if match is None:
        return text
    return f"{match[0]}\\{text[match.end() :]}" if match[0].isdigit() else f"\\{text}"


def _span(span: Span, table: bool) -> str:
    match span:
        case Code(text):
            # A table is cut at its bars before code is looked for, and a backslash there belongs to the table.
            return code(text).replace("\\|", "\\ |").replace("|", "\\|") if table else code(text)
        case WebLink(url, text):
            return f"[{escaped(text)}](<{url}>)"
        case Strong(text):
            return f"**{escaped(text)}**" if text.strip() else ""
        case str():
            return escaped(span)


def escaped(text: str) -> str:
    """Words in which no markup, HTML, link, mention or reference begins."""
    words = " ".join(text.split())
    edges = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    apart = _PINGS.sub(_parted, words)
    safe = _ESCAPED.sub(lambda match: "&amp;" if match[0] == "&" else f"\\{match[0]}", apart)
    return f"{edges[0]}{safe.replace(chr(0x200B), _APART)}{edges[1]}" if safe else edges[0]


def _parted(match: re.Match[str]) -> str:
    text = match[0]
    return "".join(f"{text[start : start + _HASH]}\u200b" for start in range(0, len(text), _HASH))


def code(text: str) -> str:
    """A code span that its text cannot end."""
    words = " ".join(text.split())
    if not words:
        return ""
    fence = "`" * (_longest_run(words) + 1)
    pad = " " if words[0] == "`" or words[-1] == "`" else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def fenced(text: str, language: str = "") -> str:
    """A block of code that no line of its text can end."""
    fence = "`" * max(_longest_run(text) + 1, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
