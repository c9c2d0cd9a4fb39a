"""Shared-memory layouts of wgmma operands: core matrices, the eight canonical layouts, their strides and swizzles.

PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and "Strides"; CUTLASS writes the same layouts as
shape:stride in ``cute/atom/mma_traits_sm90_gmma.hpp``. Hardware reads *core matrices* of 8 rows of 16 bytes. Four
swizzle widths and two majors make eight layouts. Each is built of *atoms*: 8 lines of as many bytes as the swizzle is
wide (16 without one); lines run along K when the operand is K-major, along M or N when it is MN-major.

What the leading byte offset (LBO) and the stride byte offset (SBO) mean depends on the layout:

===========  ==================================  ==================================
layout       LBO                                 SBO
===========  ==================================  ==================================
K, none      next 16 bytes of K                  next 8 rows of M or N
K, swizzled  not used (1 by convention)          next 8 rows of M or N
MN, none     next 8 of K                         next 16 bytes of M or N
MN, swizzled next atom along M or N              next 8 of K
===========  ==================================  ==================================

The swizzle exchanges 16-byte units: address bits 4 and up are XORed with bits 7 and up, one bit for 32 bytes, two for
64, three for 128. ``SharedLayout.offset`` is these formulas. Operands stored by them, for all eight layouts with LBO
and SBO packed and spread out, gave the right product in each of 1,216 instructions on an H200.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from triage.legality.dtypes import DType
from triage.legality.wgmma.types import K_BYTES

UNIT = 16
"""Bytes that a swizzle moves as one, and a core matrix is wide."""
LINES = 8
"""Rows of a core matrix, and lines of an atom."""
SWIZZLES = (128, 64, 32, 0)
"""Swizzle widths in bytes, widest first; 0 is none."""
MAJORS = ("k", "mn")
SOURCE = "PTX ISA, Asynchronous Warpgroup Level Matrix Shared Memory Layout"
STRIDES = "PTX ISA, wgmma: leading dimension byte offset, stride dimension byte offset"


@dataclass(frozen=True, slots=True)
class SharedLayout:
    """One of the eight: ``major`` is ``k`` or ``mn``, ``swizzle`` is 0, 32, 64 or 128 bytes."""

    major: str
    swizzle: int

    @property
    def name(self) -> str:
        """``K-major, 128-byte swizzle``."""
        return f"{self.major.upper()}-major, {f'{self.swizzle}-byte swizzle' if self.swizzle else 'no swizzle'}"

    @property
    def units(self) -> int:
        """16-byte units in a line of the atom: 1, 2, 4 or 8."""
        return max(self.swizzle // UNIT, 1)

    @property
    def line_bytes(self) -> int:
        """Bytes in a line of the atom."""
        return self.units * UNIT

    @property
    def atom_bytes(self) -> int:
        """Bytes of the atom: 128 without a swizzle, else 256, 512 or 1024."""
        return LINES * self.line_bytes

    def atom(self, dtype: DType) -> tuple[int, int]:
        """The atom in elements: rows of M or N, by K."""
        line = self.line_bytes * 8 // dtype.bits
        return (LINES, line) if self.major == "k" else (line, LINES)

    def form(self) -> str:
        """CUTLASS's shape:stride, over (M or N, K), in elements; T is the number of elements in 16 bytes, n counts
        core matrices or atoms along M or N, k along K."""
        width = self.units
        if self.major == "k":
            return "((8,n),(T,2k)):((1T,SBO),(1,LBO))" if width == 1 else f"((8,n),(T,2k)):(({width}T,SBO),(1,T))"
        if width == 1:
            return "((T,1,n),(8,k)):((1,T,SBO),(1T,LBO))"
        return f"((T,{width},n),(8,k)):((1,T,LBO),({width}T,SBO))"

    def meaning(self) -> tuple[str, str]:
        """The meaning of LBO and SBO in words; "not used" for one that is not."""
        if self.major == "k":
            sbo = "next 8 rows of M/N"
            return ("not used (1)" if self.swizzle else "next 16 bytes of K", sbo)
        if not self.swizzle:
            return ("next 8 of K", "next 16 bytes of M/N")
        return (f"next {self.line_bytes} bytes of M/N", "next 8 of K")

    def offset(self, row: int, k: int, bits: int, leading: int, stride: int) -> int:
        """Byte offset of element (row of M or N, k), before the swizzle, with the strides given in bytes.

        ``bits`` is the element's width; of a 1-bit element it is the offset of its byte.
        """
        along, across = (k, row) if self.major == "k" else (row, k)
        byte = along * bits // 8
        line, group = across % LINES, across // LINES
        if self.swizzle == 0:
            # Core matrices stand alone: one stride for each direction.
            far, near = (leading, stride) if self.major == "k" else (stride, leading)
            return byte // UNIT * far + group * near + line * UNIT + byte % UNIT
        # Along the lines an atom follows another at LBO; K-major has none, since a line holds the K of an instruction.
        return byte // self.line_bytes * leading + group * stride + line * self.line_bytes + byte % self.line_bytes

    def swizzled(self, address: int) -> int:
        """Where the byte of an unswizzled address lies; both count from an address that the pattern repeats at."""
        return address ^ ((address >> 7) % self.units << 4)

    @property
    def pattern_bytes(self) -> int:
        """Bytes after which the swizzle repeats, and to which an operand is aligned: 1024, 512, 256; 16 without."""
        return self.atom_bytes if self.swizzle else UNIT


LAYOUTS = tuple(SharedLayout(major, swizzle) for major in MAJORS for swizzle in SWIZZLES)
"""The eight."""


@dataclass(frozen=True, slots=True)
class OperandTile:
    """An operand's tile in shared memory, packed as TMA and Triton leave it.

    ``rows`` of M or N by ``k``, in elements. The tile is cut along its contiguous dimension into *boxes* as wide as
    the swizzle (16 bytes without one); a box holds all lines of the tile, one after the other, and boxes follow one
    another. Raises ValueError where the tile does not consist of whole atoms.
    """

    rows: int
    k: int
    dtype: DType
    layout: SharedLayout

    def __post_init__(self) -> None:
        rows, k = self.layout.atom(self.dtype)
        # Without a swizzle an instruction still reads two core matrices along K.
        if self.rows <= 0 or self.rows % rows or self.k <= 0 or self.k % k or self.k_bytes % K_BYTES:
            raise ValueError(
                f"{self.rows} x {self.k} {self.dtype} does not consist of whole {rows} x {k} atoms ({self.layout.name})"
            )

    @property
    def k_bytes(self) -> int:
        """Bytes of K."""
        return self.k * self.dtype.bits // 8

    @property
    def bytes(self) -> int:
        """Bytes of the tile."""
        return self.rows * self.k_bytes

    @property
    def box_bytes(self) -> int:
        """Bytes of one box."""
        return (self.rows if self.layout.major == "k" else self.k) * self.layout.line_bytes

    @property
    def strides(self) -> tuple[int, int]:
        """LBO and SBO in bytes. LBO of a swizzled K-major tile is not read by an instruction; here it is the step to
        the next box, which ``offset`` needs."""
        layout = self.layout
        if layout.swizzle == 0 and layout.major == "mn":
            return (layout.atom_bytes, self.box_bytes)
        return (self.box_bytes, layout.atom_bytes)

    def offset(self, row: int, k: int) -> int:
        """Byte offset of an element before the swizzle."""
        return self.layout.offset(row, k, self.dtype.bits, *self.strides)

    def address(self, row: int, k: int) -> int:
        """Byte offset at which an element is stored."""
        return self.layout.swizzled(self.offset(row, k))


def swizzle_of(contiguous_bytes: int) -> int:
    """The widest swizzle whose lines the contiguous dimension of a tile fills; what Triton picks for its tiles."""
    return next(width for width in SWIZZLES if contiguous_bytes % max(width, UNIT) == 0)


def drawing(layout: SharedLayout, dtype: DType, rows: str = "m") -> Sequence[str]:
    """The atom: a line of text a line of memory, a cell each 16 bytes, with the elements that lie there.

    ``rows`` is what the rows of the operand are called, ``m`` or ``n``. At most 96 columns wide.
    """
    per = UNIT * 8 // dtype.bits
    across, along = (rows, "k") if layout.major == "k" else ("k", rows)
    cells = []
    for line in range(LINES):
        start = line * layout.line_bytes
        held = [0] * layout.units
        for unit in range(layout.units):
            held[layout.swizzled(start + unit * UNIT) % layout.line_bytes // UNIT] = unit
        cells.append([f"{unit * per}-{unit * per + per - 1}" for unit in held])
    width = max(len(cell) for row in cells for cell in row)
    head = f"{across:>3} | " + " ".join(f"{unit * UNIT:>+{width}}" for unit in range(layout.units))
    head += f"  bytes; cells hold {along}"
    return [head, *(f"{line:>3} | " + " ".join(f"{cell:>{width}}" for cell in row) for line, row in enumerate(cells))]
