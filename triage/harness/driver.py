"""What the stub driver in a worker answers when a kernel's module asks for the properties of "its" GPU."""

from triage.model.target import Target

# Of a target that is not in the table: the least that any GPU has, and an even number of multiprocessors.
_SHARED_BYTES, _MULTIPROCESSORS = 65536, 64


def driver_properties(target: Target) -> dict[str, int]:
    """Under the names of ``get_device_properties`` in triton/backends/*/driver.c."""
    gpu = target.gpu
    return {
        "max_shared_mem": gpu.block.shared_bytes if gpu and gpu.block else _SHARED_BYTES,
        "max_num_regs": 65536,
        # Modules use it for persistent grids.
        "multiprocessor_count": gpu.product.multiprocessors if gpu and gpu.product else _MULTIPROCESSORS,
        "sm_clock_rate": 1_500_000,
        "mem_clock_rate": 1_500_000,
        "mem_bus_width": 5120,
        "warpSize": target.warp_size,
    }
