"""The GPU that ``triage run --compile-only`` shows a program: the product of the target's row in the table."""

from __future__ import annotations

from triage.model.errors import InputError
from triage.model.gpus import ARCHITECTURES
from triage.model.target import Target


def described(target: Target) -> dict[str, str | int]:
    """The properties of a target's product as ``capture/program/fake/device.py`` reads them. Raises InputError for a
    target without one."""
    gpu = target.gpu
    if gpu is None or gpu.product is None or gpu.block is None or gpu.sm is None:
        known = ", ".join(str(row) for row in ARCHITECTURES if row.product)
        raise InputError(f"--target {target}: no product of it is known to compile for; known are {known}")
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
