"""Tiled copies to ask CuTe DSL about: every kind of layout, alignment, thread and value layout, a few thousand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

BITS = {"s8": 8, "e4m3": 8, "f16": 16, "bf16": 16, "f32": 32, "s32": 32}
_SWIZZLES = ([3, 3, 3], [2, 3, 3], [3, 4, 3], [2, 4, 3], [1, 3, 3], [3, 2, 3])
_THREADS = (
    "(16,16):(16,1)",
    "(16,16):(1,16)",
    "(32,8):(1,32)",
    "(8,32):(32,1)",
    "(32,4):(4,1)",
    "(4,32):(1,4)",
    "(2,2):(1,2)",
    "(128,1):(1,128)",
    "(1,64):(64,1)",
    "((2,8),8):((1,16),2)",
)


def cases(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many copies, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _case(chance)


def _case(chance: random.Random) -> dict[str, Any]:
    dtype = chance.choice(list(BITS))
    atom = chance.choice(("universal", "async"))
    bits = chance.choice((16, 32, 64, 128, 128, 128))
    count = max(bits // BITS[dtype], 1)
    values = chance.choice(
        (
            f"({count},1):(1,{count})",
            f"(1,{count}):({count},1)",
            f"({count},2):(1,{count})",
            f"(2,{count}):({count},1)",
            f"(1,{2 * count}):({2 * count},1)",
            "(1,1):(1,1)",
            "(4,4):(1,4)",
            "(2,2):(2,1)",
        )
    )
    shape = tuple(chance.choice((64, 128, 256)) for _ in range(2))
    source = _side(chance, shape, "gmem", BITS[dtype], dynamic=0.3)
    destination = _side(chance, shape, "smem", BITS[dtype], dynamic=0.05)
    if chance.random() < 0.25:
        destination["swizzle"] = chance.choice(_SWIZZLES)
        destination["alignment"] = 128
    if atom == "universal" and chance.random() < 0.3:
        side = chance.choice((source, destination))
        side["space"], side["swizzle"] = chance.choice(("rmem", "gmem", "smem", "generic")), None
    elif chance.random() < 0.03:
        source["space"] = chance.choice(("smem", "generic"))
    if chance.random() < 0.25:
        source = _tiled(chance, source, shape)
    case = {"ask": "copy", "dtype": dtype, "atom": atom, "bits": bits, "source": source, "destination": destination}
    return {**case, "threads": chance.choice(_THREADS), "values": values, "fork": destination["swizzle"] is not None}


def _side(chance: random.Random, shape: tuple[int, ...], space: str, bits: int, dynamic: float) -> dict[str, Any]:
    """A tensor contiguous along either mode, perhaps with padding, a dynamic stride, or none of stride 1."""
    first = chance.randrange(2)
    step = chance.choice((1, 1, 1, 1, 1, 1, 2, 8))
    stride: list[int | str] = [step, step]
    pitch: int | str = step * shape[first] + chance.choice((0, 0, 0, 8, 4, 1))
    if chance.random() < dynamic:
        pitch = chance.choice(("?", "?{2}", "?{4}", "?{8}", "?{16}"))
    stride[1 - first] = pitch
    if chance.random() < 0.02:
        stride[first] = "?{8}"
    layout = f"({shape[0]},{shape[1]}):({stride[0]},{stride[1]})"
    if chance.random() < 0.15 and isinstance(pitch, int):
        # Blocks of eight lines, as tile_to_shape leaves them.
        layout = (
            f"((8,{shape[0] // 8}),{shape[1]}):((1,{8 * shape[1]}),8)"
            if first == 0
            else (f"((8,{shape[0] // 8}),{shape[1]}):(({shape[1]},{8 * shape[1]}),1)")
        )
    alignment = chance.choice((16, 16, 16, 128, bits // 8, 4, 8)) if bits <= 32 else 16
    return {"layout": layout, "alignment": max(alignment, bits // 8), "space": space, "swizzle": None, "tiler": None}


def _tiled(chance: random.Random, side: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """A tile of these extents of a larger tensor, at a block's coordinate."""
    stride = side["layout"].split(":")[1]
    if "((" in side["layout"]:
        return side
    extents = chance.choice((f"({4 * shape[0]},{2 * shape[1]})", "(?,?)", f"(?,{shape[1]})"))
    return {**side, "layout": f"{extents}:{stride}", "tiler": list(shape)}
