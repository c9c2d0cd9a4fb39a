"""Widths of vector copies: 8 to 256 bits a thread and instruction.

A vector is contiguous in the source *and* in the destination, and its first byte is a multiple of its size in both.
So what counts is the run of elements that both layouts keep together, in the same order: a tile that is contiguous
along one dimension in global memory and along another in shared memory has none, and is copied element by element.
For bf16 that is 2 bytes, less than any cp.async, so such a tile goes through registers.

Widths from PTX ISA, "ld", "st" and "cp.async"; 256 bits are for global memory from cuda:100 on. Enumerated against the
assemblers of the Triton 3.9.0 wheel, which also take ``.v8`` of 8- and 16-bit elements, undocumented; ``ld.v8.b16``
ends them with SIGSEGV.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from triage.legality import cp_async
from triage.legality.dtypes import DType
from triage.legality.violation import Violation, nearest, refuse, spoken
from triage.model.errors import InputError
from triage.model.target import Target

PTX = "PTX ISA, data movement and conversion instructions: ld, st (vectors and alignment)"
PTX_ASYNC = "PTX ISA, data movement and conversion instructions: cp.async"
_WIDE_SINCE = 100


@dataclass(frozen=True, slots=True)
class CopySide:
    """One side of a copy. ``shape`` and ``strides`` are in elements, a stride of None is one that is not known; where
    it is known to be a multiple of something, give that. ``divisible`` is what the address of its first element is a
    multiple of, in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int | None, ...]
    divisible: int = 16


def run(source: CopySide, destination: CopySide) -> tuple[int, tuple[int, ...]]:
    """The elements that lie side by side, in the same order, in both tiles, and the dimensions that they cover, fastest
    first. 1 and () where there are none. Dimensions of extent 1 count for nothing. Raises InputError where the tiles
    differ in shape."""
    for side, tile in (("source", source), ("destination", destination)):
        if len(tile.shape) != len(tile.strides):
            raise InputError(f"{side}: {len(tile.strides)} strides for {len(tile.shape)} dimensions")
    if source.shape != destination.shape:
        raise InputError("source and destination differ in shape")
    length = 1
    covered: list[int] = []
    while True:
        for dimension, extent in enumerate(source.shape):
            strides = {source.strides[dimension], destination.strides[dimension]}
            if dimension not in covered and extent > 1 and strides == {length}:
                covered.append(dimension)
                length *= extent
                break
        else:
            return length, tuple(covered)


def alignment_bits(tile: CopySide, covered: Sequence[int], dtype: DType) -> int:
    """The alignment of every vector's address, in bits: that of the tile, and of every stride that leads from
    one run to the next."""
    bits = tile.divisible * 8
    for dimension, (extent, stride) in enumerate(zip(tile.shape, tile.strides, strict=True)):
        if extent > 1 and dimension not in covered:
            bits = gcd(bits, (1 if stride is None else stride) * dtype.bits)
    return bits


def widths(target: Target, asynchronous: bool = False, shared: bool = True) -> tuple[int, ...]:
    """Bits of the instructions that copy: cp.async, or a load with a store. 256 only between global memory and
    registers, so not where one side is ``shared``."""
    capability = target.capability or 0
    if asynchronous:
        return tuple(8 * size for size in cp_async.SIZES["ca"]) if capability >= 80 else ()
    wide = (256,) if capability >= _WIDE_SINCE and not shared else ()
    return (8, 16, 32, 64, 128, *wide)


def violations(
    *,
    bits: int,
    dtype: DType,
    source: CopySide,
    destination: CopySide,
    asynchronous: bool = False,
    shared: bool = True,
    target: Target,
) -> list[Violation]:
    """Violations of copies of ``bits`` a thread from ``source`` to ``destination``; empty when they are legal.

    ``asynchronous`` is cp.async, from global to shared memory; else a load and a store through registers. ``shared``
    says that one side is shared memory. Raises InputError where the tiles differ in shape. Sources: PTX ISA, ld, st,
    cp.async.
    """
    length, covered = run(source, destination)
    legal = _legal(dtype, source, destination, asynchronous, shared, target)
    close = nearest(bits, legal)
    violated = []

    def broken(rule: str, message: str, written: str) -> None:
        violated.append(refuse(f"vector-copy.{rule}", bits, legal, written, message, close, parameter="bits"))

    instructions = widths(target, asynchronous, shared)
    written = PTX_ASYNC if asynchronous else PTX
    name = "cp.async" if asynchronous else "a load or store"
    if bits not in instructions:
        has = f"{name} moves {spoken(instructions)} bits" if instructions else f"{target} has no cp.async"
        broken("width", f"{has}, not {bits}", written)
    if bits <= 0:
        return violated
    if bits % dtype.bits:
        broken("element", f"{bits} bits are not a whole number of {dtype} elements of {dtype.bits}", written)
    elif (length * dtype.bits) % bits:
        together = f"{length} {dtype} elements" if length > 1 else f"no two {dtype} elements"
        broken(
            "contiguity",
            f"{together} ({length * dtype.bits} bits) lie side by side in both source and destination; a vector of "
            f"{bits} bits takes {bits // dtype.bits}",
            written,
        )
    for side, tile in (("source", source), ("destination", destination)):
        aligned = alignment_bits(tile, covered, dtype)
        # What is not contiguous is reported above; here an address is off though its elements lie together.
        if (bits <= length * dtype.bits or bits <= dtype.bits) and aligned % bits:
            broken("alignment", f"{side} vectors lie at multiples of {aligned} bits, not of {bits}", written)
    return violated


def widest(
    *,
    dtype: DType,
    source: CopySide,
    destination: CopySide,
    asynchronous: bool = False,
    shared: bool = True,
    per_thread: int | None = None,
    target: Target,
) -> int:
    """The widest legal copy in bits, 0 where there is none (cp.async of less than 4 bytes; an element alone is always
    copied through registers where its address is a multiple of its size).

    ``per_thread`` are the elements of a run that one thread has, where that is known: Triton gives a thread no more
    than its share of the tile. Raises InputError where the tiles differ in shape.
    """
    legal = _legal(dtype, source, destination, asynchronous, shared, target)
    return max((bits for bits in legal if per_thread is None or bits <= per_thread * dtype.bits), default=0)


def _legal(
    dtype: DType, source: CopySide, destination: CopySide, asynchronous: bool, shared: bool, target: Target
) -> tuple[int, ...]:
    length, covered = run(source, destination)
    together = length * dtype.bits
    for tile in (source, destination):
        together = gcd(together, alignment_bits(tile, covered, dtype))
    instructions = widths(target, asynchronous, shared)
    return tuple(bits for bits in instructions if bits % dtype.bits == 0 and together % bits == 0 and together >= bits)
