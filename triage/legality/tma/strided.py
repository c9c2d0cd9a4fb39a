"""TMA of a tensor given by a layout, as CuTe describes it: a box of a tile's extents over strided global memory.

``make_tiled_tma_atom`` of CuTe DSL 4.8.1 checks none of the driver's limits: boxes over 256, inner boxes of less than
16 bytes, strides that are not multiples of 16 bytes and tensors without a stride of 1 compile.
"""

from collections.abc import Sequence

from triage.legality.algebra.integers import DynamicInteger, Integer
from triage.legality.algebra.layout import StridedLayout
from triage.legality.dtypes import DType
from triage.legality.tma.tensor_map import UNIT, violations
from triage.legality.violation import Violation
from triage.model.errors import InputError
from triage.model.target import Target


def strided_violations(
    *,
    dtype: str | DType,
    layout: StridedLayout,
    tile: Sequence[int],
    alignment: int = UNIT,
    swizzle: str = "none",
    target: str | Target | None = None,
) -> list[Violation]:
    """Violations of the tensor map of a tensor in global memory, copied in boxes of ``tile``; empty when it is legal.

    ``layout`` and ``tile`` have one mode an axis, in any order; ``alignment`` of the tensor in bytes; ``swizzle`` as
    ``tma.violations`` has it. A dynamic stride counts as its known divisor, a dynamic extent as the tile's. Raises
    InputError for nested modes and a tile of another rank.
    """
    if len(tile) != layout.rank or len(layout.flat) != layout.rank:
        raise InputError(f"tile {tuple(tile)}: give one extent for each mode of {layout}, none of them nested")
    axes = [
        (_known(stride), extent if isinstance(extent, int) else size, size)
        for (extent, stride), size in zip(layout.flat, tile, strict=True)
    ]
    # The driver wants the outermost axis first, and the contiguous one last.
    axes.sort(key=lambda axis: -axis[0])
    return violations(
        dtype=dtype,
        box=[size for _, _, size in axes],
        shape=[extent for _, extent, _ in axes],
        strides=[stride for stride, _, _ in axes],
        swizzle=swizzle,
        base_alignment=alignment,
        target=target,
    )


def _known(stride: Integer) -> int:
    return stride.divisor if isinstance(stride, DynamicInteger) else stride
