"""Kernels that tests compile for datacenter Blackwell and Hopper; read as text, and imported where Triton is."""

import triton
import triton.language as tl


@triton.jit
def dot(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, INT: tl.constexpr, AT: tl.constexpr, BT: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.int32 if INT else tl.float32)
    for _ in range(8):
        x = tl.trans(tl.load(a + k[:, None] * M + m[None, :])) if AT else tl.load(a + m[:, None] * K + k[None, :])
        y = tl.trans(tl.load(b + n[:, None] * K + k[None, :])) if BT else tl.load(b + k[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc, out_dtype=tl.int32 if INT else tl.float32)
        a += K
        b += K
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def two(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr):
    """Two accumulators that are alive at the same time."""
    m, n, p, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, P), tl.arange(0, K)
    one = tl.zeros((M, N), tl.float32)
    other = tl.zeros((M, P), tl.float32)
    for _ in range(8):
        x = tl.load(a + m[:, None] * K + k[None, :])
        one = tl.dot(x, tl.load(b + k[:, None] * N + n[None, :]), one)
        other = tl.dot(x, tl.load(b + k[:, None] * P + p[None, :]), other)
        a += K
        b += K
    tl.store(c + m[:, None] * N + n[None, :], one)
    tl.store(c + m[:, None] * P + p[None, :], other)


@triton.jit
def chained(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The second dot's A is the first one's result: it stays in tensor memory."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, K), tl.float32)
    x = tl.load(a + m[:, None] * K + k[None, :])
    for _ in range(8):
        y = tl.load(b + n[:, None] * K + k[None, :])
        acc = tl.dot(tl.dot(x, y.T).to(a.dtype.element_ty), y, acc)
        b += N * K
    tl.store(c + m[:, None] * K + k[None, :], acc)


@triton.jit
def scaled(
    a,
    sa,
    b,
    sb,
    c,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    AF: tl.constexpr,
    BF: tl.constexpr,
    PA: tl.constexpr,
    PB: tl.constexpr,
    V: tl.constexpr,
):
    """Block scales of V elements each; PA and PB elements lie in a byte of A and B."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    ka, kb, ks = tl.arange(0, K // PA), tl.arange(0, K // PB), tl.arange(0, K // V)
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(8):
        x = tl.load(a + m[:, None] * (K // PA) + ka[None, :])
        y = tl.load(b + n[:, None] * (K // PB) + kb[None, :])
        u = tl.load(sa + m[:, None] * (K // V) + ks[None, :])
        v = tl.load(sb + n[:, None] * (K // V) + ks[None, :])
        acc = tl.dot_scaled(x, u, AF, y.T, v, BF, acc)
        a += K
        b += K
        sa += K
        sb += K
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def copy(a, c, S: tl.constexpr, T: tl.constexpr, B: tl.constexpr, Z: tl.constexpr):
    """Descriptors made in the kernel: of shape S, strides T and block B; Z is as many zeros."""
    one = tl.make_tensor_descriptor(a, S, T, B)
    two = tl.make_tensor_descriptor(c, S, T, B)
    two.store(Z, one.load(Z))


@triton.jit
def copy2(
    a, c, S0: tl.constexpr, S1: tl.constexpr, T0: tl.constexpr, T1: tl.constexpr, B0: tl.constexpr, B1: tl.constexpr
):
    """The same of two axes, for releases before 3.8, which take no tuples."""
    one = tl.make_tensor_descriptor(a, [S0, S1], [T0, T1], [B0, B1])
    two = tl.make_tensor_descriptor(c, [S0, S1], [T0, T1], [B0, B1])
    two.store([0, 0], one.load([0, 0]))


@triton.jit
def gather(a, c, B: tl.constexpr, R: tl.constexpr):
    one = tl.make_tensor_descriptor(a, [1024, 1024], [1024, 1], [1, B])
    x = one.gather(tl.arange(0, R) * 2, 0)
    tl.store(c + tl.arange(0, R)[:, None] * B + tl.arange(0, B)[None, :], x)


@triton.jit
def host(a, c):
    """Descriptors made on the host."""
    c.store([0, 0], a.load([0, 0]))
