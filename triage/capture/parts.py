"""One product for each architecture: what a program sees of the GPU that ``--compile-only`` stands in for.

Kernels are chosen by such numbers (persistent kernels by the number of multiprocessors), so they are those of a part
that is in use, and not guessed. What a block may use is in ``triage/legality/limits.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from triage.legality.limits import limits, multiprocessor
from triage.model.errors import InputError
from triage.model.target import Target


@dataclass(frozen=True, slots=True)
class Part:
    """``multiprocessors`` as the driver counts them: SMs, compute units on CDNA, work-group processors on RDNA."""

    name: str
    multiprocessors: int
    memory_gib: int
    source: str


_NVIDIA = "NVIDIA's data sheet or architecture white paper of the part"
_AMD = "AMD's data sheet of the part; RDNA's compute units in pairs, as HIP counts them"
_PARTS: dict[str, Part] = {
    "cuda:70": Part("Tesla V100-SXM2-32GB", 80, 32, _NVIDIA),
    "cuda:75": Part("Tesla T4", 40, 16, _NVIDIA),
    "cuda:80": Part("NVIDIA A100-SXM4-80GB", 108, 80, _NVIDIA),
    "cuda:86": Part("NVIDIA GeForce RTX 3090", 82, 24, _NVIDIA),
    "cuda:87": Part("Orin", 16, 64, _NVIDIA),
    "cuda:89": Part("NVIDIA GeForce RTX 4090", 128, 24, _NVIDIA),
    "cuda:90": Part("NVIDIA H100 80GB HBM3", 132, 80, _NVIDIA),
    "cuda:100": Part("NVIDIA B200", 148, 180, _NVIDIA),
    "cuda:103": Part("NVIDIA B300", 148, 270, _NVIDIA),
    "cuda:120": Part("NVIDIA GeForce RTX 5090", 170, 32, _NVIDIA),
    "cuda:121": Part("NVIDIA GB10", 48, 128, _NVIDIA),
    "hip:gfx90a": Part("AMD Instinct MI250X", 110, 64, _AMD),
    "hip:gfx942": Part("AMD Instinct MI300X", 304, 192, _AMD),
    "hip:gfx950": Part("AMD Instinct MI355X", 256, 288, _AMD),
    "hip:gfx1030": Part("AMD Radeon RX 6900 XT", 40, 16, _AMD),
    "hip:gfx1100": Part("AMD Radeon RX 7900 XTX", 48, 24, _AMD),
    "hip:gfx1201": Part("AMD Radeon RX 9070 XT", 32, 16, _AMD),
}


def described(target: Target) -> dict[str, str | int]:
    """The part of a target as ``capture/program/fake/device.py`` reads it. Raises InputError where there is none."""
    part, limit, shared = _PARTS.get(str(target)), limits(target), multiprocessor(target)
    if part is None or limit is None or shared is None:
        raise InputError(f"--target {target}: no part of it is known to compile for; known are {', '.join(_PARTS)}")
    return {
        "backend": target.backend,
        "arch": target.capability or target.arch,
        "warp_size": target.warp_size,
        "name": part.name,
        "shared_bytes": limit.shared_bytes,
        "shared_bytes_multiprocessor": shared.shared_bytes,
        "threads": limit.threads,
        "warps": shared.warps,
        "multiprocessors": part.multiprocessors,
        "memory_bytes": part.memory_gib << 30,
    }
