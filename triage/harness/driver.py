"""What a worker answers when a kernel's module asks for the properties of "its" GPU: Triton's driver, or torch."""

from typing import Any

from triage.model.target import Target

# Of a target that is not in the table: the least that any GPU has, and an even number of multiprocessors.
_SHARED_BYTES, _MULTIPROCESSORS = 65536, 64


def target_message(target: Target) -> dict[str, Any]:
    """The target, and what of its GPU a worker needs before it imports a kernel's module."""
    return {
        "target": target.to_message(),
        "limits": driver_properties(target),
        "device": product_properties(target),
    }


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


def product_properties(target: Target) -> dict[str, str | int]:
    """Of a product that has the target's GPU; empty where none is known."""
    gpu = target.gpu
    if gpu is None or gpu.product is None or gpu.block is None or gpu.sm is None:
        return {}
    return {
        "backend": target.backend,
        "arch": target.capability or target.arch,
        "warp_size": target.warp_size,
        "name": gpu.product.name,
        "shared_bytes": gpu.block.shared_bytes,
        "shared_bytes_multiprocessor": gpu.sm.shared_bytes,
        "threads": gpu.block.threads,
        "warps": gpu.sm.warps,
        "multiprocessors": gpu.product.multiprocessors,
        "memory_bytes": gpu.product.memory_gib << 30,
    }
