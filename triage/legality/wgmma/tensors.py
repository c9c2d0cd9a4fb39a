"""A wgmma tile as CuTe writes it: MMA atom, layout atoms, layouts in shared memory, descriptors, fragments.

Names and definitions are CUTLASS's: ``cute/arch/mma_sm90_gmma.hpp`` (SM90_…), ``cute/atom/mma_traits_sm90_gmma.hpp``
(GMMA::Layout_…_Atom, DescriptorIterator); CuTe DSL has the same as ``warpgroup.MmaF16BF16Op``, ``MmaF8Op``, ``MmaI8Op``
and ``SmemLayoutAtomKind``, but no TF32. Layouts are computed by the layout algebra; tests compare them with what
CuTe DSL prints. One warpgroup computes the tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triage.legality.algebra.integers import IntTuple
from triage.legality.algebra.layout import StridedLayout, compact, join
from triage.legality.algebra.operations import coalesce_modes, tile_to_shape, zipped_divide
from triage.legality.algebra.partition import whole
from triage.legality.algebra.swizzle import Swizzle
from triage.legality.dtypes import DType
from triage.legality.wgmma.instruction import WgmmaInstruction
from triage.legality.wgmma.layouts import LINES, UNIT, SharedLayout
from triage.legality.wgmma.types import M

SOURCE = "CUTLASS, include/cute/arch/mma_sm90_gmma.hpp, include/cute/atom/mma_traits_sm90_gmma.hpp"
DSL_OPERATIONS = {
    "f16": "warpgroup.MmaF16BF16Op",
    "bf16": "warpgroup.MmaF16BF16Op",
    "e4m3": "warpgroup.MmaF8Op",
    "e5m2": "warpgroup.MmaF8Op",
    "s8": "warpgroup.MmaI8Op",
    "u8": "warpgroup.MmaI8Op",
}
"""The operation of CuTe DSL by the type of A; there is none of TF32 and of 1-bit operands."""
ORDERS: Mapping[str, tuple[int, int, int]] = {"k": (0, 1, 2), "mn": (1, 0, 2)}
"""The order in which ``cutlass.utils.hopper_helpers`` repeats a layout atom, by major; that of C++ is (0, 1, 2)."""
DEFAULT_ORDER = (0, 1, 2)


def atom_name(instruction: WgmmaInstruction, a_from: str, a_major: str, b_major: str) -> str:
    """``SM90_64x128x16_F32F16F16_SS<Major::K, Major::MN>``; types that are K-major only have ``_TN`` instead. Empty
    where CUTLASS has no such atom: 1-bit and sparse operands."""
    if instruction.sparse or instruction.a.dtype.name == "b1":
        return ""
    types = "".join(name.upper() for name in (instruction.d, str(instruction.a.dtype), str(instruction.b.dtype)))
    name = f"SM90_{M}x{instruction.n}x{instruction.k}_{types}_{'SS' if a_from == 'shared' else 'RS'}"
    if not instruction.a.transposes:
        return f"{name}_TN"
    return f"{name}<Major::{a_major.upper()}, Major::{b_major.upper()}>"


def kind(layout: SharedLayout) -> str:
    """``K_SW128``, ``MN_INTER``: the member of ``SmemLayoutAtomKind``; in C++ ``GMMA::Layout_K_SW128_Atom``."""
    return f"{layout.major.upper()}_{f'SW{layout.swizzle}' if layout.swizzle else 'INTER'}"


def swizzle(layout: SharedLayout) -> Swizzle:
    """The swizzle of byte addresses."""
    return Swizzle(layout.units.bit_length() - 1, 4, 3)


def layout_atom(layout: SharedLayout, dtype: DType) -> StridedLayout:
    """The layout of one atom over (M or N, K), in elements, before the swizzle."""
    line = layout.line_bytes * 8 // dtype.bits
    if layout.major == "k":
        return StridedLayout((LINES, line), (line, 1))
    return StridedLayout((line, LINES), (1, line))


@dataclass(frozen=True, slots=True)
class SharedTensor:
    """An operand in shared memory: ``rows`` of M or N by ``k`` elements, ``stages`` of them."""

    layout: SharedLayout
    dtype: DType
    rows: int
    k: int
    stages: int = 1
    order: tuple[int, int, int] = DEFAULT_ORDER

    @property
    def tensor(self) -> StridedLayout:
        """``tile_to_shape`` of the layout atom, as CuTe DSL prints it. Raises NotDivisible where atoms do not fill the
        tile."""
        return tile_to_shape(layout_atom(self.layout, self.dtype), (self.rows, self.k, self.stages), self.order)

    @property
    def coalesced(self) -> StridedLayout:
        """The same with each mode coalesced, as C++ prints it."""
        return coalesce_modes(self.tensor)

    def partition(self, rows: int, k: int) -> StridedLayout:
        """((instruction), MMA_M or MMA_N, MMA_K, PIPE), for instructions of ``rows`` by ``k``."""
        divided = zipped_divide(self.tensor, (whole(rows), whole(k)))
        return join(divided[0], *divided[1])

    def descriptors(self, rows: int, k: int) -> StridedLayout:
        """The layout of the descriptor iterator: steps of its start address in units of 16 bytes."""
        per = UNIT * 8 // self.dtype.bits
        _, *rest = self.partition(rows, k)
        return join(StridedLayout(1, 0), *(StridedLayout(part.shape, _scaled(part.stride, per)) for part in rest))

    def registers(self, k: int) -> StridedLayout:
        """The fragment of an A in registers: ((of an instruction), MMA_M, MMA_K, PIPE), modes packed in the order in
        which they lie in shared memory."""
        _, *rest = self.partition(M, k)
        vector = compact((32 // self.dtype.bits, 2, 2))
        free = join(*rest)
        packed, reached = dict.fromkeys(range(len(free.flat)), 0), int(str(vector.size))
        by_stride = sorted(enumerate(free.flat), key=lambda item: int(str(item[1][1])))
        for index, (extent, _) in by_stride:
            if extent != 1:
                packed[index] = reached
                reached *= int(str(extent))
        strides = iter(packed.values())
        return join(vector, *(StridedLayout(part.shape, _filled(part.stride, strides)) for part in rest))


def accumulator(m: int, n: int, instruction_n: int) -> str:
    """The shape of a thread's accumulator: ((2,2,N/8), MMA_M, MMA_N)."""
    return f"((2,2,{instruction_n // 8}),{m // M},{n // instruction_n})"


def static(layout: StridedLayout) -> str:
    """As C++ prints a layout known while compiling: ``(_128,_64):(_64,_1)``."""
    text, previous = "", ""
    for character in str(layout):
        text += f"_{character}" if character.isdigit() and not previous.isdigit() else character
        previous = character
    return text


def _scaled(stride: IntTuple, per: int) -> IntTuple:
    if isinstance(stride, tuple):
        return tuple(_scaled(part, per) for part in stride)
    return stride // per if isinstance(stride, int) else stride


def _filled(like: IntTuple, values: Iterator[int]) -> IntTuple:
    """The values in the nesting of a tuple."""
    return tuple(_filled(part, values) for part in like) if isinstance(like, tuple) else next(values)
