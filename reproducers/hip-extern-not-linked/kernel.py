"""The name of a device function that none of the linked libraries defines."""

import triton
import triton.language as tl


@tl.core.extern
def twice(x, _semantic=None):
    fp32 = tl.core.dtype("fp32")
    return tl.core.extern_elementwise("", "", [x], {(fp32,): ("no_such_twice", fp32)}, True, _semantic=_semantic)


@triton.jit
def apply(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, twice(tl.load(x_ptr + offsets)))
