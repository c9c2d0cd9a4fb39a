"""The facts of each GPU architecture: one table, from which every other module reads them.

A row is an architecture as Triton names it, a compute capability or a gfx name. What the compiler or the driver checks
on it is in ``block`` and ``sm``; what a program is shown of a GPU that is not there is in ``product``, one product for
each architecture, since kernels are chosen by its numbers. A fact that was not looked up is None, never guessed.

Which architectures exist: NVIDIA's are those that a ptxas of Triton's assembles for (3.0 to 3.9, ``ptxas --help``),
AMD's are LLVM's ("User Guide for AMDGPU Backend", processors), both from the first that Triton has a back end for.

Doubtful: 11.0 (Thor) rests on its listing beside 10.x in the CUDA 13 tables; 10.3 and 12.1 are taken to equal 10.0 and
12.0; 8.8 and 10.7 are assembled for by ptxas 13.4, and nothing else is known of them. Triton asks the driver for the
opt-in maximum of shared memory, so a newer driver may state another number.

To add an architecture, add its row where its number belongs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

MAX_THREADS = 1024
"""Threads (work-items) a block, on every architecture of the table."""


class TensorCore(str, Enum):
    """A class of matrix instructions, fastest first within a vendor."""

    TCGEN05 = "tcgen05"
    WGMMA = "wgmma"
    MMA_SYNC = "mma.sync"
    MFMA = "mfma"
    WMMA = "wmma"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """What one block (and one thread) may use.

    ``shared_bytes`` is the opt-in maximum of a block; ``tensor_memory_columns`` is 0 where there is no tensor
    memory; ``cluster_blocks`` is what Triton's launcher may ask for, 1 where there are no clusters: 16 was launched on
    a part of 9.0 with Triton 3.6.0, and was not tried on 10.x or with earlier releases; ``registers`` is a thread's.
    """

    shared_bytes: int
    source: str
    threads: int = MAX_THREADS
    tensor_memory_columns: int = 0
    cluster_blocks: int = 1
    registers: int = 255


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


@dataclass(frozen=True, slots=True)
class Rates:
    """What a multiprocessor of a product does in a cycle, and what all of them share.

    ``matrix_flops``: dense flops of 16-bit floats with fp32 accumulation, in the fastest class of matrix instructions;
    ``older_matrix``: the part of it that ``mma.sync`` reaches where that is not the fastest. ``lanes``: fp32
    operations (a fused multiply-add is one); ``special``: of the special-function units. ``shared_bytes`` and
    ``cache_bytes``: traffic with shared memory and with L2. ``l1_kib`` is shared memory included; ``l2_mib`` is what
    one multiprocessor's reads may occupy: half where L2 has two partitions, each of which keeps its own copies.
    ``memory_gb_s`` is the device memory's, 10⁹ bytes a second.
    """

    clock_mhz: int
    matrix_flops: int
    lanes: int
    memory_gb_s: int
    l1_kib: int
    l2_mib: float
    special: int = 16
    shared_bytes: int = 128
    cache_bytes: int = 64
    older_matrix: float = 1.0


@dataclass(frozen=True, slots=True)
class Product:
    """A GPU that is sold. ``multiprocessors`` as the driver counts them: SMs; compute units on CDNA and GCN;
    work-group processors on RDNA, as HIP does. ``memory_gib`` is what one device of the driver's has. ``rates`` are
    None where they were not looked up."""

    name: str
    multiprocessors: int
    memory_gib: int
    source: str
    rates: Rates | None = None


@dataclass(frozen=True, slots=True)
class Architecture:
    """A row. ``name`` is the compute capability times ten, or the gfx name.

    ``matrix`` is the fastest class of matrix instructions. ``matrix_version`` counts AMD's: 1 to 4 are the MFMA of
    CDNA 1 to 4, 1 to 3 the WMMA of RDNA 3, RDNA 4 and gfx1250 (Triton, lib/Dialect/TritonAMDGPU: getMfmaVersion,
    getWmmaVersion; LLVM gives gfx117x the encodings of RDNA 4); 0 on NVIDIA. ``fp8`` are the 8-bit floats that it
    multiplies or converts in hardware (PTX ISA, cvt; AMD ISA guides). ``typical``: the usual one of its generation,
    named when a kernel would need another machine.
    """

    backend: str
    name: str
    generation: str
    warp_size: int
    matrix: TensorCore
    matrix_version: int
    fp8: tuple[str, ...]
    block: BlockLimits | None
    sm: Multiprocessor | None
    product: Product | None
    typical: bool

    @property
    def year(self) -> int | None:
        """When the first product of the generation was announced; None if none was."""
        return _YEARS.get(self.generation)

    def __str__(self) -> str:
        return f"{self.backend}:{self.name}"


# The vendors' announcements of each generation's first product.
_YEARS = {
    "Volta": 2017, "Turing": 2018, "Ampere": 2020, "Ada Lovelace": 2022, "Hopper": 2022, "Blackwell": 2024,
    "GCN 5": 2017, "CDNA": 2020, "CDNA 2": 2021, "CDNA 3": 2023, "CDNA 4": 2025, "gfx1250": 2026,
    "RDNA": 2019, "RDNA 2": 2020, "RDNA 3": 2022, "RDNA 3.5": 2024, "RDNA 4": 2025,
}  # fmt: skip
_GUIDE = "CUDA C++ Programming Guide, technical specifications per compute capability"
_TCGEN05 = "PTX ISA, tcgen05: tensor memory is 128 lanes by 512 columns a CTA"
_CLUSTERS = (
    "clusters of 16, not portable, as Triton's launcher allows from 3.6 on (backends/nvidia/driver.py: H100 and B200)"
)
_OCCUPANCY = "CUDA C++ Programming Guide, technical specifications; cuda_occupancy.h: allocation granularity"
_SHEET = "NVIDIA's data sheet or architecture white paper of the part"
_CDNA = "AMD Instinct CDNA ISA guides: 64 KiB of LDS a work-group, 1024 work-items"
_CDNA4 = "AMD Instinct CDNA4 ISA guide: 160 KiB of LDS a work-group"
_RDNA = "AMD RDNA ISA guides: 64 KiB of LDS a work-group, 1024 work-items"
_GFX1250 = "LLVM AMDGPU target gfx1250: 320 KiB of LDS addressable by a work-group"
_LLVM = "LLVM, AMDGPUBaseInfo: total VGPRs, VGPR and LDS granules, waves an EU, barriers a compute unit"
_ROCM = "ROCm documentation, GPU specifications: compute units (a GCD's), VRAM; RDNA's in pairs, as HIP counts them"

_OCP, _FNUZ = ("e4m3", "e5m2"), ("e4m3fnuz", "e5m2fnuz")


def _shared(kib: int) -> BlockLimits:
    return BlockLimits(kib * 1024, _GUIDE)


def _sm(kib: int, warps: int, blocks: int, reserved: int = 1024, granule: int = 128) -> Multiprocessor:
    # 65536 registers in four partitions are 512 for each of 32 lanes; a warp gets them by 256, 8 a thread.
    return Multiprocessor(kib * 1024, warps, blocks, 4, 512, 8, reserved, granule, _OCCUPANCY)


def _part(name: str, multiprocessors: int, memory_gib: int) -> Product:
    return Product(name, multiprocessors, memory_gib, _SHEET, _RATES.get(name))


# Boost clock, and the sheet's peak of 16-bit floats with fp32 accumulation over clock and multiprocessors; bandwidth
# and caches of the sheet. GeForce parts halve that accumulation. On 9.0 mma.sync reaches 62 % of wgmma's rate
# ("Dissecting the NVIDIA Hopper Architecture through Microbenchmarking", arXiv 2501.12084); 10.0 keeps 9.0's mma.sync.
_RATES = {
    "Tesla V100-SXM2-32GB": Rates(1530, 1024, 64, 900, 128, 6),
    "Tesla T4": Rates(1590, 1024, 64, 320, 96, 4),
    "NVIDIA A100-SXM4-80GB": Rates(1410, 2048, 64, 2039, 192, 20),
    "NVIDIA GeForce RTX 3090": Rates(1695, 512, 128, 936, 128, 6),
    "NVIDIA GeForce RTX 4090": Rates(2520, 512, 128, 1008, 128, 72),
    "NVIDIA H100 80GB HBM3": Rates(1830, 4096, 128, 3352, 256, 25, older_matrix=0.62),
    "NVIDIA B200": Rates(1850, 8192, 128, 8000, 256, 63, older_matrix=0.31),
    "NVIDIA GeForce RTX 5090": Rates(2407, 512, 128, 1792, 128, 96),
}


def _nvidia(
    name: str,
    generation: str,
    matrix: TensorCore,
    block: BlockLimits | None,
    sm: Multiprocessor | None,
    product: Product | None = None,
    *,
    typical: bool = False,
) -> Architecture:
    fp8 = _OCP if int(name) >= 89 else ()
    return Architecture("cuda", name, generation, 32, matrix, 0, fp8, block, sm, product, typical)


_VOLTA, _TURING, _AMPERE, _ADA, _HOPPER, _BLACKWELL = "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell"
_UNKNOWN = "not announced"
_MMA, _WGMMA, _TCGEN = TensorCore.MMA_SYNC, TensorCore.WGMMA, TensorCore.TCGEN05

_HOPPER_BLOCK = BlockLimits(227 * 1024, f"{_GUIDE}; {_CLUSTERS}", cluster_blocks=16)
_BLACKWELL_BLOCK = BlockLimits(
    227 * 1024, f"{_GUIDE}; {_TCGEN05}; {_CLUSTERS}", tensor_memory_columns=512, cluster_blocks=16
)
# A launch attribute accepts clusters on consumer Blackwell, and 8 is the portable size there too.
_GEFORCE_BLOCK = BlockLimits(99 * 1024, _GUIDE, cluster_blocks=8)
_H100, _B200 = _part("NVIDIA H100 80GB HBM3", 132, 80), _part("NVIDIA B200", 148, 180)
_RTX_5090, _THOR = _part("NVIDIA GeForce RTX 5090", 170, 32), _part("NVIDIA Thor", 20, 128)

# The driver's own KiB a block came with 8.0. Thor is 10.1 up to CUDA 12, 11.0 from CUDA 13 on.
_NVIDIA = (
    _nvidia("70", _VOLTA, _MMA, _shared(96), _sm(96, 64, 32, 0, 256), _part("Tesla V100-SXM2-32GB", 80, 32)),
    _nvidia("72", _VOLTA, _MMA, _shared(96), _sm(96, 64, 32, 0, 256), _part("Xavier", 8, 32)),
    _nvidia("75", _TURING, _MMA, _shared(64), _sm(64, 32, 16, 0, 256), _part("Tesla T4", 40, 16), typical=True),
    _nvidia("80", _AMPERE, _MMA, _shared(163), _sm(164, 64, 32), _part("NVIDIA A100-SXM4-80GB", 108, 80), typical=True),
    # A GA102 has 84 SMs, all of them on an A40; an A10 has 72.
    _nvidia("86", _AMPERE, _MMA, _shared(99), _sm(100, 48, 16), _part("NVIDIA GeForce RTX 3090", 82, 24)),
    _nvidia("87", _AMPERE, _MMA, _shared(163), _sm(164, 48, 16), _part("Orin", 16, 64)),
    _nvidia("88", _UNKNOWN, _MMA, None, None),
    _nvidia("89", _ADA, _MMA, _shared(99), _sm(100, 48, 24), _part("NVIDIA GeForce RTX 4090", 128, 24), typical=True),
    _nvidia("90", _HOPPER, _WGMMA, _HOPPER_BLOCK, _sm(228, 64, 32), _H100, typical=True),
    _nvidia("100", _BLACKWELL, _TCGEN, _BLACKWELL_BLOCK, _sm(228, 64, 32), _B200, typical=True),
    _nvidia("101", _BLACKWELL, _TCGEN, _BLACKWELL_BLOCK, _sm(228, 48, 24), _THOR),
    _nvidia("103", _BLACKWELL, _TCGEN, _BLACKWELL_BLOCK, _sm(228, 64, 32), _part("NVIDIA B300", 148, 270)),
    _nvidia("107", _UNKNOWN, _TCGEN, None, None),
    _nvidia("110", _BLACKWELL, _TCGEN, _BLACKWELL_BLOCK, _sm(228, 48, 24), _THOR),
    _nvidia("120", _BLACKWELL, _MMA, _GEFORCE_BLOCK, _sm(100, 48, 24), _RTX_5090, typical=True),
    _nvidia("121", _BLACKWELL, _MMA, _GEFORCE_BLOCK, _sm(100, 48, 24), _part("NVIDIA GB10", 48, 128)),
)  # fmt: skip


def _cu(registers: int, granule: int, waves: int, kib: int = 64, barriers: int = 16, lds: int = 512) -> Multiprocessor:
    return Multiprocessor(kib * 1024, 4 * waves, barriers, 4, registers, granule, 0, lds, _LLVM)


def _wgp(registers: int, granule: int, waves: int = 16) -> Multiprocessor:
    return _cu(registers, granule, waves, kib=128, barriers=32)


def _amd(
    names: str,
    generation: str,
    matrix: TensorCore,
    version: int,
    block: BlockLimits,
    sm: Multiprocessor | None,
    *,
    fp8: tuple[str, ...] = (),
    typical: str = "",
) -> tuple[Architecture, ...]:
    """The rows of chips that differ only in their products."""
    rows = []
    for name in (f"gfx{number}" for number in names.split()):
        warp_size = 64 if name.startswith("gfx9") else 32  # RDNA has waves of both sizes; Triton compiles for 32
        product = _AMD_PRODUCTS.get(name)
        is_typical = name == typical
        rows.append(
            Architecture("hip", name, generation, warp_size, matrix, version, fp8, block, sm, product, is_typical)
        )
    return tuple(rows)


# By architecture; a compute unit of CDNA issues 64 lanes a cycle, a work-group processor of RDNA 128.
_AMD_RATES = {
    "gfx90a": Rates(1700, 1024, 64, 1638, 16, 8),
    "gfx942": Rates(2100, 2048, 64, 5300, 32, 4),
    "gfx950": Rates(2400, 4096, 64, 8000, 32, 4),
    "gfx1100": Rates(2500, 1024, 128, 960, 32, 6, special=32),
    "gfx1201": Rates(2970, 2048, 128, 640, 32, 8, special=32),
}

_AMD_PRODUCTS = {
    name: Product(product, units, gib, _ROCM, _AMD_RATES.get(name))
    for name, product, units, gib in (
        ("gfx900", "AMD Instinct MI25", 64, 16),
        ("gfx906", "AMD Instinct MI60", 64, 32),
        ("gfx908", "AMD Instinct MI100", 120, 32),
        # One of its two GCDs, which are two devices; those of the MI250 and the only one of the MI210 have 104.
        ("gfx90a", "AMD Instinct MI250X", 110, 64),
        ("gfx942", "AMD Instinct MI300X", 304, 192),
        ("gfx950", "AMD Instinct MI355X", 256, 288),
        ("gfx1030", "AMD Radeon RX 6900 XT", 40, 16),
        ("gfx1100", "AMD Radeon RX 7900 XTX", 48, 24),
        ("gfx1101", "AMD Radeon RX 7800 XT", 30, 16),
        ("gfx1102", "AMD Radeon RX 7600", 16, 8),
        ("gfx1200", "AMD Radeon RX 9060 XT", 16, 16),
        ("gfx1201", "AMD Radeon RX 9070 XT", 32, 16),
    )
}

_NONE, _MFMA, _WMMA = TensorCore.NONE, TensorCore.MFMA, TensorCore.WMMA
# Vector registers up to 512 a lane where accumulation registers are counted with them, and 256 elsewhere.
_GFX9 = BlockLimits(64 * 1024, _CDNA, registers=256)
_GFX9_UNIFIED = BlockLimits(64 * 1024, _CDNA, registers=512)
_GFX950_BLOCK = BlockLimits(160 * 1024, _CDNA4, registers=512)
_GFX10_BLOCK = BlockLimits(64 * 1024, _RDNA, registers=256)
_GFX1250_BLOCK = BlockLimits(320 * 1024, _GFX1250, registers=1024)

_AMD = (
    *_amd("900 902 904 906 909 90c", "GCN 5", _NONE, 0, _GFX9, _cu(256, 4, 10)),
    *_amd("908", "CDNA", _MFMA, 1, _GFX9, _cu(256, 4, 10)),
    *_amd("90a", "CDNA 2", _MFMA, 2, _GFX9_UNIFIED, _cu(512, 8, 8), typical="gfx90a"),
    *_amd("940 941 942", "CDNA 3", _MFMA, 3, _GFX9_UNIFIED, _cu(512, 8, 8), fp8=_FNUZ, typical="gfx942"),
    *_amd("950", "CDNA 4", _MFMA, 4, _GFX950_BLOCK, _cu(512, 8, 8, 160, lds=1280), fp8=_OCP, typical="gfx950"),
    *_amd("1010 1011 1012 1013", "RDNA", _NONE, 0, _GFX10_BLOCK, _wgp(1024, 8, 20)),
    *_amd("1030 1031 1032 1033 1034 1035 1036", "RDNA 2", _NONE, 0, _GFX10_BLOCK, _wgp(1024, 16)),
    *_amd("1100 1101", "RDNA 3", _WMMA, 1, _GFX10_BLOCK, _wgp(1536, 24), typical="gfx1100"),
    *_amd("1102 1103", "RDNA 3", _WMMA, 1, _GFX10_BLOCK, _wgp(1024, 16)),
    *_amd("1151", "RDNA 3.5", _WMMA, 1, _GFX10_BLOCK, _wgp(1536, 24)),
    *_amd("1150 1152 1153 1154", "RDNA 3.5", _WMMA, 1, _GFX10_BLOCK, _wgp(1024, 16)),
    *_amd("1170 1171 1172", _UNKNOWN, _WMMA, 2, _GFX10_BLOCK, _wgp(1024, 16), fp8=_OCP),
    *_amd("1200 1201", "RDNA 4", _WMMA, 2, _GFX10_BLOCK, _wgp(1536, 24), fp8=_OCP, typical="gfx1201"),
    *_amd("1250 1251", "gfx1250", _WMMA, 3, _GFX1250_BLOCK, None, fp8=_OCP),
)

# Names under which the parts of an architecture are sold, as people and drivers write them.
_SOLD_AS = (
    ("cuda:60", r"P100"), ("cuda:61", r"GTX 10[5-8]0|P40|TITAN Xp"), ("cuda:70", r"V100|TITAN V"),
    ("cuda:75", r"T4|RTX 20[5-8]0|GTX 16[56]0|Quadro RTX \d000|TITAN RTX"), ("cuda:80", r"A100|A800|A30"),
    ("cuda:86", r"RTX 30[5-9]0|A10G?|A40|A16|A6000|RTX A\d000"), ("cuda:87", r"Orin"),
    ("cuda:89", r"RTX 40[5-9]0|L40S?|L4|L20|RTX 6000 Ada"), ("cuda:90", r"H100|H200|H800|H20|GH200"),
    ("cuda:100", r"B200|GB200|B100"), ("cuda:103", r"B300|GB300"),
    ("cuda:120", r"RTX 50[5-9]0|RTX PRO [2-6][05]00"), ("cuda:121", r"GB10|DGX Spark"),
    ("hip:gfx906", r"MI50|MI60|Radeon VII"), ("hip:gfx908", r"MI100"), ("hip:gfx90a", r"MI2[15]0X?"),
    ("hip:gfx942", r"MI300[AX]?|MI325X?|MI308X?"), ("hip:gfx950", r"MI35[05]X?"),
    ("hip:gfx1030", r"RX 6[89][05]0"), ("hip:gfx1100", r"RX 7900|W7900"), ("hip:gfx1201", r"RX 9070"),
)  # fmt: skip


@cache
def _product() -> re.Pattern[str]:
    rows = enumerate(_SOLD_AS)
    return re.compile("|".join(rf"(?P<n{number}>\b(?:{names})(?![0-9]))" for number, (_, names) in rows))


# Where such a name may begin: the pattern of all of them is slow to compile and to look for.
_HINT = re.compile(r"(?:[A-Z]{1,3}\d{2}|[TL]4\b|[RG]TX |TITAN|Quadro |Radeon |Orin|DGX |RX )")


def named(text: str) -> Iterator[str]:
    """The targets whose parts a text names, in its order."""
    for hint in _HINT.finditer(text):
        if match := _product().match(text, hint.start()):
            yield _SOLD_AS[int((match.lastgroup or "n0")[1:])][0]


_MOST_MAJORS_AHEAD = 4
"""A major number is a generation, and both vendors have skipped some; what is further ahead is a typing error."""


def number(backend: str, name: str) -> tuple[int, ...]:
    """The parts of an architecture's number, major first: (9, 0) of ``90``, (9, 0, 10) of ``gfx90a``."""
    if backend == "cuda":
        return divmod(int(name), 10)
    digits = name.removeprefix("gfx")
    return int(digits[:-2]), int(digits[-2], 16), int(digits[-1], 16)


ARCHITECTURES = tuple(sorted((*_NVIDIA, *_AMD), key=lambda row: (row.backend, number(row.backend, row.name))))
"""Every row: NVIDIA's, then AMD's, each in the order of its numbers."""
_BY_NAME = {(row.backend, row.name): row for row in ARCHITECTURES}


def architecture(backend: str, name: str) -> Architecture | None:
    """The row of an architecture, None where the table has none."""
    return _BY_NAME.get((backend, name))


def newest(backend: str) -> Architecture:
    """The last row of a vendor."""
    return [row for row in ARCHITECTURES if row.backend == backend][-1]


def is_newer(backend: str, name: str) -> bool:
    """Whether an architecture may be one that came after the table: its number is higher than every row's, by at most
    four generations. Any other that is not in the table does not exist, or is older than Triton's back ends."""
    last, asked = newest(backend), number(backend, name)
    last_number = number(backend, last.name)
    return last_number < asked and asked[0] <= last_number[0] + _MOST_MAJORS_AHEAD


def neighbours(backend: str, name: str) -> tuple[Architecture, ...]:
    """The rows before and after a number, one where it is before the first or after the last."""
    rows, asked = [row for row in ARCHITECTURES if row.backend == backend], number(backend, name)
    before = [row for row in rows if number(backend, row.name) < asked]
    after = [row for row in rows if number(backend, row.name) > asked]
    return (*before[-1:], *after[:1])


def with_distinct_limits() -> tuple[Architecture, ...]:
    """Every NVIDIA architecture, and one of each AMD generation's chips with equal limits, the typical one if it is
    among them."""
    rows: dict[object, Architecture] = {}
    for row in ARCHITECTURES:
        key = row.name if row.backend == "cuda" else (row.generation, row.block, row.sm)
        if row.typical or key not in rows:
            rows[key] = row
    return tuple(rows.values())
