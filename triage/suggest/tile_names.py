"""Dimensions that the names of tile sizes stand for."""

from __future__ import annotations

import re


def dimension(name: str) -> str | None:
    """The dimension a tile's name speaks of: ``BLOCK_M``, ``BM``, ``M`` and ``BLOCK_SIZE_M`` are all ``M``."""
    found = re.search(r"(?:\A|_|\AB|BLOCK|TILE|SIZE)([MNK])(?:_?(?:SIZE|BLOCK|TILE))?\Z", name, re.IGNORECASE)
    return found[1].upper() if found else None
