"""Kernels that take descriptors of the host's, make their own on the device, and are Gluon's, with torch's tensors."""

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def of_the_host(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def of_the_device(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BLOCK, BLOCK])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BLOCK, BLOCK])
    out.store([0, 0], x.load([0, 0]) + 1)


@gluon.jit
def in_gluon(x):
    shared = gl.allocate_shared_memory(x.dtype, x.block_shape, x.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, x.block_type.nbytes)
    tma.async_copy_global_to_shared(x, [0, 0], barrier, shared)
    mbarrier.wait(barrier, phase=0)
    mbarrier.invalidate(barrier)


def main():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    a, b, c = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in "abc")
    blocks = ((a, [128, 64]), (b, [64, 128]), (c, [128, 128]))
    of_the_host[(4, 4)](*(TensorDescriptor.from_tensor(*one) for one in blocks), 512, 128, 128, 64)
    of_the_device[(1,)](a, c, 512, 512, 64)
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    in_gluon[(1,)](GluonDescriptor.from_tensor(a, [64, 64], layout))
    print("ends")


if __name__ == "__main__":
    main()
