"""Looks into a binary for what no launch survives, with the ``nvdisasm`` that is part of every Triton's wheel.

ptxas may be wrong about addresses where it runs out of registers: versions 12.8 to 13.1 reuse a register of which
the old value is still needed (``knowledge_base/ptxas-shared-address.toml``). What it was given is right, and so
is the size of the shared memory, so nothing but the machine code shows it.
"""

import os
import re
from io import open as open_file
from struct import error as struct_error
from struct import unpack_from
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any, Dict, Mapping, Optional

from .sass_flow import TooLong
from .sass_text import Unreadable, source_lines
from .shared_range import Access, shared_range

_LIMIT_S = 10.0
_MOST_BYTES = 8 << 20
"""Of a binary. nvdisasm takes 0.3 s, of which it needs 0.25 to start, and 0.2 more for each MB."""
_THREADS = re.compile(r"\.(?:reqntid|maxntid) (\d+)(?:, 1, 1)?\s*$", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


def beyond_shared(
    assembly: Mapping[str, Any], used: Mapping[str, Any], folder: str, triton: str
) -> Optional[Dict[str, Any]]:
    """The first access to shared memory beyond what a block has, of those that are decided; None where there is
    none, or where that cannot be told. ``used``: the kernel's resources; ``triton``: the package's file.

    Only what spills registers is disassembled: in other kernels no wrong address was found, and the 0.3 s would add a
    third to a short compile."""
    if not used["spill_bytes"] or not used["shared_bytes"] or len(assembly.get("cubin", b"")) > _MOST_BYTES:
        return None
    names, threads = _ENTRY.findall(assembly.get("ptx", "")), _THREADS.findall(assembly.get("ptx", ""))
    tool = os.environ.get("TRITON_NVDISASM_PATH") or os.path.join(
        os.path.dirname(triton), "backends", "nvidia", "bin", "nvdisasm"
    )
    if len(names) != 1 or len(threads) != 1 or not os.path.isfile(tool):
        return None
    try:
        return _read(assembly["cubin"], names[0], int(threads[0]), used["shared_bytes"], folder, tool)
    except (Unreadable, TooLong, OSError, TimeoutExpired, ValueError):
        return None


def _read(binary: bytes, kernel: str, threads: int, dynamic: int, folder: str, tool: str) -> Optional[Dict[str, Any]]:
    path = os.path.join(folder, "kernel.cubin")
    with open_file(path, "wb") as file:
        file.write(binary)
    limit = static_shared(binary, kernel) + dynamic
    beyond = shared_range(_printed(tool, "-c", "-ndf", path), kernel, threads, limit).beyond
    if not beyond:
        return None
    first = min(beyond, key=_place)  # What follows may be a consequence, or another operand of the same mistake.
    place = source_lines(_printed(tool, "-c", "-ndf", "-g", path), kernel).get(first.at)
    return {
        "instruction": first.opcode,
        "address": first.first,
        "bytes": first.bytes,
        "size": limit,
        "thread": first.thread,
        "accesses": len(beyond),
        "file": place[0] if place else None,
        "line": place[1] if place else None,
    }


def _place(access: Access) -> int:
    return access.at


def _printed(*command: str) -> str:
    """What the program prints. Raises OSError, TimeoutExpired and ValueError."""
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as process:
        try:
            text, _ = process.communicate(timeout=_LIMIT_S)
        except TimeoutExpired:
            process.kill()
            raise
    if process.returncode:
        raise ValueError("nvdisasm ended with %s" % process.returncode)
    return text.decode("utf-8", "replace")


def static_shared(binary: bytes, kernel: str) -> int:
    """Bytes of shared memory that a binary states: those of its own variables, and from compute capability 9.0 on
    1,024 that the system reserves in front of them. What the launch asks for follows. Raises ValueError."""
    if binary[:4] != b"\x7fELF" or len(binary) < 64:
        raise ValueError("not an ELF file")
    try:
        (table,) = unpack_from("<Q", binary, 0x28)
        size, count, names = unpack_from("<HHH", binary, 0x3A)
        sections = [unpack_from("<IIQQQQIIQQ", binary, table + index * size) for index in range(count)]
        strings = sections[names][4]
        for section in sections:
            start = strings + section[0]
            if binary[start : binary.index(b"\0", start)] == b".nv.shared." + kernel.encode():
                return int(section[5])
    except (IndexError, struct_error) as error:
        raise ValueError(str(error)) from error
    return 0
