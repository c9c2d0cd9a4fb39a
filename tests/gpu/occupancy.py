"""Compares triage's occupancy and limits with what the CUDA driver says of the device at hand. Needs libcuda alone.

    PYTHONPATH=. python tests/gpu/occupancy.py

Kernels that hold a given number of registers are assembled by the driver from PTX; for each, with blocks of different
sizes and amounts of shared memory, ``cuOccupancyMaxActiveBlocksPerMultiprocessor`` is the reference. Prints every
disagreement and how many combinations were compared; exit code 1 on any disagreement, 2 where there is no device.
"""

from __future__ import annotations

import ctypes
import sys

from triage.legality import occupancy
from triage.legality.limits import limits, multiprocessor
from triage.model.target import Target

# CUdevice_attribute and CUfunction_attribute of cuda.h.
THREADS_PER_BLOCK, WARP_SIZE = 1, 10
CAPABILITY = (75, 76)
REGISTERS_PER_BLOCK, REGISTERS_PER_SM = 12, 82
THREADS_PER_SM, SHARED_PER_SM, BLOCKS_PER_SM = 39, 81, 106
SHARED_OPT_IN, SHARED_RESERVED = 97, 111
FUNCTION_REGISTERS, FUNCTION_DYNAMIC_SHARED = 4, 8

BOUNDS = (24, 25, 32, 33, 40, 41, 48, 56, 64, 65, 72, 80, 88, 96, 97, 104, 112, 120, 128, 129, 136, 144, 152, 160)
BOUNDS += (168, 169, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 255)
THREADS = (1, 32, 33, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 416, 448, 512, 544, 576, 640, 768, 896, 992, 1024)


class Cuda:
    """The driver's functions, as Python functions that raise RuntimeError with the driver's error number."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self._device = device

    def call(self, name: str, *arguments: object) -> None:
        """Call by name. Raises RuntimeError."""
        status = getattr(self._library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: CUresult {status}")

    def attribute(self, number: int) -> int:
        """A CUdevice_attribute."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def function(self, ptx: str) -> ctypes.c_void_p:
        """The kernel ``k`` of a PTX module; the module stays loaded."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        return function

    def of_function(self, function: ctypes.c_void_p, number: int) -> int:
        """A CUfunction_attribute."""
        value = ctypes.c_int()
        self.call("cuFuncGetAttribute", ctypes.byref(value), number, function)
        return value.value

    def allow_shared(self, function: ctypes.c_void_p, size: int) -> None:
        """Opt in to more dynamic shared memory."""
        self.call("cuFuncSetAttribute", function, FUNCTION_DYNAMIC_SHARED, size)

    def blocks(self, function: ctypes.c_void_p, threads: int, shared: int) -> int:
        """cuOccupancyMaxActiveBlocksPerMultiprocessor."""
        value = ctypes.c_int()
        self.call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(value),
            function,
            threads,
            ctypes.c_size_t(shared),
        )
        return value.value


def pressing(bound: int, capability: int) -> str:
    """PTX of a kernel that reads 300 values before it stores one, so that it uses all of ``.maxnreg``."""
    # The oldest PTX version that knows the target, so that any driver for it can load the module.
    version = {70: "6.0", 72: "6.1", 75: "6.3", 80: "7.0", 86: "7.1", 87: "7.4", 89: "7.8", 90: "7.8"}.get(capability)
    lines = [
        f".version {version or ('8.6' if capability < 103 else '8.8')}",
        f".target sm_{capability}",
        ".address_size 64",
        f".visible .entry k(.param .u64 p) .maxnreg {bound}",
        "{ .reg .u64 %a; .reg .f32 %f<300>; ld.param.u64 %a, [p];",
        *(f"ld.volatile.global.f32 %f{i}, [%a+{4 * i}];" for i in range(300)),
        *(f"st.volatile.global.f32 [%a+{4 * i}], %f{299 - i};" for i in range(300)),
        "ret; }",
    ]
    return "\n".join(lines) + "\n"


def compare_limits(cuda: Cuda, target: Target) -> tuple[int, list[str]]:
    """The device's attributes against the tables: how many, and which differ."""
    block, sm = limits(target), multiprocessor(target)
    if block is None or sm is None:
        return 0, [f"{target} is not in the tables"]
    lanes = sm.partitions * target.warp_size
    pairs = (
        ("shared memory a block (opt-in)", cuda.attribute(SHARED_OPT_IN), block.shared_bytes),
        ("shared memory an SM", cuda.attribute(SHARED_PER_SM), sm.shared_bytes),
        ("reserved shared memory a block", cuda.attribute(SHARED_RESERVED), sm.reserved_bytes),
        ("registers an SM", cuda.attribute(REGISTERS_PER_SM), sm.registers * lanes),
        ("registers a block", cuda.attribute(REGISTERS_PER_BLOCK), sm.registers * lanes),
        ("threads an SM", cuda.attribute(THREADS_PER_SM), sm.warps * target.warp_size),
        ("threads a block", cuda.attribute(THREADS_PER_BLOCK), block.threads),
        ("blocks an SM", cuda.attribute(BLOCKS_PER_SM), sm.blocks),
        ("threads a warp", cuda.attribute(WARP_SIZE), target.warp_size),
    )
    return len(pairs), [f"{name}: device {device}, table {table}" for name, device, table in pairs if device != table]


def shared_sizes(target: Target) -> list[int]:
    """Sizes of shared memory a block: coarse over the range, and close to where the number of blocks changes."""
    block, sm = limits(target), multiprocessor(target)
    assert block is not None and sm is not None
    sizes = {0, 1, 127, 128, 129, block.shared_bytes - 1, block.shared_bytes}
    sizes.update(range(0, block.shared_bytes, 8192))
    for blocks in range(1, sm.blocks + 1):
        edge = sm.shared_bytes // blocks // sm.shared_granule * sm.shared_granule - sm.reserved_bytes
        sizes.update((edge - 1, edge, edge + 1))
    return sorted(size for size in sizes if 0 <= size <= block.shared_bytes)


def compare_occupancy(cuda: Cuda, target: Target, capability: int) -> tuple[int, list[str]]:
    """``occupancy.of`` against the driver: how many combinations, and which differ."""
    compared, wrong = 0, []
    used: set[int] = set()
    for bound in BOUNDS:
        function = cuda.function(pressing(bound, capability))
        registers = cuda.of_function(function, FUNCTION_REGISTERS)
        used.add(registers)
        sizes = shared_sizes(target)
        cuda.allow_shared(function, sizes[-1])
        for threads in THREADS:
            # Every size with one register count, a few with the others: the two limits are independent.
            for shared in sizes if bound in (24, 64, 168) else sizes[::16]:
                device = cuda.blocks(function, threads, shared)
                found = occupancy.of(shared_bytes=shared, registers=registers, threads=threads, target=target)
                compared += 1
                if found is None or found.blocks_per_sm != device:
                    wrong.append(
                        f"{threads} threads, {registers} registers, {shared} B: device {device}, triage {found}"
                    )
    print(f"register counts seen: {sorted(used)}")
    return compared, wrong


def main() -> int:
    """Compare, print, and return the exit code."""
    try:
        cuda = Cuda()
    except (OSError, RuntimeError) as error:
        print(f"no CUDA device: {error}")
        return 2
    major, minor = (cuda.attribute(number) for number in CAPABILITY)
    capability = 10 * major + minor
    target = Target("cuda", str(capability))
    of_limits, limits_wrong = compare_limits(cuda, target)
    if multiprocessor(target) is None:
        print(f"{target} is not in the tables")
        return 1
    of_occupancy, occupancy_wrong = compare_occupancy(cuda, target, capability)
    wrong = limits_wrong + occupancy_wrong
    for line in wrong[:50]:
        print(line)
    print(f"{target}: {of_limits} limits and {of_occupancy} occupancies compared, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
