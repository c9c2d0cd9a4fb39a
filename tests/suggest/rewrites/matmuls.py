"""Matmuls whose operand is loaded MN-major, in the ways of real kernels, and some that must be left as they are.

Every ``kernel`` takes a [M, K], b [K, N] and c [M, N], row-major, and one tile of each a program.
"""

from __future__ import annotations

HEAD = "import triton\nimport triton.language as tl\n\n\n"
_START = """@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
"""
_A = "    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])\n"
_B = "    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])\n"
_ZERO = "    c = tl.zeros([BM, BN], tl.float32)\n"
_END = """    rows = row + tl.arange(0, BM)
    columns = column + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c, mask=inside)
"""
_LOOP = """    for k in range(0, K, BK):
        a = a_desc.load([row, k])
"""

HELPERS = '''@triton.jit
def describe(pointer, rows, columns, R: tl.constexpr, C: tl.constexpr):
    return tl.make_tensor_descriptor(pointer, [rows, columns], [columns, 1], [R, C])


@triton.jit
def tile(descriptor, at_row, at_column):
    """Loads, and nothing else."""
    return descriptor.load([at_row, at_column])


'''

RECOGNISED: dict[str, str] = {
    "a descriptor": _START + _A + _B + _ZERO + _LOOP + "        b = b_desc.load([k, column])\n"
    "        c = tl.dot(a, b, c)\n" + _END,
    "without names on the way": _START + _A + _B + _ZERO + "    for k in range(0, K, BK):\n"
    "        c = tl.dot(a_desc.load([row, k]), b_desc.load([k, column]), c)\n" + _END,
    "a cast on the way": _START + _A + _B + _ZERO + _LOOP + "        b = b_desc.load([k, column]).to(tl.float32)\n"
    "        c = tl.dot(a, b, c)\n" + _END,
    "tl.load_tensor_descriptor": _START + _A + _B + _ZERO + _LOOP
    + "        b = tl.load_tensor_descriptor(b_desc, [k, column])\n        c = tl.dot(a, b, c)\n" + _END,
    "a prologue and a loop": _START + _A + _B + _ZERO + "    b = b_desc.load([0, column])\n" + _LOOP
    + "        c = tl.dot(a, b, c)\n        b = b_desc.load([k + BK, column])\n" + _END,
    "a tile used elsewhere too": _START + _A + _B + _ZERO + "    norms = tl.zeros([BN], tl.float32)\n" + _LOOP
    + "        b = b_desc.load([k, column])\n        c = tl.dot(a, b, c)\n        norms += tl.sum(b * b, axis=0)\n"
    "    c += norms[None, :]\n" + _END,
    "helpers": HELPERS + _START
    + "    a_desc = describe(a_ptr, M, K, BM, BK)\n    b_desc = describe(b_ptr, K, N, BK, BN)\n" + _ZERO
    + "    for k in range(0, K, BK):\n        a = tile(a_desc, row, k)\n"
    "        b = tile(b_desc, at_row=k, at_column=column)\n        c = tl.dot(a, b, c)\n" + _END,
    "A and B": _START + "    a_desc = tl.make_tensor_descriptor(a_ptr, [K, M], [M, 1], [BK, BM])\n" + _B + _ZERO
    + "    for k in range(0, K, BK):\n        a = tl.trans(a_desc.load([k, row]))\n"
    "        c = tl.dot(a, b_desc.load([k, column]), c)\n" + _END,
    "A of a name, transposed in the dot": _START
    + "    a_desc = tl.make_tensor_descriptor(a_ptr, [K, M], [M, 1], [BK, BM])\n"
    "    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])\n" + _ZERO
    + "    for k in range(0, K, BK):\n        a = a_desc.load([k, row])\n        b = b_desc.load([column, k])\n"
    "        c = tl.dot(a.T, b.T, c)\n" + _END,
    "A of a name that is read again": _START
    + "    a_desc = tl.make_tensor_descriptor(a_ptr, [K, M], [M, 1], [BK, BM])\n"
    "    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])\n" + _ZERO
    + "    for k in range(0, K, BK):\n        raw = a_desc.load([k, row])\n        a = raw.to(tl.float32)\n"
    "        c = tl.dot(a.T, b_desc.load([column, k]).T, c) + tl.sum(raw, axis=0)[:, None]\n" + _END,
    "pointers that move": _START + _A + "    i = tl.arange(0, BK)\n    j = column + tl.arange(0, BN)\n"
    "    b_ptrs = b_ptr + (i[:, None] * N + j[None, :])\n" + _ZERO + _LOOP
    + "        mask = (i[:, None] + k < K) & (j[None, :] < N)\n        b = tl.load(b_ptrs, mask=mask, other=0.0)\n"
    "        c = tl.dot(a, b, c)\n        b_ptrs += BK * N\n" + _END,
}  # fmt: skip
"""Which operand is exchanged is in the name where it is not B."""

BLOCK_POINTER = _START + _A + (
    "    b_block = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, column), (BK, BN), (1, 0))\n" + _ZERO
    + _LOOP + "        b = tl.load(b_block, boundary_check=(0, 1), padding_option='zero')\n"
    "        c = tl.dot(a, b, c)\n        b_block = tl.advance(b_block, (BK, 0))\n" + _END
)  # fmt: skip
"""For releases up to 3.8, which have block pointers."""

OLD = _START.replace("a_ptr, b_ptr", "a_desc, b_desc") + _ZERO + (
    "    for k in range(0, K, BK):\n"
    "        a = tl._experimental_descriptor_load(a_desc, [row, k], [BM, BK], tl.float32)\n"
    "        b = tl._experimental_descriptor_load(b_desc, [k, column], [BK, BN], tl.float32)\n"
    "        c = tl.dot(a, b, c)\n" + _END
)  # fmt: skip
"""For releases up to 3.3, where the host makes the descriptors."""

HOST = _START.replace("a_ptr, b_ptr", "a_desc, b_desc") + _ZERO + _LOOP + (
    "        b = b_desc.load([k, column])\n        c = tl.dot(a, b, c)\n" + _END
)  # fmt: skip
"""The host makes the descriptors, and their blocks are in the signature."""

STRIDED = _START.replace("K, BM", "K, stride_a, stride_b, BM") + (
    "    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [stride_a, 1], [BM, BK])\n"
    "    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [stride_b, 1], [BK, BN])\n" + _ZERO + _LOOP
    + "        c = tl.dot(a, b_desc.load([k, column]), c)\n" + _END
)  # fmt: skip
"""The caller passes the strides of the rows."""

REFUSED: dict[str, str] = {
    "the descriptor is stored through": _START + _A + _B + _ZERO + _LOOP + "        b = b_desc.load([k, column])\n"
    "        c = tl.dot(a, b, c)\n        b_desc.store([k, column], b + 1)\n" + _END,
    "the memory is read in another way too": _START + _A + _B + _ZERO + _LOOP + "        b = b_desc.load([k, column])\n"
    "        c = tl.dot(a, b, c) + tl.load(b_ptr + k)\n" + _END,
    "a descriptor that starts at an offset": _START + _A
    + "    b_desc = tl.make_tensor_descriptor(b_ptr + column, [K, N], [N, 1], [BK, BN])\n" + _ZERO + _LOOP
    + "        b = b_desc.load([k, 0])\n        c = tl.dot(a, b, c)\n" + _END,
    "a stride that is computed": _START + _A
    + "    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [2 * N, 1], [BK, BN])\n" + _ZERO + _LOOP
    + "        b = b_desc.load([k, column])\n        c = tl.dot(a, b, c)\n" + _END,
    "a stride that another matrix shares": _START.replace("K, BM", "K, stride, BM")
    + "    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [stride, 1], [BM, BK])\n"
    "    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [stride, 1], [BK, BN])\n" + _ZERO + _LOOP
    + "        b = b_desc.load([k, column])\n        c = tl.dot(a, b, c)\n" + _END,
    "one descriptor for both operands": _START.replace("b_ptr, ", "") + _A + _ZERO + _LOOP
    + "        c = tl.dot(a, a_desc.load([k, column]), c)\n        tl.store(c_ptr + k, a_desc.gather([k], 0))\n" + _END,
    "a helper that does more": HELPERS.replace(
        "return descriptor.load([at_row, at_column])",
        "return descriptor.load([at_row, at_column]) * (at_row + tl.arange(0, 32))[:, None]",
    ) + _START + _A + _B + _ZERO + _LOOP + "        c = tl.dot(a, tile(b_desc, k, column), c)\n" + _END,
    "a vector that is broadcast as a row": _START + _A + "    i = tl.arange(0, BK)\n    j = column + tl.arange(0, BN)\n"
    + _ZERO + _LOOP + "        b = tl.load(b_ptr + (i + k)[:, None] * N + j)\n        c = tl.dot(a, b, c)\n" + _END,
    "offsets that the text does not show": _START + _A + "    i = tl.arange(0, BK)\n    j = column + tl.arange(0, BN)\n"
    "    at = tl.broadcast_to(i[:, None] * N, [BK, BN]) + j[None, :]\n" + _ZERO + _LOOP
    + "        b = tl.load(b_ptr + at + k * N)\n        c = tl.dot(a, b, c)\n" + _END,
    "pointers that are stored through": _START + _A + "    i = tl.arange(0, BK)\n    j = column + tl.arange(0, BN)\n"
    "    b_ptrs = b_ptr + (i[:, None] * N + j[None, :])\n" + _ZERO + _LOOP
    + "        b = tl.load(b_ptrs)\n        c = tl.dot(a, b, c)\n        tl.store(b_ptrs, b * 2)\n" + _END,
    "an operand that is computed": _START + _A + _B + _ZERO + _LOOP
    + "        b = b_desc.load([k, column]) * 2\n        c = tl.dot(a, b, c)\n" + _END,
    "K-major as it is": _START + _A
    + "    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])\n" + _ZERO
    + _LOOP + "        b = b_desc.load([column, k])\n        c = tl.dot(a, b.T, c)\n" + _END,
}  # fmt: skip
"""Kernels of which the recipe cannot be sure."""
