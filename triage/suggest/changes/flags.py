"""Boolean constexprs, flipped. Kernels keep two ways to do a thing behind a flag; the other one often compiles.

A flag that asks for warp specialization is the likeliest culprit wherever it is on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.suggest.proposal import Move, Proposal
from triage.suggest.scene import Scene

_SPECIALIZE = re.compile(r"(?:\A|_)WS(?:\Z|_)|SPECIALI[ZS]E", re.IGNORECASE)


def flags(scene: Scene) -> Iterator[Proposal]:
    """Every flag flipped; those that turn warp specialization off first, and all of these together."""
    on: dict[str, bool] = {}
    index = 0
    for name, value in scene.case.constexprs.items():
        # 0 and 1 are flags in kernels that are called from C++ or with heuristics, unless they stand in a shape.
        number = type(value) is int and value in (0, 1) and name not in scene.source.shape_names
        if not isinstance(value, bool) and not number:
            continue
        specializes = "warp_specialize" in scene.source.keywords.get(name, ()) or bool(_SPECIALIZE.search(name))
        prior, why = 1.0 + 0.1 * index, f"{name} {'off' if value else 'on'}"
        if value and specializes:
            on[name] = False
            prior, why = -0.2 if scene.evidence.specialization else 0.4, f"without warp specialization ({name})"
        if number or (not value and specializes):
            prior += 0.6
        flipped = int(not value) if number else not value
        # Without specialization the tile and the warps stay as they were tuned: nearer than any other number of them.
        distance = 0.9 if name in on else 2
        yield Proposal({name: flipped}, Move.FLAG, prior, distance, why)
        index += 1
    if len(on) > 1:
        yield Proposal(on, Move.FLAG, 0.6, 2.0 * len(on), "without any warp specialization")
