"""Operations on layouts to ask CuTe DSL about."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

_FUNCTIONS = ("composition", "coalesce", "logical_divide", "raked_product", "blocked_product", "right_inverse")


def questions(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many operations, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        function = chance.choice((*_FUNCTIONS, "tile_to_shape", "divide"))
        if function == "divide":
            tiler = [chance.choice((1, 2, 4, 6, 8, 32)) for _ in range(chance.choice((1, 2, 2, 3)))]
            yield {"ask": "divide", "layout": _layout(chance, chance.choice((2, 3)))[1], "tiler": tiler}
            continue
        if function == "tile_to_shape":
            extents, text = _layout(chance, 2)
            rank = chance.choice((2, 3))
            shape = [extents[index] * chance.choice((1, 2, 3)) if index < 2 else 3 for index in range(rank)]
            order = chance.sample(range(rank), rank)
            yield {"ask": "tile_to_shape", "layout": text, "shape": shape, "order": order}
            continue
        operands = 1 if function in ("coalesce", "right_inverse") else 2
        compact = function.endswith("_product")
        ranks = (2, 2) if compact else (chance.choice((1, 2, 3)), 1 if function == "logical_divide" else 2)
        texts = [_layout(chance, rank, compact)[1] for rank in ranks[:operands]]
        yield {"ask": "algebra", "function": function, "layouts": texts}


def _layout(chance: random.Random, rank: int, compact: bool = False) -> tuple[list[int], str]:
    """A layout of this rank, with gaps unless it is compact."""
    extents = [chance.choice((1, 2, 3, 4, 6, 8, 16)) for _ in range(rank)]
    strides, reached = [0] * rank, 1 if compact else chance.choice((1, 1, 2, 4))
    for index in chance.sample(range(rank), rank):
        strides[index] = reached
        reached *= extents[index]
        reached += 0 if compact else chance.choice((0, 0, reached))
    return extents, f"({','.join(map(str, extents))}):({','.join(map(str, strides))})".replace(
        f"({extents[0]}):({strides[0]})", f"{extents[0]}:{strides[0]}"
    )
