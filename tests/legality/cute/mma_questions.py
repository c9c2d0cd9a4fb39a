"""Matrix operations to ask CuTe DSL about: types, shapes, majors, CTA groups, architectures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

WARP = ("warp.MmaF16BF16Op", "warp.MmaTF32Op", "warp.MmaFP8Op")
WARPGROUP = ("warpgroup.MmaF16BF16Op", "warpgroup.MmaF8Op", "warpgroup.MmaI8Op")
TCGEN05 = ("tcgen05.MmaTF32Op", "tcgen05.MmaF16BF16Op", "tcgen05.MmaI8Op", "tcgen05.MmaFP8Op", "tcgen05.MmaF8F6F4Op")
ARCHITECTURES = ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_103a", "sm_110a", "sm_120a")
SCALED = (
    "warp.MmaMXF4Op", "warp.MmaMXF4NVF4Op", "warp.MmaMXF8Op", "warp.MmaMXF8F6F4Op", "tcgen05.MmaMXF8Op",
    "tcgen05.MmaMXF8F6F4Op", "tcgen05.MmaMXF4Op", "tcgen05.MmaMXF4NVF4Op",
)  # fmt: skip
SPARSE = ("tcgen05.MmaF16BF16SparseOp", "tcgen05.MmaFP8SparseOp")
_NARROW = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
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


def scaled_questions(arch: str, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many block-scaled and sparse operations, the same ones for an architecture and seed."""
    chance = random.Random(f"scaled {arch} {seed}")
    for _ in range(count):
        yield _scaled_question(chance)


def _scaled_question(chance: random.Random) -> dict[str, Any]:
    name = chance.choice((*SCALED, *SCALED, *SPARSE))
    is_f16, is_f4 = "F16" in name, "MXF4" in name
    types = ("f16", "bf16") if is_f16 else ("e2m1",) if is_f4 else _NARROW if "F8F6F4" in name else ("e4m3", "e5m2")
    a = chance.choice(types if chance.random() < 0.9 else (*_ANY, "e2m1"))
    b = chance.choice(types) if "F8F6F4" in name else a
    d = chance.choice(("f32", "f32", "f32", "f16", "s32") if name not in SPARSE else ("f32", "f16"))
    scales = "e4m3" if "NVF4" in name else "ue8m0"
    if chance.random() < 0.15:
        scales = chance.choice(("e4m3", "ue8m0", "f32", "e5m2"))
    depth = 64 if is_f4 or name == "tcgen05.MmaFP8SparseOp" else 32
    if chance.random() < 0.08 and (name.startswith("tcgen05") or name in SPARSE):
        depth = chance.choice((8, 16, 32, 64, 128))
    shape = [16, 8, depth]
    if name.startswith("tcgen05"):
        wide = chance.choice((8, 16, 24, 32, 40, 48, 64, 72, 96, 128, 192, 200, 224, 240, 256, 20, 264, 4))
        shape = [chance.choice((64, 128, 128, 256, 192)), wide, depth]
        d = d if name in SPARSE else "f32"
        if is_f4:
            a = b = "e2m1"
        if name == "tcgen05.MmaMXF4Op" or "MXF8" in name:
            scales = "ue8m0"
    fixed = is_f4 or name.startswith("warp.")
    return {
        "ask": "mma",
        "operation": name,
        "a": a,
        "b": b,
        "d": d,
        "scales": scales if name in SCALED else "ue8m0",
        "shape": shape,
        "a_major": "k" if fixed else chance.choice(("k", "k", "mn")),
        "b_major": "k" if fixed else chance.choice(("k", "k", "mn")),
        "a_from": chance.choice(("shared", "shared", "tmem" if name.startswith("tcgen05") else "shared")),
        "cta_group": chance.choice((1, 2)),
    }
