"""A kernel that releases before 4.3 refuse: they print no bfloat16."""

from cutlass import cute


@cute.kernel
def show(tensor: cute.Tensor):
    cute.printf("{}", tensor[0])


@cute.jit
def prints(tensor: cute.Tensor):
    show(tensor).launch(grid=(1, 1, 1), block=(32, 1, 1))
