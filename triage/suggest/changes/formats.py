"""Operand formats of ``tl.dot_scaled`` together with the pointer that holds the operand and its packing.

A format says how the bytes are read, so it, the element type and "two values a byte" change as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.suggest.candidate import Move, Proposal
from triage.suggest.scene import Scene

_ELEMENT = {"e2m1": "u8", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
"""Formats and the element types that hold them (``tl.dot_scaled``); e2m1 is packed two to a byte."""
_KEYWORDS = {"lhs_format", "rhs_format"}


def formats(scene: Scene) -> Iterator[Proposal]:
    """Each operand in each other format, its data with it."""
    names = [name for name, used_as in scene.source.keywords.items() if used_as & _KEYWORDS]
    for name in names:
        value = scene.case.constexprs.get(name)
        if value not in _ELEMENT:
            continue
        stem = name.split("_", 1)[0].lower()
        pointers = [p for p in scene.case.signature if re.match(rf"{stem}(?:_?ptr)?\Z", p, re.IGNORECASE)]
        packing = [c for c in scene.case.constexprs if "PACK" in c.upper() and c.split("_", 1)[0].lower() == stem]
        for index, (other, element) in enumerate(_ELEMENT.items()):
            if other == value or not (pointers or packing):
                continue
            changes: dict[str, str | int] = {name: other, **dict.fromkeys(pointers, f"*{element}")}
            changes |= dict.fromkeys(packing, 2 if other == "e2m1" else 1)
            changes = {n: v for n, v in changes.items() if {**scene.case.signature, **scene.case.constexprs}[n] != v}
            why = f"{name} {other} and its data: changes the data the caller passes"
            yield Proposal(changes, Move.DATA, 1.6 + 0.2 * index, 5, why)
