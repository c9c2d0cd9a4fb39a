import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, K):
    accumulator = tl.zeros((64, 16), tl.float32)
    for k in range(K):
        a = tl._experimental_descriptor_load(a_ptr, k, [64, 16], tl.float32)
        accumulator = tl.dot(a, tl._experimental_descriptor_load(a_ptr, k, [16, 16], tl.float32))
    tl.store(a_ptr + tl.arange(0, 64)[:, None] + tl.arange(0, 16), accumulator)
