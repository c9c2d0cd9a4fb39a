"""Kernels that really fail on the newest release, by the recipe that repairs each. Reproducers are named as such."""

from __future__ import annotations

from typing import Any

REPRODUCERS = {
    "argument-in-fp32": "exp-of-bf16",
    "bitwise-atomic-as-integer": "float-atomic-xor",
    "block-pointers-as-descriptors": "block-pointer-removed",
    "buffer-as-pointer": "gluon-amd-buffer-load-on-cuda",
    "condition-as-boolean": "device-assert-float",
    "descriptor-as-it-lies": "descriptor-last-stride",
    "dot-operand-turned": "dot-inner-extents",
    "dot-operands-one-type": "dot-operand-types-differ",
    "dot-precision-offered": "hip-tf32x3",
    "floor-division": "float-loop-bound",
    "fma-as-multiply-add": "fma-on-integers",
    "global-constexpr": "global-variable",
    "jit-helper": "helper-without-jit",
    "loads-in-fp32": "fp8-row-sum",
    "loop-carried-type": "loop-carried-dtype",
    "loop-option-left-out": "warp-specialize-one-warp",
    "operand-transposed": "wgmma-mn-major-warp-specialized",
}
"""One for each recipe. Two have kernels of their own below: static-range-rolled, which repairs what does not end, and
dot-accumulator-type."""

MORE = ("if-branch-type", "fp8-sort", "float-pointer-offset", "libdevice-argument-type", "hopper-ws-pointer-loads",
        "hopper-ws-nested-loop")  # fmt: skip

_HEAD = "import triton\nimport triton.language as tl\n\n\n"
_JIT = "@triton.jit\n"

WRITTEN: dict[str, tuple[str, dict[str, Any]]] = {
    "a block pointer that moves, in two dimensions": (
        _HEAD
        + _JIT
        + """def kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    a_block = tl.make_block_ptr(
        a_ptr, shape=(M, K), strides=(K, 1), offsets=(row, 0), block_shape=(BM, BK), order=(1, 0)
    )
    b_block = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, tl.program_id(1) * BN), (BK, BN), (1, 0))
    c = tl.zeros([BM, BN], tl.float32)
    for _ in range(0, K, BK):
        c = tl.dot(tl.load(a_block, boundary_check=(0, 1), padding_option="zero"), tl.load(b_block, (0, 1)), c)
        a_block = tl.advance(a_block, (0, BK))
        b_block = tl.advance(b_block, (BK, 0))
    c_block = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (row, tl.program_id(1) * BN), (BM, BN), (1, 0))
    tl.store(c_block, c.to(tl.float16), boundary_check=(0, 1))
""".replace("tl.load(b_block, (0, 1))", "tl.load(b_block, boundary_check=(0, 1))"),
        {
            "signature": dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16") | dict.fromkeys("MNK", "i32"),
            "constexprs": {"BM": 32, "BN": 32, "BK": 16},
        },
    ),
    "products of fp64 that are summed in fp32": (
        _HEAD
        + _JIT
        + """def kernel(a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + n[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)
""",
        {
            "signature": dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp64") | dict.fromkeys("NK", "i32"),
            "constexprs": {"BM": 32, "BN": 32, "BK": 16},
        },
    ),
    "two helpers, one of which calls the other": (
        _HEAD
        + """def half(x):
    return x * 0.5


def softplus(x):  # no decorator either
    return half(tl.log(1.0 + tl.exp(x)))


"""
        + _JIT
        + """def kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, softplus(tl.load(x_ptr + offsets)))
""",
        {"signature": {"x_ptr": "*fp32"}, "constexprs": {"BLOCK": 64}},
    ),
    "two accumulators that start alike": (
        _HEAD
        + _JIT
        + """def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float16)
    squares = tl.zeros([BLOCK], dtype=tl.float16)
    count = 0
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK)).to(tl.float32)
        total += x
        squares += x * x
        count += 1
    tl.store(y_ptr + tl.arange(0, BLOCK), total + squares * count)
""",
        {"signature": {"x_ptr": "*fp16", "y_ptr": "*fp32", "n": "i32"}, "constexprs": {"BLOCK": 64}},
    ),
    "a counter that starts as an integer": (
        _HEAD
        + _JIT
        + """def kernel(x_ptr, y_ptr, n):
    best = 0
    for index in range(n):
        best = tl.maximum(best, tl.load(x_ptr + index))
    tl.store(y_ptr, best)
""",
        {"signature": {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, "constexprs": {}},
    ),
    "an operand shared by two dots": (
        _HEAD
        + _JIT
        + """def kernel(p_ptr, v_ptr, o_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    v = tl.load(v_ptr + at)
    p = tl.exp(tl.load(p_ptr + at))
    o = tl.dot(p, v)
    o = tl.dot(p, v * 2, o)
    tl.store(o_ptr + at, o)
""",
        {"signature": {"p_ptr": "*fp32", "v_ptr": "*bf16", "o_ptr": "*fp32"}, "constexprs": {"B": 32}},
    ),
    "fp8 arithmetic without a function": (
        _HEAD
        + _JIT
        + """def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x * x + x
    tl.store(y_ptr + offsets, y, mask=offsets < n)
""",
        {
            "signature": {"x_ptr": "*fp8e5", "y_ptr": "*fp32", "n": "i32"},
            "constexprs": {"BLOCK": 256},
            "target": "cuda:90",
        },
    ),
    "a helper's line fails": (
        _HEAD
        + "@triton.jit\ndef kernel(x_ptr, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n"
        + "    tl.store(x_ptr + i, gate(tl.load(x_ptr + i)))\n\n\n"
        + "@triton.jit\ndef gate(x):\n    return tl.exp(x) * 2\n",
        {"signature": {"x_ptr": "*fp16"}, "constexprs": {"BLOCK": 64}},
    ),
    "a mask made of a quotient": (
        _HEAD
        + _JIT
        + """def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    half = n / 2  # a float / here
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + half + i))
""",
        {"signature": {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, "constexprs": {"BLOCK": 64}},
    ),
}

UNROLLED = (
    _HEAD
    + _JIT
    + """def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for turn in tl.static_range(400):
        x = tl.sort(x * 0.5 + turn)
    tl.store(y_ptr + i, x)
"""
)
"""Sorts that are written out 400 times."""
