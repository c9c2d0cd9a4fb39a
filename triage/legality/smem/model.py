"""Model of the shared memory that Triton allocates for a plain ``tl.dot`` loop, by part.

The kernel is the tutorials' matmul: one loop over K that loads A and B, one dot into a 32-bit accumulator, a store
after the loop; pointers and strides divisible by 16, A row-major, B as ``b_layout`` says. What Triton does with it was
read from the TTGIR after shared memory has been allocated:

- The software pipeline gives an operand ``num_stages`` buffers where the MMA reads shared memory asynchronously
  (wgmma, tcgen05, and AMD's direct-to-LDS copies of gfx950) and ``num_stages - 1`` elsewhere; ``num_stages=1`` is one.
- A pointer load of fewer than 4 bytes a thread is not a cp.async: it goes through registers into one buffer.
- wgmma reads 8- and 32-bit operands K-major only. An N-major B is transposed: pointers of 32-bit types by the copy
  itself, other pointers through registers (one buffer), a TMA tile by a copy of its own beside the buffers.
- All parts of the loop are alive together; what comes after it (the scratch of the accumulator's layout conversion, or
  the tile that a TMA store reads) reuses their memory. So the total is the larger of the two.
- mbarriers are 8 bytes a buffer, each array aligned to 16.

Every pass that decides this is in ``lib/Dialect/TritonGPU/Transforms`` (AssignLatencies, LowerLoops) and
``lib/Analysis/Allocation.cpp``; on AMD in ``third_party/amd/lib/TritonAMDGPUTransforms``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from triage.legality.dtypes import DType, parse
from triage.model.target import Target

CONFIRMED = ("3.2", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9")
"""Releases on which the estimate was compared with compiles."""


class DotInstruction(Enum):
    """The instruction of the dot, which decides where operands have to be."""

    MMA = "mma.sync"
    WGMMA = "wgmma"
    TCGEN05 = "tcgen05.mma"
    MFMA = "mfma"


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """Bytes of one use. ``buffers`` is how many copies of a tile it is; where ``exact`` is false, ``bytes`` is an upper
    bound."""

    name: str
    bytes: int
    buffers: int = 1
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop that is modelled, with every default filled in. Shapes in elements."""

    m: int
    n: int
    k: int
    a: DType
    b: DType
    out: DType
    stages: int
    warps: int
    target: Target
    loads: str
    b_layout: str
    epilogue: str
    release: tuple[int, int]
    warp_specialized: bool

    @property
    def instruction(self) -> DotInstruction:
        """By target and BLOCK_M: below 64 rows there is neither wgmma nor tcgen05."""
        capability = self.target.capability
        if capability is None:
            return DotInstruction.MFMA
        if self.m >= 64 and self.warps % 4 == 0 and self.depth_bytes >= 32:
            if capability == 90:
                return DotInstruction.WGMMA
            integers = self.a.name in ("s8", "u8")
            # Triton uses tcgen05's kind::i8 from 3.8 on.
            if capability in (100, 103) and (not integers or self.release >= (3, 8)):
                return DotInstruction.TCGEN05
        return DotInstruction.MMA

    @property
    def depth_bytes(self) -> int:
        """Bytes of BLOCK_K: one instruction of wgmma and tcgen05 reads 32 of them."""
        return self.k * self.a.bits // 8

    @property
    def tma(self) -> bool:
        """Descriptors are TMA from 9.0 on; elsewhere Triton rewrites them to pointers."""
        return self.loads == "tma" and (self.target.capability or 0) >= 90

    @property
    def tma_store(self) -> bool:
        """Whether the result leaves through shared memory, whole."""
        return self.epilogue == "tma" and (self.target.capability or 0) >= 90

    @property
    def fp8_through_fp16(self) -> bool:
        """8-bit floats that this target's mma.sync has no instruction for, or that Triton does not use it for."""
        floats = self.a.bits == 8 and self.a.name not in ("s8", "u8")
        native = self.target.capability == 89 or (self.target.capability in (120, 121) and self.release >= (3, 5))
        return floats and self.instruction is DotInstruction.MMA and not native


def result_type(a: DType) -> DType:
    """The type that a kernel usually stores: 32 bits for 32-bit operands and integers, fp16 for 8-bit floats."""
    if a.name in ("s8", "u8"):
        return parse("s32")
    if a.bits == 8:
        return parse("f16")
    return parse("f32") if a.bits == 32 else a


def buffers(loop: Loop) -> int:
    """Copies of a pipelined operand. Before 8.0 there is not a cp.async, and ``make_ttgir`` runs no pipeliner."""
    capability = loop.target.capability
    if loop.stages == 1 or (capability is not None and capability < 80):
        return 1
    if loop.instruction in (DotInstruction.WGMMA, DotInstruction.TCGEN05) or _direct_to_lds(loop):
        return loop.stages
    return loop.stages - 1


def parts(loop: Loop) -> tuple[tuple[MemoryPart, ...], MemoryPart]:
    """Memory that is alive in the loop, and after it."""
    if loop.instruction is DotInstruction.MFMA:
        return tuple(_amd(loop)), MemoryPart("epilogue", 0)
    during = tuple(_descriptors(loop) if loop.tma else _pointers(loop))
    after = _after(loop)
    if _store_beside_buffers(loop):
        turned = sum(part.bytes for part in during if part.name == "B transposed")
        during = (*during[:-1], MemoryPart("TMA store", max(0, after.bytes - turned)), during[-1])
    if loop.warp_specialized:
        # Barriers, captured values and the partitions' own state: 220 bytes were seen.
        during = (*during, MemoryPart("warp specialization", 1024, exact=False))
    return during, after


def _store_beside_buffers(loop: Loop) -> bool:
    """From 3.6 to 3.8 the tile of a TMA store is allocated beside the buffers where the accumulator is stored as it
    is, without a conversion of its type after the loop."""
    if not loop.tma_store or not loop.tma or loop.instruction is DotInstruction.TCGEN05:
        return False
    return loop.stages > 1 and loop.out.bits == 32 and (3, 6) <= loop.release < (3, 9)


def _tile(loop: Loop, operand: str) -> int:
    return (loop.m if operand == "A" else loop.n) * loop.k * _bits(loop, operand) // 8


def _bits(loop: Loop, operand: str) -> int:
    return (loop.a if operand == "A" else loop.b).bits


def _k_major_only(loop: Loop) -> bool:
    """Whether an N-major B has to be transposed for wgmma."""
    return loop.instruction is DotInstruction.WGMMA and loop.b_layout == "kn" and loop.b.bits != 16


def _thread_has_row(loop: Loop) -> bool:
    """Whether one thread loads whole rows of an N-major B (16 bytes each): its layout then counts as K-major."""
    if loop.b_layout != "kn" or loop.n * loop.b.bits // 8 > 16:
        return False
    return _tile(loop, "B") >= 16 * loop.warps * loop.target.warp_size


def _narrow(loop: Loop, operand: str) -> bool:
    """Whether a thread loads fewer than 4 bytes of the operand at a time, which no asynchronous copy does."""
    share = _tile(loop, operand) // (loop.warps * loop.target.warp_size)
    return max(_bits(loop, operand) // 8, share) < 4


def _asynchronous(loop: Loop, operand: str) -> bool:
    """Whether a pointer load can be a cp.async: 4 bytes a thread and more, contiguous in memory as in the buffer."""
    if _narrow(loop, operand):
        return False
    if operand == "B" and _k_major_only(loop) and (loop.b.bits == 8 or loop.release < (3, 3)):
        return False
    return operand == "A" or not _thread_has_row(loop)


def _pointers(loop: Loop) -> Iterator[MemoryPart]:
    if loop.stages == 1 and loop.fp8_through_fp16:
        # Loaded to registers and widened there, so that A's memory is free again when B needs it.
        yield MemoryPart("A or B", 2 * max(_tile(loop, "A"), _tile(loop, "B")), exact=False)
        return
    for operand in ("A", "B"):
        tile, copies = _tile(loop, operand), buffers(loop)
        if not _asynchronous(loop, operand):
            # tcgen05 reads on while the next tile is stored; what is widened on the way is stored as fp16.
            copies = 2 if loop.instruction is DotInstruction.TCGEN05 and loop.stages > 1 else 1
            tile *= 2 if loop.fp8_through_fp16 else 1
        yield MemoryPart(operand, tile * copies, copies, exact=tile == _tile(loop, operand))
    if loop.fp8_through_fp16 and loop.release < (3, 3):
        # Beside the buffers, at an offset aligned to 1 KiB at most.
        yield MemoryPart("converted A and B", _tile(loop, "A") + _tile(loop, "B") + 1024, exact=False)
    if loop.instruction is DotInstruction.TCGEN05:
        # It reports by mbarrier that it has read its operands: two of them in a pipeline.
        yield MemoryPart("mbarriers", 16 if loop.stages > 1 else 8)


def _descriptors(loop: Loop) -> Iterator[MemoryPart]:
    a, b, copies = _tile(loop, "A"), _tile(loop, "B"), buffers(loop)
    if loop.stages == 1:
        yield from _one_stage(loop, a, b)
        return
    tcgen05 = loop.instruction is DotInstruction.TCGEN05
    b_copies = copies
    arrays = [8 * copies]
    transposed = 0
    if _k_major_only(loop):
        # B is read back to registers at once, so it is buffered, and waited for, one stage less.
        b_copies, transposed = copies - 1, b
        arrays.append(8 * b_copies)
    elif tcgen05 and loop.b_layout == "kn" and (loop.b.bits == 32 or _thread_has_row(loop)):
        # tcgen05 reads no N-major B of 32-bit elements, and Triton turns what it takes for K-major: both MMAs that are
        # in flight have a transposed copy.
        transposed = 2 * b
    elif loop.fp8_through_fp16 and loop.release >= (3, 6):
        arrays.append(8 * copies)
    if tcgen05:
        arrays.append(16)
    yield MemoryPart("A", a * copies, copies)
    yield MemoryPart("B", b * b_copies, b_copies)
    if transposed:
        yield MemoryPart("B transposed", transposed, transposed // b)
    yield MemoryPart("mbarriers", sum(-(-size // 16) * 16 for size in arrays[:-1]) + arrays[-1])


def _one_stage(loop: Loop, a: int, b: int) -> Iterator[MemoryPart]:
    """Not pipelined: every load waits on a barrier of its own, whose memory the next allocation reuses."""
    if loop.instruction is DotInstruction.MMA and loop.release >= (3, 6):
        yield MemoryPart("A or B", max(a, b))
    elif loop.instruction is DotInstruction.MMA:
        # Copied to a layout of their own beside the tile that arrives.
        yield MemoryPart("A", a, exact=False)
        yield MemoryPart("B", b, exact=False)
        yield MemoryPart("gaps", 16, exact=False)
    else:
        yield MemoryPart("A", a)
        yield MemoryPart("B", b)
        if _k_major_only(loop) and loop.release < (3, 9):
            yield MemoryPart("conversion padding", b // 16, exact=False)
    yield MemoryPart("mbarriers", 8)


def _after(loop: Loop) -> MemoryPart:
    tile = loop.m * loop.n * loop.out.bits // 8
    if loop.tma_store:
        return MemoryPart("TMA store", tile)
    # A conversion goes through shared memory in rounds of at most one MMA instruction's result a warp.
    round_bytes = 8192 if loop.instruction is DotInstruction.MMA else 16384
    scratch = min(tile, round_bytes * loop.warps)
    if loop.release < (3, 5):
        # Padded by up to 8 elements a row rather than swizzled; a row may be of either dimension.
        scratch += 8 * scratch // min(loop.m, loop.n)
    return MemoryPart("layout conversion", scratch, exact=False)


def _direct_to_lds(loop: Loop) -> bool:
    """gfx950 copies global memory to LDS directly, as cp.async does, from 3.8 on (``is_async_copy_enabled``)."""
    return loop.target.arch in ("gfx950", "gfx1250") and loop.release >= (3, 8)


def _amd(loop: Loop) -> Iterator[MemoryPart]:
    """MFMA: nothing but operands, whose results are stored from registers as they are."""
    a, b, copies = _tile(loop, "A"), _tile(loop, "B"), buffers(loop)
    if loop.stages == 1:
        # One after the other; an operand whose load layout is the MFMA's own needs none at all.
        yield MemoryPart("A or B", max(a, b), exact=False)
        return
    # gfx950 buffers narrow loads as well from 3.5 on.
    any_width = loop.target.arch == "gfx950" and loop.release >= (3, 5)
    for name, tile in (("A", a), ("B", b)):
        if any_width or not _narrow(loop, name):
            yield MemoryPart(name, tile * copies, copies)
        else:
            # Through registers, where 8-bit floats without an MFMA of their own are widened to fp16.
            floats = loop.a.bits == 8 and loop.a.name not in ("s8", "u8")
            yield MemoryPart(name, tile * (2 if floats else 1), exact=False)
    if _direct_to_lds(loop):
        yield MemoryPart("padding", _padding(loop, "A") + _padding(loop, "B"), exact=False)


def _padding(loop: Loop, operand: str) -> int:
    """The padded layouts of direct-to-LDS copies add up to this between every two KiB; fp32 is not padded."""
    bits = _bits(loop, operand)
    if bits >= 32:
        return 0
    each = 64 if operand == "B" and loop.b_layout == "kn" and bits == 16 else 32
    return max(0, _tile(loop, operand) * buffers(loop) // 1024 - 1) * each
