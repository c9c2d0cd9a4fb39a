"""Kernels of which some kill the process that compiles them, in the DSL's own code or without an end."""

import cutlass
from cutlass import cute, utils
from cutlass._mlir.dialects import llvm
from cutlass.cutlass_dsl import T, dsl_user_op


@cute.kernel
def through_swizzle(source: cute.Tensor, copy: cute.TiledCopy, layout: cute.ComposedLayout):
    thread, _, _ = cute.arch.thread_idx()
    shared = utils.SmemAllocator().allocate_tensor(source.element_type, layout, byte_alignment=1024)
    part = copy.get_slice(thread)
    cute.copy(copy, part.partition_S(source), part.partition_D(shared))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)


@cute.jit
def tiled_copy(source: cute.Tensor, THREADS: cutlass.Constexpr, NUMBER: cutlass.Constexpr):
    """SIGABRT with 96 threads, eight of which copy a row."""
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), source.element_type, num_bits_per_copy=128)
    threads = cute.make_layout((THREADS // 8, 8), stride=(8, 1))
    copy = cute.make_tiled_copy_tv(atom, threads, cute.make_layout((1, 8)))
    rows = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
    layout = cute.tile_to_shape(rows, (128, 64), (0, 1))
    through_swizzle(source, copy, layout).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))


@dsl_user_op
def assembled(value, constraints, *, loc=None, ip=None):
    operands = [cutlass.Int32(value).ir_value(loc=loc, ip=ip)]
    made = llvm.inline_asm(
        T.i32(), operands, "mov.b32 $0, $1;", constraints, has_side_effects=True, is_align_stack=False,
        asm_dialect=llvm.AsmDialect.AD_ATT, loc=loc, ip=ip,
    )  # fmt: skip
    return cutlass.Int32(made)


@cute.kernel
def through_assembly(numbers: cute.Tensor, constraints: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    numbers[thread] = assembled(numbers[thread], constraints)


@cute.jit
def inline_ptx(numbers: cute.Tensor, CONSTRAINTS: cutlass.Constexpr, NUMBER: cutlass.Constexpr):
    """SIGILL where the constraints have two outputs for one result."""
    through_assembly(numbers, CONSTRAINTS).launch(grid=(1, 1, 1), block=(32, 1, 1))


def deeper(number):
    return deeper(number + 1)


@cute.kernel
def without_end(numbers: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    numbers[thread] = deeper(thread)


@cute.jit
def recursion(numbers: cute.Tensor, NUMBER: cutlass.Constexpr):
    """SIGABRT: the stack ends while an operation is made."""
    without_end(numbers).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def endless(numbers: cute.Tensor, NUMBER: cutlass.Constexpr):
    import itertools

    for _ in itertools.count():
        pass
