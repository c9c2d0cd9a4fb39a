"""The ``mma.sync`` that Triton makes of a ``tl.dot`` which it does not give to wgmma or tcgen05.

Observed on Triton 3.9.0 (tests compile it). Source: Triton, lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp and
third_party/nvidia/lib/TritonNVIDIAGPUToLLVM/DotOpToLLVM/MMAv2.cpp: k is 256 bits of an operand.
"""

from dataclasses import dataclass

from triage.model.target import Target

_FP64 = (80, 90, 100)
_FP8 = (89, 120)


DOT_TYPES = ("f16", "bf16", "f32", "tf32", "f64", "s8", "e4m3", "e5m2")
"""Operand types of ``tl.dot`` that ``chosen`` knows; u8 and anything of 4 or 6 bits it refuses."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The shape and operand type of the instruction; ``operand`` differs from what was given where Triton converts."""

    m: int
    n: int
    k: int
    operand: str


def chosen(a: str, target: Target) -> Choice | None:
    """The instruction for a type of A and B (by PTX name), None where there is none and Triton multiplies with FMA, or
    refuses the types.

    fp32 is taken as tf32, Triton's default. fp8 is multiplied as such on cuda:89 and cuda:120 alone: cuda:90 and
    cuda:100, where it is meant for wgmma and tcgen05, and e5m2 before cuda:89 are converted to f16. fp64 has no
    instruction on cuda:86, 89 and 120, whose fp64 units are few.
    """
    capability = target.capability or 0
    if capability < 80:
        return None
    if a in ("f16", "bf16"):
        return Choice(16, 8, 16, a)
    if a in ("f32", "tf32"):
        return Choice(16, 8, 8, "tf32")
    if a == "s8":
        return Choice(16, 8, 32, a)
    if a == "f64":
        return Choice(8, 8, 4, a) if capability in _FP64 else None
    if a in ("e4m3", "e5m2"):
        if capability in _FP8:
            return Choice(16, 8, 32, a)
        if a == "e5m2" or capability >= 90:
            return Choice(16, 8, 16, "f16")
    return None
