"""Hardware limits that a kernel may compile past, because only the launch checks them.

Offline, Triton emits a binary that asks for 512 KiB of shared memory without a word; ``OutOfResources`` comes when
it is loaded. With the table below that failure is seen without a GPU. Every row names where its numbers are from.

Doubtful: cuda:110 (Thor) rests on its listing beside 10.x in the CUDA 13 tables; 10.3 and 12.1 are taken to equal
10.0 and 12.0; gfx1250 was not looked up. Triton asks the driver for the opt-in maximum, so a newer driver may state
another number.
"""

from __future__ import annotations

from dataclasses import dataclass

from triage.target import Target

_CUDA_GUIDE = "CUDA C++ Programming Guide, technical specifications per compute capability"
_TCGEN05 = "PTX ISA, tcgen05: tensor memory is 128 lanes by 512 columns a CTA"
_CDNA = "AMD Instinct CDNA ISA guides: 64 KiB of LDS a work-group, 1024 work-items"
_CDNA4 = "AMD Instinct CDNA4 ISA guide: 160 KiB of LDS a work-group"
_RDNA = "AMD RDNA ISA guides: 64 KiB of LDS a work-group, 1024 work-items"
_GFX1250 = "LLVM AMDGPU target gfx1250: 320 KiB of LDS addressable by a work-group"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one block (and one thread) may use on a target.

    ``shared_bytes`` is the opt-in maximum of a block; ``tensor_memory_columns`` is 0 where there is no tensor
    memory; ``cluster_blocks`` is the portable maximum, 1 where there are no clusters; ``registers`` is a thread's.
    """

    shared_bytes: int
    source: str
    threads: int = 1024
    tensor_memory_columns: int = 0
    cluster_blocks: int = 1
    registers: int = 255


@dataclass(frozen=True, slots=True)
class OverLimit:
    """A limit that is exceeded; ``resource`` is spelled as in Triton's ``OutOfResources``."""

    resource: str
    required: int
    limit: int
    source: str

    def __str__(self) -> str:
        return f"{self.resource}: {self.required} required, {self.limit} is the limit ({self.source})"


def _blackwell(source: str) -> Limits:
    return Limits(232448, f"{source}; {_TCGEN05}", tensor_memory_columns=512, cluster_blocks=8)


_CUDA: dict[str, Limits] = {
    "70": Limits(98304, _CUDA_GUIDE),
    "72": Limits(98304, _CUDA_GUIDE),
    "75": Limits(65536, _CUDA_GUIDE),
    "80": Limits(166912, _CUDA_GUIDE),
    "86": Limits(101376, _CUDA_GUIDE),
    "87": Limits(166912, _CUDA_GUIDE),
    "89": Limits(101376, _CUDA_GUIDE),
    "90": Limits(232448, _CUDA_GUIDE, cluster_blocks=8),
    "100": _blackwell(_CUDA_GUIDE),
    "101": _blackwell(_CUDA_GUIDE),
    "103": _blackwell(_CUDA_GUIDE),
    "110": _blackwell(_CUDA_GUIDE),
    # A launch attribute accepts clusters on consumer Blackwell, and 8 is the portable size there too.
    "120": Limits(101376, _CUDA_GUIDE, cluster_blocks=8),
    "121": Limits(101376, _CUDA_GUIDE, cluster_blocks=8),
}

# The first prefix that fits wins, so the exact names stand before the families. AMD counts vector registers up to
# 512 a lane on CDNA (with accumulation registers) and 256 elsewhere.
_HIP: tuple[tuple[str, Limits], ...] = (
    ("gfx950", Limits(163840, _CDNA4, registers=512)),
    ("gfx90a", Limits(65536, _CDNA, registers=512)),
    ("gfx94", Limits(65536, _CDNA, registers=512)),
    ("gfx9", Limits(65536, _CDNA, registers=256)),
    ("gfx1250", Limits(327680, _GFX1250, registers=1024)),
    ("gfx10", Limits(65536, _RDNA, registers=256)),
    ("gfx11", Limits(65536, _RDNA, registers=256)),
    ("gfx12", Limits(65536, _RDNA, registers=256)),
)


def limits(target: Target) -> Limits | None:
    """The limits of a target, or None where the table does not know it: nothing is guessed."""
    if target.backend == "cuda":
        return _CUDA.get(target.arch)
    return next((row for prefix, row in _HIP if target.arch.startswith(prefix)), None)


def tabulated() -> tuple[tuple[Target, Limits], ...]:
    """Every row of the table; on AMD a family is shown by its name, as a target would be."""
    cuda = ((Target("cuda", arch), row) for arch, row in _CUDA.items())
    return (*cuda, *((Target("hip", prefix), row) for prefix, row in _HIP))


def over_limit(
    target: Target,
    shared_bytes: int = 0,
    threads: int = 0,
    tensor_memory_columns: int | None = None,
    num_ctas: int = 1,
) -> OverLimit | None:
    """The first limit that the launch would report, in the order in which Triton checks them; None within all."""
    row = limits(target)
    if row is None:
        return None
    asked = (
        ("shared memory", shared_bytes, row.shared_bytes),
        ("tensor memory", tensor_memory_columns or 0, row.tensor_memory_columns),
        ("threads", threads, row.threads),
        ("cluster blocks", num_ctas, row.cluster_blocks),
    )
    return next(
        (OverLimit(resource, required, limit, row.source) for resource, required, limit in asked if required > limit),
        None,
    )
