"""Which matrix instructions an AMD chip has, for the rules and messages of MFMA and WMMA."""

from __future__ import annotations

from triage.model.gpus import TensorCore
from triage.model.target import Target


def known(target: Target) -> bool:
    """Whether the matrix instructions of a target are known: NVIDIA's are none of AMD's."""
    return target.backend == "cuda" or target.gpu is not None


def version(target: Target, family: TensorCore) -> int:
    """The version of a target's MFMA or WMMA instructions, 0 where it has none of them."""
    gpu = target.gpu
    return gpu.matrix_version if gpu is not None and gpu.matrix is family else 0


def has_instead(target: Target) -> str:
    """For a message: the matrix instructions that a target has."""
    if target.backend == "cuda":
        return ": NVIDIA's are mma.sync, wgmma and tcgen05"
    matrix = target.gpu.matrix if target.gpu is not None else TensorCore.NONE
    return " and no other matrix instructions" if matrix is TensorCore.NONE else f": it has {matrix.name}"
