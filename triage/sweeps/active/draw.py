"""Random members of sets of cells. Pure."""

from __future__ import annotations

import random

from triage.sweeps.grid import Cell, CellSet, cells_of

_TRIES = 16


def draw(cells: CellSet, count: int, rng: random.Random) -> list[Cell]:
    """At most ``count`` members, each once, each as likely as any other."""
    size = cells.bit_count()
    if size == 0 or count <= 0:
        return []
    width = cells.bit_length()
    if size <= count or width > _TRIES * size:
        members = list(cells_of(cells))
        return rng.sample(members, min(count, size))
    data = cells.to_bytes((width + 7) // 8, "little")
    chosen: dict[Cell, None] = {}
    while len(chosen) < min(count, size // 2 + 1):
        cell = rng.randrange(width)
        if data[cell >> 3] >> (cell & 7) & 1:
            chosen[cell] = None
    return list(chosen)
