"""Hardware limits that a kernel may compile past, because only the launch checks them.

Offline, Triton emits a binary that asks for 512 KiB of shared memory without a word; ``OutOfResources`` comes when
it is loaded. With the table below that failure is seen without a GPU. Every row names where its numbers are from.

Doubtful: cuda:110 (Thor) rests on its listing beside 10.x in the CUDA 13 tables; 10.3 and 12.1 are taken to equal
10.0 and 12.0; gfx1250 was not looked up. Triton asks the driver for the opt-in maximum, so a newer driver may state
another number.

``multiprocessor`` says what all blocks on one SM (AMD: compute unit, or WGP on RDNA) share, which is what occupancy
follows from; gfx1250 is not in that table, nor is what only some boards have.
"""

from __future__ import annotations

from dataclasses import dataclass

from triage.model.target import Target

_CUDA_GUIDE = "CUDA C++ Programming Guide, technical specifications per compute capability"
_TCGEN05 = "PTX ISA, tcgen05: tensor memory is 128 lanes by 512 columns a CTA"
_CLUSTERS = (
    "clusters of 16, not portable, as Triton's launcher allows from 3.6 on (backends/nvidia/driver.py: H100 and B200)"
)
_CDNA = "AMD Instinct CDNA ISA guides: 64 KiB of LDS a work-group, 1024 work-items"
_CDNA4 = "AMD Instinct CDNA4 ISA guide: 160 KiB of LDS a work-group"
_RDNA = "AMD RDNA ISA guides: 64 KiB of LDS a work-group, 1024 work-items"
_GFX1250 = "LLVM AMDGPU target gfx1250: 320 KiB of LDS addressable by a work-group"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one block (and one thread) may use on a target.

    ``shared_bytes`` is the opt-in maximum of a block; ``tensor_memory_columns`` is 0 where there is no tensor
    memory; ``cluster_blocks`` is what Triton's launcher may ask for, 1 where there are no clusters: 16 was launched on
    a part of 9.0 with Triton 3.6.0, and was not tried on 10.x or with earlier releases; ``registers`` is a thread's.
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
    return Limits(232448, f"{source}; {_TCGEN05}; {_CLUSTERS}", tensor_memory_columns=512, cluster_blocks=16)


_CUDA: dict[str, Limits] = {
    "70": Limits(98304, _CUDA_GUIDE),
    "72": Limits(98304, _CUDA_GUIDE),
    "75": Limits(65536, _CUDA_GUIDE),
    "80": Limits(166912, _CUDA_GUIDE),
    "86": Limits(101376, _CUDA_GUIDE),
    "87": Limits(166912, _CUDA_GUIDE),
    "89": Limits(101376, _CUDA_GUIDE),
    "90": Limits(232448, f"{_CUDA_GUIDE}; {_CLUSTERS}", cluster_blocks=16),
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


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """What the blocks on one SM, compute unit (gfx9) or work-group processor (gfx10 and later) share.

    ``shared_bytes`` is all of its shared memory; a block takes what it asks for plus ``reserved_bytes``, rounded up
    to ``shared_granule``. ``partitions`` are the schedulers (SIMDs); each has ``registers`` 32-bit registers for each
    lane of a warp, of which a warp gets a multiple of ``register_granule`` a thread. ``warps`` and ``blocks`` are the
    most that are resident at a time on all partitions together.
    """

    shared_bytes: int
    warps: int
    blocks: int
    partitions: int
    registers: int
    register_granule: int
    reserved_bytes: int
    shared_granule: int
    source: str


_OCCUPANCY = "CUDA C++ Programming Guide, technical specifications; cuda_occupancy.h: allocation granularity"
_LLVM = "LLVM, AMDGPUBaseInfo: total VGPRs, VGPR and LDS granules, waves an EU, barriers a compute unit"


def _sm(kilobytes: int, warps: int, blocks: int, reserved: int = 1024, granule: int = 128) -> Multiprocessor:
    # 65536 registers in four partitions are 512 for each of 32 lanes; a warp gets them by 256, 8 a thread.
    return Multiprocessor(kilobytes * 1024, warps, blocks, 4, 512, 8, reserved, granule, _OCCUPANCY)


_SM: dict[str, Multiprocessor] = {
    # The driver's own KiB a block came with 8.0.
    "70": _sm(96, 64, 32, 0, 256),
    "72": _sm(96, 64, 32, 0, 256),
    "75": _sm(64, 32, 16, 0, 256),
    "80": _sm(164, 64, 32),
    "86": _sm(100, 48, 16),
    "87": _sm(164, 48, 16),
    "89": _sm(100, 48, 24),
    "90": _sm(228, 64, 32),
    "100": _sm(228, 64, 32),
    # Thor: 10.1 up to CUDA 12, 11.0 from CUDA 13 on.
    "101": _sm(228, 48, 24),
    "103": _sm(228, 64, 32),
    "110": _sm(228, 48, 24),
    "120": _sm(100, 48, 24),
    "121": _sm(100, 48, 24),
}


def _cu(
    registers: int, granule: int, waves: int, kilobytes: int = 64, barriers: int = 16, lds: int = 512
) -> Multiprocessor:
    return Multiprocessor(kilobytes * 1024, 4 * waves, barriers, 4, registers, granule, 0, lds, _LLVM)


def _wgp(registers: int, granule: int, waves: int = 16) -> Multiprocessor:
    return _cu(registers, granule, waves, kilobytes=128, barriers=32)


# As above, the first prefix that fits wins. gfx90a and gfx94x/950 count VGPRs and AGPRs together (512 a lane).
_CU: tuple[tuple[str, Multiprocessor], ...] = (
    ("gfx950", _cu(512, 8, 8, kilobytes=160, lds=1280)),
    ("gfx90a", _cu(512, 8, 8)),
    ("gfx94", _cu(512, 8, 8)),
    ("gfx9", _cu(256, 4, 10)),
    ("gfx101", _wgp(1024, 8, 20)),
    ("gfx103", _wgp(1024, 16)),
    ("gfx1100", _wgp(1536, 24)),
    ("gfx1101", _wgp(1536, 24)),
    ("gfx1151", _wgp(1536, 24)),
    ("gfx11", _wgp(1024, 16)),
    ("gfx120", _wgp(1536, 24)),
)


def multiprocessor(target: Target) -> Multiprocessor | None:
    """What the blocks on an SM or compute unit of the target share, or None where the table does not know it."""
    if target.backend == "cuda":
        return _SM.get(target.arch)
    return next((row for prefix, row in _CU if target.arch.startswith(prefix)), None)


def multiprocessors() -> tuple[tuple[Target, Multiprocessor], ...]:
    """Every row of that table, as ``tabulated``."""
    cuda = ((Target("cuda", arch), row) for arch, row in _SM.items())
    return (*cuda, *((Target("hip", prefix), row) for prefix, row in _CU))


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
