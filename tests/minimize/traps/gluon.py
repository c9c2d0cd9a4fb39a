"""Failures of Gluon kernels, each in a function of its own that the kernel calls."""

from __future__ import annotations

from traps.failure import Failure, failures

_TILES = """    rows = gl.arange(0, {m}, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, {k}, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * {k} + gl.arange(0, {k}, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * 64 + gl.arange(0, 64, layout=gl.SliceLayout(0, load))[None, :])
"""
_STORE = """    c_rows = gl.arange(0, {m}, layout=gl.SliceLayout(1, result))
    c_columns = gl.arange(0, 64, layout=gl.SliceLayout(0, result))
    gl.store(c_ptr + c_rows[:, None] * 64 + c_columns[None, :], c)
"""


def _ampere(name: str, says: str, accumulator: str = "gl.float32", width: int = 2, ptr: str = "h_ptr") -> Failure:
    function = name.replace("-", "_")
    above = (
        f"@gluon.jit\ndef {function}(a_ptr, b_ptr, c_ptr):\n"
        "    load: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])\n"
        "    result: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])\n"
        + _TILES.format(m=64, k=64)
        + f"    a = gl.convert_layout(a, gl.DotOperandLayout(0, result, {width}))\n"
        f"    b = gl.convert_layout(b, gl.DotOperandLayout(1, result, {width}))\n"
        f"    c = mma_v2(a, b, gl.zeros([64, 64], {accumulator}, layout=result))\n" + _STORE.format(m=64)
    )
    return Failure(name, f"{function}({ptr}, {ptr}, y_ptr)", says, above=above, gluon=True)


def _hopper(name: str, says: str, shape: str = "[16, 64, 16]", m: int = 64, k: int = 64, b: str = "") -> Failure:
    function = name.replace("-", "_")
    a = "gl.NVMMASharedLayout(0, 16, 2)" if k < 64 else "gl.NVMMASharedLayout(128, 16, 2)"
    above = (
        f"@gluon.jit\ndef {function}(a_ptr, b_ptr, c_ptr):\n"
        "    load: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])\n"
        f"    result: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], {shape})\n"
        + _TILES.format(m=m, k=k)
        + f"    a_shared = gl.allocate_shared_memory(a.dtype, [{m}, {k}], {a}, a)\n"
        f"    b_shared = gl.allocate_shared_memory(b.dtype, [{k}, 64], {b or 'gl.NVMMASharedLayout(128, 16, 2)'}, b)\n"
        "    fence_async_shared()\n"
        f"    zero = gl.zeros([{m}, 64], gl.float32, layout=result)\n"
        "    c = warpgroup_mma(a_shared, b_shared, zero, is_async=False)\n" + _STORE.format(m=m)
    )
    return Failure(name, f"{function}(h_ptr, h_ptr, y_ptr)", says, above=above, gluon=True)


GLUON = failures(
    _ampere("mma-width", "kWidth must be >= max", ptr="q_ptr"),
    _ampere("mma-double", "unsupported MMA instruction for the given", "gl.float64"),
    _hopper("wgmma-flat", "Index < Length && .Invalid index", "[16, 64]"),
    _hopper("wgmma-shallow", "is too large for the layout with block size", k=8),
    _hopper("wgmma-rows", "WGMMA result M dimension must be divisible", m=32),
    _hopper(
        "wgmma-swizzled",
        "unexpected operand layout for NvidiaMmaEncodingAttr",
        b="gl.SwizzledSharedLayout(8, 2, 4, [1, 0])",
    ),
    Failure(
        "warps-layout",
        "{v}: gl.constexpr = gl.BlockedLayout([1], [32], [8], [0])\n"
        "gl.store(y_ptr + gl.arange(0, 512, layout={v}), 1.0)",
        "Result has an invalid layout",
        gluon=True,
    ),
    Failure(
        "arange-rank",
        "{v}: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])\n"
        "gl.store(y_ptr + gl.arange(0, 512, layout={v}), 1.0)",
        "tensor shape and layout rank mismatch",
        gluon=True,
    ),
    Failure(
        "no-layout",
        "gl.store(y_ptr + offsets, offsets + gl.arange(0, BLOCK, layout=gl.BlockedLayout([2], [32], [4], [0])))",
        "Layout mismatch in",
        gluon=True,
    ),
    Failure(
        "slice-axis",
        "gl.store(y_ptr, gl.sum(gl.expand_dims(offsets, 1), 0))",
        "(?i)slicelayout",
        gluon=True,
    ),
)
