"""A document as plain text, for terminals and e-mail: 80 columns, listings as they are."""

import textwrap

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
    Span,
    Strong,
    WebLink,
    Weight,
)

_WIDTH = 80
_MOST_LINES, _MOST_FOLDED = 400, 60
"""Lines of a listing, and of one that other formats fold; the folder and other formats have all of it."""


def render(document: Document) -> str:
    """The text."""
    parts: list[str] = [_wrapped(line) for line in (document.headline, document.best) if line]
    for section in document.sections:
        parts.append(f"{section.title}\n{'=' * len(section.title)}")
        parts += [text for block in section.blocks if (text := _block(block))]
    parts.append("\n".join(["-" * _WIDTH, *map(_wrapped, document.footer())]))
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _wrapped(_line(block.line))
        case Heading():
            return _wrapped(_line(block.line), hanging=3)
        case Bullets():
            return "\n".join(_wrapped(_line(item), indent=2, bullet="- ") for item in block.lines)
        case Listing():
            return _listing(block)
        case ReportTable():
            return _table(block)
        case Comparison():
            return f"{block.caption}:\n\n{_table(block.table())}"


def _listing(block: Listing) -> str:
    lines = block.text.split("\n")
    rows = [f"{'>>' if number in block.marked else '  '}  {line}".rstrip() for number, line in enumerate(lines)]
    most = _MOST_FOLDED if block.folded and block.weight < Weight.SCRIPT else _MOST_LINES
    if len(rows) > most:
        half = most // 2
        rows = [*rows[:half], f"    \u2026 {len(rows) - 2 * half} lines left out \u2026", *rows[-half:]]
    why = f" (>>: {block.why})" if block.marked else ""
    return "\n".join([_wrapped(f"{block.title}{why}:"), "", *rows])


def _table(block: ReportTable) -> str:
    rows = [block.head, *(tuple(_line(cell.line) for cell in row) for row in block.rows)]
    rows = [row for row in rows if any(row)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if sum(widths) + 2 * len(widths) > _WIDTH and len(widths) == 2:
        indent = " " * (widths[0] + 2)
        width = max(_WIDTH - len(indent), 30)
        return "\n".join(
            f"{name:<{widths[0]}}  " + f"\n{indent}".join(textwrap.wrap(value, width, break_on_hyphens=False) or [""])
            for name, value in rows
        )
    lines = ("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _line(spans: Line) -> str:
    return "".join(_span(span) for span in spans)


def _span(span: Span) -> str:
    match span:
        case WebLink(url, text):
            return url if url == text else f"{text} <{url}>"
        case Code(text) | Strong(text):
            return text
        case str():
            return span


def _wrapped(text: str, indent: int = 0, bullet: str = "", hanging: int = 0) -> str:
    return textwrap.fill(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=bullet,
        subsequent_indent=" " * (indent + hanging),
        break_on_hyphens=False,
        break_long_words=False,
    )
