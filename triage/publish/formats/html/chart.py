"""What suggestions use, as bars: one picture a quantity, with all of its numbers as text."""

from __future__ import annotations

from collections.abc import Callable

from triage.publish.document import Comparison, Usage
from triage.publish.formats.html.elements import Element, append, element

_MOST = 12
"""Suggestions in a picture; the table below has all of them."""
_WIDTH, _LEFT, _RIGHT, _STEP, _BAR = 320, 26, 74, 22, 14
_QUANTITIES: tuple[tuple[str, str, Callable[[Usage], int | None], str], ...] = (
    ("Registers a thread", "", lambda usage: usage.registers, "bar"),
    ("Bytes spilled a thread", " B", lambda usage: usage.spill_bytes, "spill"),
    ("Shared memory a block", " B", lambda usage: usage.shared_bytes, "bar"),
)


def comparison(block: Comparison) -> Element:
    """The pictures, and the table with the same numbers."""
    pictures = element("div", class_="charts")
    for title, unit, quantity, kind in _QUANTITIES:
        values = [(usage.label, quantity(usage)) for usage in block.usages[:_MOST]]
        append(pictures, element("figure", element("figcaption", title), _bars(title, unit, values, kind)))
    return element("div", pictures, _table(block))


def _bars(title: str, unit: str, values: list[tuple[str, int | None]], kind: str) -> Element:
    most = max((value or 0 for _, value in values), default=0) or 1
    height = _STEP * len(values) + 4
    numbers = "; ".join(f"{label}: {'not known' if value is None else f'{value}{unit}'}" for label, value in values)
    picture = element("svg", viewBox=f"0 0 {_WIDTH} {height}", role="img", aria_label=f"{title}. {numbers}")
    room = _WIDTH - _LEFT - _RIGHT
    append(picture, element("line", x1=_LEFT, y1=0, x2=_LEFT, y2=height, class_="axis"))
    for row, (label, value) in enumerate(values):
        top = _STEP * row + 4
        length = room * (value or 0) / most
        append(picture, element("text", label, x=_LEFT - 6, y=top + 11, text_anchor="end"))
        append(picture, element("rect", x=_LEFT, y=top, width=round(length, 1), height=_BAR, class_=kind))
        words = "not known" if value is None else f"{value}{unit}"
        append(picture, element("text", words, x=round(_LEFT + length + 6, 1), y=top + 11))
    return picture


def _table(block: Comparison) -> Element:
    heads = ("", "Suggestion", "Instruction", *(title for title, *_ in _QUANTITIES))
    head = element("tr", *(element("th", name, scope="col") if name else element("td") for name in heads))
    body = element("tbody")
    for usage in block.usages:
        numbers = (
            ("not known" if value is None else f"{value}{unit}")
            for _, unit, get, _ in _QUANTITIES
            for value in [get(usage)]
        )
        cells = (element("td", text) for text in (usage.change, usage.instruction, *numbers))
        append(body, element("tr", element("th", usage.label, scope="row"), *cells))
    table = element("table", element("caption", block.caption), element("thead", head), body)
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=block.caption)
