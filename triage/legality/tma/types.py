"""Element types, swizzles and interleaves of a tensor map.

CUDA Driver API, ``CUtensorMapDataType``, ``CUtensorMapSwizzle``, ``CUtensorMapInterleave``. What TMA only moves goes
under the unsigned type of its width: fp8 and int8 as u8, int16 as u16. It converts nothing, but rounds fp32 to tf32 and
fills with NaN where the map says so.
"""

from dataclasses import dataclass

from triage.legality.dtypes import DType

MAP = "CUDA Driver API, cuTensorMapEncodeTiled"
IM2COL = "CUDA Driver API, cuTensorMapEncodeIm2col"


@dataclass(frozen=True, slots=True)
class Element:
    """One type as a tensor map has it.

    ``driver`` is the name after ``CU_TENSOR_MAP_DATA_TYPE_`` and ``code`` its value; ``bits`` in global memory,
    ``shared_bits`` in shared memory, where a padded type takes more. ``only_box`` is the inner box, in elements, that a
    padded type must have, 0 for any.
    """

    driver: str
    code: int
    bits: int
    shared_bits: int = 0
    only_box: int = 0

    @property
    def padded(self) -> bool:
        """Whether shared memory holds gaps: then addresses, strides and sizes have coarser units."""
        return self.only_box != 0

    def span(self, elements: int) -> int:
        """Bytes that so many elements take in shared memory."""
        return -(-elements * (self.shared_bits or self.bits) // 8)


_PLAIN: dict[str, Element] = {
    "u8": Element("UINT8", 0, 8),
    "u16": Element("UINT16", 1, 16),
    "u32": Element("UINT32", 2, 32),
    "s32": Element("INT32", 3, 32),
    "u64": Element("UINT64", 4, 64),
    "s64": Element("INT64", 5, 64),
    "f16": Element("FLOAT16", 6, 16),
    "f32": Element("FLOAT32", 7, 32),
    "f64": Element("FLOAT64", 8, 64),
    "bf16": Element("BFLOAT16", 9, 16),
    "tf32": Element("TFLOAT32", 11, 32),
}
_FOUR_BITS = Element("16U4_ALIGN8B", 13, 4)
_FOUR_BITS_PADDED = Element("16U4_ALIGN16B", 14, 4, shared_bits=8, only_box=128)
_SIX_BITS = Element("16U6_ALIGN16B", 15, 6, shared_bits=8, only_box=128)

PACKED = (_FOUR_BITS, _FOUR_BITS_PADDED, _SIX_BITS)
"""Types of 4 and 6 bits: from 10.0 on."""
ELEMENTS = (*_PLAIN.values(), *PACKED)

SWIZZLES: dict[str, int] = {"none": 0, "32": 32, "64": 64, "128": 128}
"""Swizzle to the bytes of its span, within which it exchanges 16-byte units. The codes of the driver are the places."""
INTERLEAVES: dict[str, int] = {"none": 0, "16": 16, "32": 32}
"""Interleave to the bytes of its channel slice."""


def element(dtype: DType, padded: bool = False) -> Element | None:
    """The type under which a tensor map moves elements, or None. ``padded`` asks for 4-bit elements spread over 8-bit
    containers, as the mixed 8-bit kinds of tcgen05 read them; 6-bit ones always are."""
    if dtype.name in _PLAIN:
        return _PLAIN[dtype.name]
    if dtype.bits == 4:
        return _FOUR_BITS_PADDED if padded else _FOUR_BITS
    if dtype.bits == 6:
        return _SIX_BITS
    return {8: _PLAIN["u8"], 16: _PLAIN["u16"]}.get(dtype.bits)


MOVABLE = (*_PLAIN, "s8", "s16", "e4m3", "e5m2", "ue8m0", "e2m1", "s4", "u4", "e3m2", "e2m3")
"""Every type that a tensor map moves, by its PTX name."""
