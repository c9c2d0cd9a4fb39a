"""An address that was loaded as fp32: only integers are cast to pointers."""

import triton
import triton.language as tl


@triton.jit
def indirect(table_ptr, y_ptr):
    address = tl.load(table_ptr)
    source = address.to(tl.pointer_type(tl.float32))
    tl.store(y_ptr, tl.load(source))
