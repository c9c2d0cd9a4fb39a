"""Ownership of the elements of A, B, C and D by the threads of a warp.

Thread ``lane`` is ``group = lane // 4`` and ``column = lane % 4``. A register of 32 bits (64 for f64) holds neighbours
along K in A and B, and along N in C and D (which go two by two, whatever their type). Source: PTX ISA, the matrix
fragments sections of mma. ``m8n8k4`` with f16 works in quads of threads and is not described here; operands of kinds
with 4 and 6 bits take a byte an element but in mxf4 and mxf4nvf4.
"""

from triage.legality.dtypes import DType

Element = tuple[int, int]
"""Row and column: (m, k) in A, (k, n) in B, (m, n) in C and D."""


def stored_bits(dtype: DType, kind: str | None = None) -> int:
    """Bits that an element of A or B takes in a register: 4- and 6-bit types are padded to a byte in f8f6f4 kinds."""
    return 8 if kind in ("f8f6f4", "mxf8f6f4") and dtype.bits < 8 else dtype.bits


def registers(rows: int, columns: int, bits: int) -> int:
    """Registers a thread holds of a fragment: 32 bits each, or 64 where an element has 64."""
    return rows * columns * bits // (32 * max(bits, 32))


def operand_a(lane: int, register: int, m: int, bits: int) -> tuple[Element, ...]:
    """Elements of A in one register of a thread, lowest bits first."""
    each, group, column = max(32 // bits, 1), lane // 4, lane % 4
    tall = m // 8  # 16 rows are two halves, and registers alternate between them
    row = group + 8 * (register % tall)
    start = (register // tall) * 4 * each + column * each
    return tuple((row, start + step) for step in range(each))


def operand_b(lane: int, register: int, bits: int) -> tuple[Element, ...]:
    """Elements of B in one register of a thread, lowest bits first."""
    each, group, column = max(32 // bits, 1), lane // 4, lane % 4
    start = register * 4 * each + column * each
    return tuple((start + step, group) for step in range(each))


def accumulator(lane: int, index: int) -> Element:
    """Row and column of value ``index`` of C or D: two neighbours, then the same two eight rows below. A register holds
    one value, or two of f16."""
    return lane // 4 + 8 * (index // 2), lane % 4 * 2 + index % 2
