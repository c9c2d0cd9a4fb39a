"""Inductor under ``--compile-only``: generated kernels are compiled, and neither timed nor launched."""

from typing import Any

from .driver import measure


def time_nothing(module: Any) -> None:
    """``module`` is ``torch._inductor.runtime.benchmarking``."""

    def benchmark(self: Any, function: Any, *arguments: Any, **named: Any) -> Any:
        return measure(function)

    for value in list(vars(module).values()):
        if isinstance(value, type) and "Benchmarker" in value.__name__:
            for name in ("benchmark_gpu", "benchmark_many_gpu", "benchmark_cpu"):
                if name in vars(value):
                    setattr(value, name, benchmark)


def configure(module: Any) -> None:
    """``module`` is ``torch._inductor.config``."""
    # The first loads binaries itself, past Triton's driver, from 2.8 or so on; the second is decided by measurements on
    # real tensors, which C++ allocates.
    for name in ("use_static_cuda_launcher", "shape_padding"):
        if hasattr(module, name):
            setattr(module, name, False)


def allocate_fakes(torch: Any) -> None:
    """Fake allocations and views on the device for generated code, which uses C++ functions that bypass modes."""
    guards = torch._C._dynamo.guards

    def empty_strided(size: Any, stride: Any, dtype: Any) -> Any:
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    def reinterpret(tensor: Any, size: Any, stride: Any, offset: int = 0) -> Any:
        return torch.as_strided(tensor, size, stride, tensor.storage_offset() + offset)

    for name, function in (("_empty_strided_cuda", empty_strided), ("_reinterpret_tensor", reinterpret)):
        if hasattr(guards, name):
            setattr(guards, name, function)
