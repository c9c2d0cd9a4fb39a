"""What suggestions use, as bars: one picture a quantity, with its numbers as text."""

from __future__ import annotations

from collections.abc import Sequence

from triage.publish.document import QUANTITIES, Comparison, Quantity, Tone, Usage
from triage.publish.formats.html.elements import Element, append, element

_MOST = 12
"""Suggestions in a picture; the table below has all of them."""
_WIDTH, _LEFT, _RIGHT, _STEP, _BAR = 320, 26, 74, 22, 14


def charts(block: Comparison) -> Element:
    """The pictures."""
    usages = block.usages[:_MOST]
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
