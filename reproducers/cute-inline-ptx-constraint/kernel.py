"""The constraint n takes constants; the operand is known at run time only."""

import cutlass
import cutlass.cute as cute
from cutlass._mlir.dialects import llvm
from cutlass.cutlass_dsl import T, dsl_user_op


@dsl_user_op
def absolute(value, TEXT, CONSTRAINTS, *, loc=None, ip=None):
    """The absolute value, by one PTX instruction."""
    operand = cutlass.Int32(value).ir_value(loc=loc, ip=ip)
    dialect = llvm.AsmDialect.AD_ATT
    flags = {"has_side_effects": True, "is_align_stack": False, "asm_dialect": dialect, "loc": loc, "ip": ip}
    return cutlass.Int32(llvm.inline_asm(T.i32(), [operand], TEXT, CONSTRAINTS, **flags))


@cute.kernel
def make_positive(out: cute.Tensor, TEXT: cutlass.Constexpr, CONSTRAINTS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = absolute(out[thread], TEXT, CONSTRAINTS)


@cute.jit
def host(out: cute.Tensor, TEXT: cutlass.Constexpr, CONSTRAINTS: cutlass.Constexpr):
    make_positive(out, TEXT, CONSTRAINTS).launch(grid=(1, 1, 1), block=(128, 1, 1))
