"""Tiles of wgmma to ask CuTe DSL about: every layout atom, stage counts, orders, instructions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

_BITS = {"f16": 16, "bf16": 16, "e4m3": 8, "s8": 8}
_WIDTHS = {"SW128": 128, "SW64": 64, "SW32": 32, "INTER": 16}


def questions() -> Iterator[dict[str, Any]]:
    """Some hundred tiles that the layout atoms fill."""
    for dtype, major, width, order in product(_BITS, ("k", "mn"), _WIDTHS, ((0, 1, 2), (1, 0, 2))):
        if major == "mn" and _BITS[dtype] == 8:
            continue
        atom = f"{major.upper()}_{width}"
        for tile, n, stages in (((128, 128, 64), 64, 3), ((64, 256, 128), 128, 1), ((256, 64, 128), 64, 4)):
            contiguous = tile[2] if major == "k" else min(tile[:2])
            if contiguous * _BITS[dtype] // 8 % _WIDTHS[width]:
                continue
            for a_from in ("shared", "registers") if major == "k" else ("shared",):
                yield {
                    "ask": "wgmma",
                    "dtype": dtype,
                    "d": "s32" if dtype == "s8" else "f32",
                    "tile": tile,
                    "n": n,
                    "a_major": major,
                    "b_major": major,
                    "a_from": a_from,
                    "a_atom": atom,
                    "b_atom": atom,
                    "stages": stages,
                    "order": order,
                }
