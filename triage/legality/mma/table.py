"""The matrix operations of CuTe DSL as a table: types, depth, scale factors, releases.

Read from ``__post_init__`` and ``_verify`` of the operations (cutlass/cute/nvgpu, CuTe DSL 4.0 to 4.8.1). Not in it:
``warp.MmaF16BF16SparseOp``, whose constructor is there in 4.3 and 4.8.1 and of which 4.8.1 makes no MMA (its MLIR type
is missing), and operations that begin with ``SM103`` and ``SM107``.
"""

from __future__ import annotations

from dataclasses import dataclass

_FP8 = ("e4m3", "e5m2")
_NARROW = (*_FP8, "e3m2", "e2m3", "e2m1")
_INT8 = ("s8", "u8")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``mixed``: B may be of another of the types; ``crossed``: of A and B exactly one is e2m1. ``d``:
    accumulators; ``k`` in elements. ``scales``: types of the scale factors of blocks, the usual one first; none of an
    operation without. ``sparse``: half of A is left out. ``since``: the first release of 4.0 to 4.8 that has it; one
    ``also`` has it that is older, and those between do not."""

    name: str
    types: tuple[str, ...]
    d: tuple[str, ...]
    k: tuple[int, ...]
    mixed: bool = False
    since: tuple[int, int] = (4, 0)
    scales: tuple[str, ...] = ()
    crossed: bool = False
    sparse: bool = False
    also: tuple[int, int] | None = None

    @property
    def level(self) -> str:
        """``warp``, ``warpgroup`` or ``tcgen05``."""
        return self.name.partition(".")[0]


OPERATIONS: dict[str, Operation] = {
    row.name: row
    for row in (
        Operation("warp.MmaF16BF16Op", ("f16", "bf16"), ("f32", "f16"), (8, 16)),
        Operation("warp.MmaTF32Op", ("tf32",), ("f32",), (4, 8), since=(4, 6)),
        Operation("warp.MmaFP8Op", _FP8, ("f32", "f16"), (16, 32), since=(4, 5)),
        Operation("warpgroup.MmaF16BF16Op", ("f16", "bf16"), ("f32", "f16"), (16,)),
        Operation("warpgroup.MmaF8Op", _FP8, ("f32", "f16"), (32,), mixed=True),
        Operation("warpgroup.MmaI8Op", _INT8, ("s32",), (32,), mixed=True, since=(4, 3)),
        Operation("tcgen05.MmaTF32Op", ("tf32",), ("f32",), (8,)),
        Operation("tcgen05.MmaF16BF16Op", ("f16", "bf16"), ("f32", "f16"), (16,)),
        Operation("tcgen05.MmaI8Op", _INT8, ("s32",), (32,)),
        Operation("tcgen05.MmaFP8Op", _FP8, ("f32", "f16"), (32,)),
        Operation("tcgen05.MmaF8F6F4Op", _NARROW, ("f32", "f16"), (32,), mixed=True, since=(4, 5)),
        Operation("warp.MmaMXF4Op", ("e2m1",), ("f32",), (64,), since=(4, 4), scales=("ue8m0",)),
        Operation("warp.MmaMXF4NVF4Op", ("e2m1",), ("f32",), (64,), since=(4, 4), scales=("e4m3",)),
        Operation("warp.MmaMXF8Op", _FP8, ("f32",), (32,), since=(4, 6), scales=("ue8m0",)),
        Operation(
            "warp.MmaMXF8F6F4Op", (*_FP8, "e2m1"), ("f32",), (32,), True, (4, 6), scales=("ue8m0",), crossed=True
        ),
        Operation("tcgen05.MmaMXF8Op", _FP8, ("f32",), (32,), since=(4, 1), scales=("ue8m0",)),
        Operation("tcgen05.MmaMXF8F6F4Op", _NARROW, ("f32",), (32,), True, (4, 5), scales=("ue8m0",)),
        Operation("tcgen05.MmaMXF4Op", ("e2m1",), ("f32",), (64,), since=(4, 1), scales=("ue8m0",)),
        Operation("tcgen05.MmaMXF4NVF4Op", ("e2m1",), ("f32",), (64,), since=(4, 1), scales=("ue8m0", "e4m3")),
        Operation(
            "tcgen05.MmaF16BF16SparseOp", ("f16", "bf16"), ("f32", "f16"), (32,), since=(4, 8), sparse=True, also=(4, 3)
        ),
        Operation("tcgen05.MmaFP8SparseOp", _FP8, ("f32", "f16"), (64,), since=(4, 8), sparse=True),
    )
}
"""The operations by name."""
