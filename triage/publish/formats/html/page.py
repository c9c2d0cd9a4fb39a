"""The page: head, table of contents, the document's sections, and the imprint."""

import itertools
from collections.abc import Iterator, Sequence
from importlib import resources

from triage.publish.document import (
    QUANTITIES,
    Block,
    Bullets,
    Code,
    Comparison,
    Document,
    Heading,
    Line,
    Listing,
    Paragraph,
    Quantity,
    ReportTable,
    Span,
    Strong,
    Tone,
    Usage,
    WebLink,
)
from triage.publish.formats.html.elements import Element, append, element, written

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_MOST_USAGES = 12
"""Suggestions in a picture; the table below has all of them."""
_WIDTH, _LEFT, _RIGHT, _STEP, _BAR = 320, 26, 74, 22, 14


def render(document: Document) -> str:
    """The whole file."""
    numbers = itertools.count(1)
    contents = element("ul")
    main = element("main", id="main")
    for section in document.sections:
        append(contents, element("li", element("a", section.title, href=f"#{section.key}")))
        title = element("h2", section.title, id=f"{section.key}-title")
        blocks = (_block(block, numbers) for block in section.blocks)
        append(main, element("section", title, *blocks, id=section.key, aria_labelledby=f"{section.key}-title"))
    best = element("p", element("strong", document.best)) if document.best else None
    body = element(
        "body",
        element("a", "Skip to the report", class_="skip", href="#main"),
        element("header", element("h1", document.headline), element("p", *_subtitle(document)), best),
        element("nav", contents, aria_label="Contents"),
        main,
        element("footer", *(element("p", text) for text in document.footer())),
    )
    return written(element("html", _head(document), body, lang="en"))


def _head(document: Document) -> Element:
    style = resources.files("triage.publish.formats.html").joinpath("style.css").read_text(encoding="utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", document.title),
        element("style", style),
    )


def _subtitle(document: Document) -> Iterator[Element | str]:
    yield document.title.removeprefix(document.headline).strip(" ()")
    if document.signature:
        yield element("br")
        yield "signature "
        yield element("code", document.signature)


def _block(block: Block, numbers: Iterator[int]) -> Element:
    match block:
        case Paragraph():
            return element("p", *_spans(block.line))
        case Bullets():
            return element("ul", *(element("li", *_spans(item)) for item in block.lines))
        case Heading():
            return element("h3", *_spans(block.line))
        case Listing():
            return _listing(block, numbers)
        case ReportTable():
            return _table(block)
        case Comparison():
            return element("div", _charts(block), _table(block.table(changes=True)))


def _spans(line: Line) -> Iterator[Element | str]:
    return (_span(span) for span in line)


def _span(span: Span) -> Element | str:
    match span:
        case Code(text):
            return element("code", text)
        case WebLink(url, text):
            return element("a", text, href=url, rel="noreferrer noopener")
        case Strong(text):
            return element("strong", text)
        case str():
            return span


def _listing(block: Listing, numbers: Iterator[int]) -> Element:
    # A listing that scrolls can be reached and scrolled by keyboard.
    code = element("pre", tabindex=0, role="region", aria_label=block.title)
    first = f"line-{next(numbers)}" if block.marked else None
    for part in _lines(block, first):
        append(code, part)
    caption: list[Element | str] = [block.title]
    if first is not None:
        lines = len(block.marked)
        caption = [block.title, f" \u2013 {'one line is' if lines == 1 else f'{lines} lines are'} marked: {block.why}"]
    jump = (
        element("p", element("a", "To the marked line", href=f"#{first}"))
        if first and block.text.count("\n") > 30
        else None
    )
    if block.folded:
        return element("details", element("summary", *caption), element("div", jump, code))
    return element("figure", element("figcaption", *caption), jump, code)


def _lines(block: Listing, first: str | None) -> Iterator[Element | str]:
    """The text; marked lines and those of a diff in elements of their own, the rest as long pieces."""
    plain: list[str] = []
    lines = block.text.split("\n")
    for number, line in enumerate(lines):
        end = "\n" if number < len(lines) - 1 else ""
        if number in block.marked:
            yield "".join(plain)
            plain = [end]
            yield element("mark", line, id=first if number == min(block.marked) else None)
        elif block.language == "diff" and line[:1] in ("+", "-"):
            yield "".join(plain)
            plain = [end]
            yield element("span", line, class_="added" if line[0] == "+" else "gone")
        else:
            plain.append(line + end)
    yield "".join(plain)


def _table(block: ReportTable) -> Element:
    table = element("table", element("caption", block.caption))
    if any(block.head):
        heads = (element("th", name, scope="col") if name else element("td") for name in block.head)
        append(table, element("thead", element("tr", *heads)))
    body = element("tbody")
    for name, *cells in block.rows:
        tones = (
            element("td", *_spans(cell.line), class_=None if cell.tone is Tone.PLAIN else cell.tone.value)
            for cell in cells
        )
        append(body, element("tr", element("th", *_spans(name.line), scope="row"), *tones))
    append(table, body)
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=block.caption)


def _charts(block: Comparison) -> Element:
    """What suggestions use, as bars: one picture a quantity, with its numbers as text."""
    usages = block.usages[:_MOST_USAGES]
    figures = (
        element("figure", element("figcaption", quantity.title), _bars(quantity, usages)) for quantity in QUANTITIES
    )
    return element("div", *figures, class_="charts")


def _bars(quantity: Quantity, usages: Sequence[Usage]) -> Element:
    values = [quantity.value(usage) or 0 for usage in usages]
    most = max(values, default=0) or 1
    height = _STEP * len(usages) + 4
    numbers = "; ".join(f"{usage.label}: {quantity.text(usage)}" for usage in usages)
    picture = element("svg", viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=f"{quantity.title}. {numbers}")
    append(picture, element("line", x1=_LEFT, y1=0, x2=_LEFT, y2=height, class_="axis"))
    kind = "spill" if quantity.tone is Tone.BAD else "bar"
    for row, (usage, value) in enumerate(zip(usages, values, strict=True)):
        top = _STEP * row + 4
        length = (_WIDTH - _LEFT - _RIGHT) * value / most
        append(picture, element("text", usage.label, x=_LEFT - 6, y=top + 11, text_anchor="end"))
        append(picture, element("rect", x=_LEFT, y=top, width=round(length, 1), height=_BAR, class_=kind))
        append(picture, element("text", quantity.text(usage), x=round(_LEFT + length + 6, 1), y=top + 11))
    return picture
