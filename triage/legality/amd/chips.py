"""AMD's chips by name: which are known, and which family of matrix instructions each has.

Names are LLVM's processors ("User Guide for AMDGPU Backend", processors).
"""

from __future__ import annotations

from triage.model.target import Target

# The numbers of the chips behind "gfx".
_WITHOUT = frozenset(
    f"gfx{number}" for number in ("900", "902", "904", "906", "909", "90c", *range(1010, 1014), *range(1030, 1037))
)
_MFMA = frozenset({"gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"})
_WMMA = frozenset(
    f"gfx{number}" for number in (*range(1100, 1104), *range(1150, 1155), *range(1170, 1173), 1200, 1201, 1250, 1251)
)


def known(target: Target) -> bool:
    """Whether anything is known of a target's matrix instructions: all of NVIDIA's have none of AMD's."""
    return target.backend == "cuda" or target.arch in _WITHOUT | _MFMA | _WMMA


def has_instead(target: Target) -> str:
    """For a message: the matrix instructions that a target has, or nothing to say."""
    if target.backend == "cuda":
        return ": NVIDIA's are mma.sync, wgmma and tcgen05"
    if target.arch in _MFMA:
        return ": it has MFMA"
    if target.arch in _WMMA:
        return ": it has WMMA"
    return " and no other matrix instructions"
