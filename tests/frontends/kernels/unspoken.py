"""What the DSL compiles, or dies of, without a word about what is wrong."""

import cutlass
from cutlass import cute, utils
from cutlass._mlir.dialects import llvm
from cutlass.cute.nvgpu import cpasync
from cutlass.cutlass_dsl import T, dsl_user_op


@cute.kernel
def fetch(atom: cute.CopyAtom, source: cute.Tensor, layout: cute.Layout, box: cutlass.Constexpr):
    allocator = utils.SmemAllocator()
    barrier = allocator.allocate_array(cutlass.Int64, 1)
    shared = allocator.allocate_tensor(cutlass.Float16, layout, 128)
    tile = cute.group_modes(cute.local_tile(source, box, (0, 0)), 0, 2)
    to, of = cpasync.tma_partition(atom, 0, cute.make_layout(1), cute.group_modes(shared, 0, 2), tile)
    cute.copy(atom, of, to, tma_bar_ptr=barrier)


@cute.jit
def load_box(matrix: cute.Tensor, BOX: cutlass.Constexpr):
    layout = cute.make_layout(BOX, stride=(BOX[1], 1))
    atom, source = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), matrix, layout, BOX)
    fetch(atom, source, layout, BOX).launch(grid=(1, 1, 1), block=(32, 1, 1))


@dsl_user_op
def absolute(number, constraints, *, loc=None, ip=None):
    operand = cutlass.Int32(number).ir_value(loc=loc, ip=ip)
    made = llvm.inline_asm(
        T.i32(), [operand], "abs.s32 $0, $1;", constraints, has_side_effects=True, is_align_stack=False,
        asm_dialect=llvm.AsmDialect.AD_ATT, loc=loc, ip=ip,
    )  # fmt: skip
    return cutlass.Int32(made)


@cute.kernel
def take(tensor: cute.Tensor, constraints: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    tensor[thread] = absolute(tensor[thread], constraints)


@cute.jit
def inline(tensor: cute.Tensor, CONSTRAINTS: cutlass.Constexpr):
    take(tensor, CONSTRAINTS).launch(grid=(1, 1, 1), block=(32, 1, 1))
