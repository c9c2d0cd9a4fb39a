"""What the stub driver in a worker answers when a kernel's module asks for the properties of "its" GPU."""

from __future__ import annotations

from triage.legality.limits import limits
from triage.model.target import Target

_PROCESSORS = {"80": 108, "86": 84, "89": 128, "90": 132, "100": 148, "120": 170, "gfx90a": 104, "gfx942": 304}
"""Multiprocessors (compute units) of each architecture's usual board; modules use it for persistent grids."""


def driver_properties(target: Target) -> dict[str, int]:
    """Under the names of ``get_device_properties`` in triton/backends/*/driver.c."""
    known = limits(target)
    return {
        "max_shared_mem": known.shared_bytes if known else 65536,
        "max_num_regs": 65536,
        "multiprocessor_count": _PROCESSORS.get(target.arch, 64),
        "sm_clock_rate": 1_500_000,
        "mem_clock_rate": 1_500_000,
        "mem_bus_width": 5120,
        "warpSize": target.warp_size,
    }
