"""Products of tiles that do not divide, register tensors in local memory, and registers that are spilled: all of it
compiles on every release."""

import cutlass
from cutlass import cute
from cutlass.cute.nvgpu import warp

registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def multiply(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, product: cute.TiledMma, PREDICATED: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    share = product.get_slice(thread)
    rows, columns = share.partition_A(a), share.partition_B(b)
    if cutlass.const_expr(PREDICATED):
        share.partition_A(cute.make_identity_tensor(a.shape))
        share.partition_B(cute.make_identity_tensor(b.shape))
    left, right = product.make_fragment_A(rows), product.make_fragment_B(columns)
    to = share.partition_C(c)
    sums = product.make_fragment_C(to)
    sums.fill(0.0)
    cute.autovec_copy(rows, left)
    cute.autovec_copy(columns, right)
    cute.gemm(product, sums, left, right, sums)
    cute.autovec_copy(sums, to)


@cute.jit
def tiles(
    a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, WARPS: cutlass.Constexpr, PREDICATED: cutlass.Constexpr = False
):
    operation = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    product = cute.make_tiled_mma(operation, (WARPS, 1, 1))
    multiply(a, b, c, product, PREDICATED).launch(grid=(1, 1, 1), block=(32 * WARPS, 1, 1))


@cute.kernel
def hold(numbers: cute.Tensor, ARRAY: cutlass.Constexpr, VALUES: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    table = registers(cute.make_layout((ARRAY,)), cutlass.Float32)
    values = registers(cute.make_layout((VALUES,)), cutlass.Float32)
    for i in cutlass.range_constexpr(ARRAY):
        table[i] = numbers[thread + i * 64]
    for i in cutlass.range_constexpr(VALUES):
        values[i] = numbers[thread + i * 1024]
    for _ in range(100):
        for i in cutlass.range_constexpr(VALUES):
            values[i] = values[i] * values[(i * 7 + 3) % VALUES] + 1.0
    for i in cutlass.range_constexpr(VALUES):
        numbers[thread + i * 1024] = values[i]
    numbers[thread] = table[cutlass.Int32(numbers[thread]) % ARRAY]


@cute.jit
def local(numbers: cute.Tensor, ARRAY: cutlass.Constexpr, VALUES: cutlass.Constexpr):
    hold(numbers, ARRAY, VALUES).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def collect(numbers: cute.Tensor, count: cutlass.Int32):
    values = registers(cute.make_layout((count,)), cutlass.Float32)
    for i in range(count):
        values[i] = numbers[i]
    for i in range(count):
        numbers[i] = values[count - i]


@cute.jit
def sized(numbers: cute.Tensor, count: cutlass.Int32):
    collect(numbers, count).launch(grid=(1, 1, 1), block=(32, 1, 1))
