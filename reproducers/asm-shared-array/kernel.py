"""Assembly that declares 256 KiB of static shared memory; 48 KiB are the limit of what is static."""

import triton
import triton.language as tl


@triton.jit
def apply(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise("{ .shared .align 4 .b8 big[262144]; st.shared.b32 [big], $1; ld.shared.b32 $0, [big]; }", "=r,r", [x], tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + offsets, y)
