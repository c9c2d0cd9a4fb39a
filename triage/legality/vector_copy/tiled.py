"""Tiled copies of CuTe: which bits an instruction may have, given layouts, threads, values and alignments.

A tiled copy gives each thread a share of the tile, and each instruction a vector of it. The verifier of CuTe DSL looks
at the vector's layout and at the alignment of the pointer to the thread's share: the greatest divisor of the tensor's
alignment, of the offsets of the threads and, for a tile taken at a coordinate that is not constant, of the offsets
of tiles. Steps between the vectors of a thread are not looked at. The rules are those of ``cute.copy`` in CuTe DSL
4.8.1, read off its verifier by enumeration; SOURCE_TEXTS has its words.

- ``CopyUniversalOp``: of a register source the destination's alignment counts, else the source's; a vector of which
  the known strides are not 1 is refused, one of dynamic stride is taken whatever its alignment. Where the other side
  is aligned to less, the copy is accepted, and made with narrower instructions. Up to 4.5 a vector of dynamic stride
  is refused.
- ``cpasync.CopyG2SOp``: global to shared memory, 32, 64 or 128 bits, both sides aligned. That the vector is
  contiguous is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

from triage.legality.algebra.integers import DynamicInteger, IntTuple, is_static, modes, product
from triage.legality.algebra.layout import StridedLayout
from triage.legality.algebra.operations import NotDivisible, coalesce, zipped_divide
from triage.legality.algebra.partition import Share, ThreadValues, share, thread_values, whole
from triage.legality.algebra.swizzle import Swizzle, sliced
from triage.legality.dtypes import DType
from triage.legality.violation import Violation, nearest, powers, refuse, spoken
from triage.model.releases import numbers

SOURCE = "CuTe DSL 4.8.1, verifier of cute.copy"
PARTITION = "CuTe DSL 4.8.1, make_tiled_copy_tv and partition"
ATOMS = ("universal", "async")
"""``cute.nvgpu.CopyUniversalOp`` and ``cute.nvgpu.cpasync.CopyG2SOp``."""
SPACES = ("gmem", "smem", "rmem", "generic")
ASYNC_BITS = (32, 64, 128)
WIDTHS = (16, 32, 64, 128)
"""The bits that are asked about; a universal copy may have any power of two from 8 on."""
_PLAIN_LAYOUTS = (4, 5)
"""The first release that refuses a composed layout in every universal copy, not only in one of several elements."""
_DYNAMIC_VECTORS = (4, 6)
"""The first release that takes vectors of dynamic stride."""
_CONTIGUITY = "cannot vectorize copy (static strides must be 1)"


@dataclass(frozen=True, slots=True)
class CopyTensor:
    """One side of a tiled copy. ``alignment`` of its pointer is in bytes. ``swizzle`` is one that the layout is
    composed with; a swizzle that the pointer carries makes no difference here. ``tiler``: the side is the tile of these
    extents at a coordinate that is not constant (``cute.local_tile`` with a block index)."""

    layout: StridedLayout
    alignment: int = 16
    space: str = "gmem"
    swizzle: Swizzle | None = None
    tiler: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ThreadVector:
    """A thread's share of one side. ``alignment`` of its pointer is in bits; ``values`` is ((vector, vectors), rest of
    each mode), None where it is swizzled still; ``shape`` is the shape of that in either case."""

    alignment: int
    shape: IntTuple
    values: StridedLayout | None

    @property
    def contiguous(self) -> bool:
        """Whether a vector is known to lie in adjacent elements; a swizzled one is not judged."""
        return self.values is None or all(
            extent == 1 or stride == 1 for extent, stride in coalesce(self.values[0][0]).flat
        )


def thread_vector(tensor: CopyTensor, copy: ThreadValues, vector: int, dtype: DType) -> ThreadVector:
    """A thread's share of a side. Raises NotDivisible where threads and values do not partition it."""
    layout, tiles = tensor.layout, 0
    if tensor.tiler is not None:
        divided = zipped_divide(layout, tuple(map(whole, tensor.tiler)))
        layout, tiles = divided[0], divided[1].step
    part = share(layout, copy, vector)
    step, values = _offsets(part, tensor.swizzle)
    # Pointers are of whole bytes, whatever the element.
    bits = gcd(tensor.alignment * 8, step * dtype.bits, tiles * dtype.bits)
    return ThreadVector(bits, part.values.shape, values)


def _offsets(part: Share, swizzle: Swizzle | None) -> tuple[int, StridedLayout | None]:
    return (part.threads.step, part.values) if swizzle is None else sliced(swizzle, part.threads, part.values)


def violations(
    *,
    bits: int,
    dtype: DType,
    source: CopyTensor,
    destination: CopyTensor,
    threads: StridedLayout,
    values: StridedLayout,
    atom: str = "universal",
    release: str | None = None,
) -> list[Violation]:
    """Violations of ``cute.copy`` with instructions of ``bits`` bits from ``source`` to ``destination``, partitioned by
    ``make_tiled_copy_tv(threads, values)``; empty when CuTe DSL accepts it.

    ``atom`` is one of ``ATOMS``, ``release`` that of CuTe DSL (None: the newest). Nothing raises. Source: its
    verifier, by enumeration (see the module).
    """
    broken = _width(bits, dtype, atom)
    if not _is_atom(bits, atom):
        return broken
    # A width that no instruction has is refused with the copy: what does not follow from it is verified as well.
    count = 1 if broken else max(bits // dtype.bits, 1)
    if atom == "async":
        broken += _spaces(source, destination)
    try:
        copy = thread_values(threads, values)
        sides = [thread_vector(side, copy, count, dtype) for side in (source, destination)]
    except NotDivisible as error:
        message = f"threads {threads} and values {values} do not partition the tensor: {error}"
        return [*broken, refuse("vector-copy.partition", str(threads), (), PARTITION, message, parameter="threads")]
    broken += _shapes(sides)
    context = _Copy(bits, dtype, (source, destination), (sides[0], sides[1]), atom, release)
    return broken + (list(context.universal()) if atom == "universal" else list(context.asynchronous()))


def legal_bits(
    *,
    dtype: DType,
    source: CopyTensor,
    destination: CopyTensor,
    threads: StridedLayout,
    values: StridedLayout,
    atom: str = "universal",
) -> tuple[int, ...]:
    """The elements of ``WIDTHS`` that the copy may have."""
    arguments = {"dtype": dtype, "source": source, "destination": destination}
    return tuple(
        bits
        for bits in WIDTHS
        if not violations(bits=bits, threads=threads, values=values, atom=atom, **arguments)  # type: ignore[arg-type]
    )


def _before(release: str | None, first: tuple[int, int]) -> bool:
    return release is not None and (numbers(release) or first) < first


def _is_atom(bits: int, atom: str) -> bool:
    """Whether a copy atom of so many bits can be made."""
    return bits > 0 if atom == "async" else bits >= 8 and not bits & (bits - 1)


def _width(bits: int, dtype: DType, atom: str) -> list[Violation]:
    """Violations of the number of bits alone."""
    if atom == "async":
        if bits in ASYNC_BITS:
            return []
        message = f"cp.async: 'cp_size' only supports {spoken(ASYNC_BITS)} bits, not {bits}"
        return [refuse("vector-copy.width", bits, ASYNC_BITS, SOURCE, message, parameter="bits")]
    allowed = powers(128, max(dtype.bits, 8))
    if not _is_atom(bits, atom):
        message = f"num_bits_per_copy is a power of two from 8 on, not {bits}"
        return [refuse("vector-copy.width", bits, allowed, SOURCE, message, parameter="bits")]
    if bits < dtype.bits:
        message = f"a copy of {bits} bits is narrower than an element of {dtype} ({dtype.bits} bits)"
        return [refuse("vector-copy.element", bits, allowed, SOURCE, message, parameter="bits")]
    return []


def _spaces(source: CopyTensor, destination: CopyTensor) -> list[Violation]:
    broken = []
    for name, tensor, space in (("source", source, "gmem"), ("destination", destination, "smem")):
        if tensor.space != space:
            message = f"cp.async copies from global to shared memory: the {name} is {tensor.space}"
            broken.append(refuse("vector-copy.space", tensor.space, (space,), SOURCE, message, parameter=name))
    return broken


def _shapes(sides: list[ThreadVector]) -> list[Violation]:
    """Extents that are not constant, and shares of different sizes."""
    if not all(is_static(side.shape) for side in sides):
        message = "expects src and dst to have static shape: take a tile of constant extents (cute.local_tile)"
        return [refuse("vector-copy.extent", "?", (), SOURCE, message, parameter="shape")]
    first, second = (modes(side.shape)[1:] for side in sides)
    if product(first) != product(second):
        message = f"source and destination have {product(first)} and {product(second)} vectors a thread"
        return [refuse("vector-copy.size", str(second), (), SOURCE, message, parameter="destination")]
    if len(first) != len(second):
        message = f"source and destination have {len(first)} and {len(second)} modes"
        return [refuse("vector-copy.rank", len(second), (len(first),), SOURCE, message, parameter="destination")]
    return []


@dataclass(frozen=True, slots=True)
class _Copy:
    """Both sides of a copy whose widths and extents are in order."""

    bits: int
    dtype: DType
    tensors: tuple[CopyTensor, CopyTensor]
    sides: tuple[ThreadVector, ThreadVector]
    atom: str
    release: str | None

    def universal(self) -> Iterator[Violation]:
        composed = [name for name, side in self._named() if side.values is None]
        if composed and not (self.bits == self.dtype.bits and _before(self.release, _PLAIN_LAYOUTS)):
            message = f"the {composed[0]} stays a composed layout after partitioning: its vectors cross the swizzle"
            yield refuse("vector-copy.swizzle", composed[0], (), SOURCE, message, parameter="swizzle")
            return
        vectors = [(name, coalesce(side.values[0][0])) for name, side in self._named() if side.values is not None]
        strides = [stride for _, vector in vectors for extent, stride in vector.flat if extent != 1]
        if not _before(self.release, _DYNAMIC_VECTORS) and any(
            isinstance(stride, DynamicInteger) for stride in strides
        ):
            # It cannot be vectorized, and is copied element by element.
            return
        for name, vector in vectors:
            if any(extent != 1 and stride != 1 for extent, stride in vector.flat):
                count = self.bits // self.dtype.bits
                message = f"the {count} elements of a copy lie at {vector} in the {name}: {_CONTIGUITY}"
                near = (self.dtype.bits,)
                yield refuse("vector-copy.contiguity", self.bits, near, SOURCE, message, near, "bits")
                return
        # Registers are as aligned as their use asks: the memory side counts.
        yield from self._alignment(1 if self.tensors[0].space == "rmem" else 0)

    def asynchronous(self) -> Iterator[Violation]:
        if self.bits not in ASYNC_BITS:
            return
        for index in (0, 1):
            yield from self._alignment(index)

    def _named(self) -> list[tuple[str, ThreadVector]]:
        return list(zip(("source", "destination"), self.sides, strict=True))

    def _alignment(self, index: int) -> Iterator[Violation]:
        name, side = self._named()[index]
        if side.alignment % self.bits == 0:
            return
        legal = [bits for bits in WIDTHS if bits >= self.dtype.bits and side.alignment % bits == 0]
        if self.atom == "async":
            legal = [bits for bits in legal if bits in ASYNC_BITS]
        message = f"{name} ptr alignment ({side.alignment} bits) does not meet requirement ({self.bits} bits)"
        yield refuse(
            "vector-copy.alignment", self.bits, legal, SOURCE, message, nearest(self.bits, legal)[:1], parameter="bits"
        )
