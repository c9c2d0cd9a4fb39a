"""The 64-bit matrix descriptor: where an operand starts in shared memory, how it is laid out.

PTX ISA, wgmma: "Matrix Descriptor Format". Addresses and offsets are stored in units of 16 bytes, 14 bits each, so
they reach 256 KiB. ``for_tile`` agrees with the descriptors in Triton's PTX, but for fields that the hardware does not
read; Triton 3.9 sets a base offset without a swizzle, which an H200 ignores. There, each of 6,144 instructions on
tiles of several, aligned to the swizzle pattern and not, read its operands through these descriptors.
"""

from __future__ import annotations

from dataclasses import dataclass

from triage.legality.wgmma.layouts import UNIT, OperandTile

SOURCE = "PTX ISA, wgmma: Matrix Descriptor Format"
FIELDS = (
    ("start_address", 0, 14, "shared-memory address >> 4"),
    ("leading_byte_offset", 16, 14, "LBO >> 4"),
    ("stride_byte_offset", 32, 14, "SBO >> 4"),
    ("base_offset", 49, 3, "(pattern start >> 7) & 7 where the pattern does not start at its own alignment, else 0"),
    ("swizzle", 62, 2, "0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes"),
)
"""Name, lowest bit, width in bits, meaning."""
_CODES = {0: 0, 128: 1, 64: 2, 32: 3}
_WIDTHS = {code: width for width, code in _CODES.items()}
_REACH = 1 << 18


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """The fields in bytes (``base_offset`` is 0 to 7, ``swizzle`` 0, 32, 64 or 128).

    ``encode`` raises ValueError where a field cannot be written.
    """

    start_address: int
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: int = 0
    base_offset: int = 0

    def encode(self) -> int:
        """The 64-bit value."""
        value = 0
        for name, low, _, _ in FIELDS[:3]:
            number: int = getattr(self, name)
            if number % UNIT or not 0 <= number < _REACH:
                raise ValueError(f"{name} {number}: a multiple of {UNIT} below {_REACH}")
            value |= number // UNIT << low
        if not 0 <= self.base_offset < 8:
            raise ValueError(f"base_offset {self.base_offset}: 0 to 7")
        if self.swizzle not in _CODES:
            raise ValueError(f"swizzle {self.swizzle}: 0, 32, 64 or 128")
        return value | self.base_offset << 49 | _CODES[self.swizzle] << 62

    @classmethod
    def decode(cls, value: int) -> MatrixDescriptor:
        """The fields of a 64-bit value, signed as LLVM prints it or not; bits that no field has are ignored."""
        start, leading, stride, base, code = ((value >> low) & ((1 << width) - 1) for _, low, width, _ in FIELDS)
        return cls(start * UNIT, leading * UNIT, stride * UNIT, _WIDTHS[code], base)


def for_tile(tile: OperandTile, address: int = 0, row: int = 0, k: int = 0) -> MatrixDescriptor:
    """The descriptor of the instruction whose operand begins at element (row of M or N, k) of a tile.

    ``address`` is the tile's in shared memory: a multiple of the layout's ``pattern_bytes``, or of 128, and the base
    offset then says where in the pattern it starts. ``row`` is a multiple of the atom's rows, and ``k`` of the
    instruction's K. LBO of a swizzled K-major tile is 16 (1 in the field), which the hardware does not read. Raises
    ValueError where the tile is not aligned, or the instruction would not start on an atom.
    """
    layout = tile.layout
    alignment = 128 if layout.swizzle else UNIT
    if address % alignment:
        raise ValueError(f"address {address}: {layout.name} is aligned to {alignment} bytes at least")
    rows, _ = layout.atom(tile.dtype)
    step = 32 * 8 // tile.dtype.bits
    if row % rows or k % step or not (0 <= row < tile.rows and 0 <= k < tile.k):
        raise ValueError(f"({row}, {k}): a multiple of ({rows}, {step}) inside {tile.rows} x {tile.k}")
    leading, stride = tile.strides
    if layout.major == "k" and layout.swizzle:
        leading = UNIT
    base = address >> 7 & 7 if address % layout.pattern_bytes else 0
    # Unswizzled: the hardware swizzles the addresses that it computes.
    return MatrixDescriptor(address + tile.offset(row, k), leading, stride, layout.swizzle, base)
