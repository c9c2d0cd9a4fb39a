"""Matrix operations to ask CuTe DSL about: types, shapes, majors, CTA groups, architectures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

WARP = ("warp.MmaF16BF16Op", "warp.MmaTF32Op", "warp.MmaFP8Op")
WARPGROUP = ("warpgroup.MmaF16BF16Op", "warpgroup.MmaF8Op", "warpgroup.MmaI8Op")
TCGEN05 = ("tcgen05.MmaTF32Op", "tcgen05.MmaF16BF16Op", "tcgen05.MmaI8Op", "tcgen05.MmaFP8Op", "tcgen05.MmaF8F6F4Op")
ARCHITECTURES = ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_110a", "sm_120a")
_FITTING = {
    "F16BF16": ("f16", "bf16"),
    "TF32": ("tf32",),
    "FP8": ("e4m3", "e5m2"),
    "F8F6F4": ("e4m3", "e5m2"),
    "F8": ("e4m3", "e5m2"),
    "I8": ("s8", "u8"),
}
_MIXED = ("warpgroup.MmaF8Op", "warpgroup.MmaI8Op", "tcgen05.MmaF8F6F4Op")
"""Operations that are told the type of B; others have that of A, and some a fixed accumulator."""
_ANY = ("f16", "bf16", "tf32", "f32", "e4m3", "e5m2", "s8", "u8")


def questions(arch: str, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many operations, the same ones for an architecture and seed; three of four near what is legal."""
    chance = random.Random(f"{arch} {seed}")
    for _ in range(count):
        yield _question(chance)


def _question(chance: random.Random) -> dict[str, Any]:
    name = chance.choice((*WARP, *WARPGROUP, *TCGEN05, *TCGEN05))
    types = _FITTING[name.partition(".Mma")[2].removesuffix("Op")]
    a = chance.choice(types if chance.random() < 0.85 else _ANY)
    b = a if chance.random() < 0.8 else chance.choice(types)
    integer = "I8" in name
    d = (
        chance.choice(("s32",) if integer else ("f32", "f32", "f16"))
        if chance.random() < 0.9
        else chance.choice(("f32", "s32"))
    )
    depth = 256 // {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32}.get(a, 8)
    if chance.random() < 0.1:
        depth = chance.choice((4, 8, 16, 32, 64))
    if "TF32" in name:
        a, b, d = "tf32", "tf32", "f32"
    elif name not in _MIXED:
        b = a
    if name == "tcgen05.MmaI8Op":
        d = "s32"
    if name.startswith("warp."):
        shape = (
            [16, 8, depth // chance.choice((1, 2))] if chance.random() < 0.8 else [chance.choice((8, 16, 32)), 8, depth]
        )
    else:
        wide = chance.choice((8, 16, 24, 32, 40, 48, 64, 72, 96, 128, 192, 200, 224, 240, 256, 20, 264, 512, 4))
        rows = (
            chance.choice((64, 128, 256, 64, 128, 192))
            if name.startswith("tcgen05")
            else chance.choice((64, 64, 64, 64, 128))
        )
        shape = [rows, wide, depth]
    return {
        "ask": "mma",
        "operation": name,
        "a": a,
        "b": b,
        "d": d,
        "shape": shape,
        "a_major": chance.choice(("k", "k", "mn")),
        "b_major": chance.choice(("k", "k", "mn")),
        "a_from": chance.choice(("shared", "shared", "tmem" if name.startswith("tcgen05") else "registers")),
        "cta_group": chance.choice((1, 2)),
    }
