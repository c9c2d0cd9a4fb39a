"""Looks into what was compiled for what no launch survives: accesses beyond the shared memory that a block has.

PTX is read always. The machine code is read where registers spill, with the ``nvdisasm`` that is part of every Triton's
wheel: ptxas may be wrong about addresses there. Versions 12.8 to 13.1 reuse a register of which the old value is still
needed (``knowledge_base/ptxas-shared-address.toml``). What ptxas was given is right then, and so is the size of the
shared memory, so nothing but the machine code shows it.
"""

import os
import re
from io import open as open_file
from struct import error as struct_error
from struct import unpack_from
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any, Dict, List, Mapping, Optional, Tuple

from .ptx_text import Ptx
from .sass_text import source_lines
from .shared_range import Access, range_of, shared_range

_LIMIT_S = 60.0
"""nvdisasm takes ten times as long on a busy machine; the limit of the compile holds as well."""
_MOST_BYTES = 8 << 20
"""Of a binary. nvdisasm takes 0.3 s, of which it needs 0.25 to start, and 0.2 more for each MB."""
_MOST_CHARACTERS = 2 << 20
"""Of PTX, of which 100 KB take 0.03 s."""
_THREADS = re.compile(r"\.(?:reqntid|maxntid) (\d+)(?:, 1, 1)?\s*$", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


def beyond_shared(
    assembly: Mapping[str, Any], used: Mapping[str, Any], folder: str, triton: str
) -> Optional[Dict[str, Any]]:
    """The first access to shared memory beyond what a block has, of those that are decided; None where there is
    none, or where that cannot be told. ``used``: the kernel's resources; ``triton``: the package's file.

    Only what spills registers is disassembled: in other kernels no wrong address was found, and the 0.3 s would add a
    third to a short compile."""
    ptx = assembly.get("ptx", "")
    names, threads = _ENTRY.findall(ptx), _THREADS.findall(ptx)
    if not used["shared_bytes"] or len(names) != 1 or len(threads) != 1:
        return None
    try:
        found = _in_ptx(ptx, int(threads[0]), used["shared_bytes"])
        tool = os.environ.get("TRITON_NVDISASM_PATH") or os.path.join(
            os.path.dirname(triton), "backends", "nvidia", "bin", "nvdisasm"
        )
        if found is None and used["spill_bytes"] and len(assembly.get("cubin", b"")) <= _MOST_BYTES:
            return _in_binary(assembly["cubin"], names[0], int(threads[0]), used["shared_bytes"], folder, tool)
    except Exception:  # a text of another kind than those that were seen; a program that is missing or does not end
        return None
    return found


def _in_ptx(text: str, threads: int, size: int) -> Optional[Dict[str, Any]]:
    if len(text) > _MOST_CHARACTERS:
        return None
    ptx = Ptx(text)
    beyond = range_of(ptx.blocks, threads, size).beyond
    return _described("ptx", beyond, size, ptx.place(min(beyond, key=_place).at)) if beyond else None


def _in_binary(
    binary: bytes, kernel: str, threads: int, dynamic: int, folder: str, tool: str
) -> Optional[Dict[str, Any]]:
    path = os.path.join(folder, "kernel.cubin")
    with open_file(path, "wb") as file:
        file.write(binary)
    size = static_shared(binary, kernel) + dynamic
    beyond = shared_range(_printed(tool, "-c", "-ndf", path), kernel, threads, size).beyond
    if not beyond:
        return None
    places = source_lines(_printed(tool, "-c", "-ndf", "-g", path), kernel)
    return _described("cubin", beyond, size, places.get(min(beyond, key=_place).at))


def _described(stage: str, beyond: List[Access], size: int, place: Optional[Tuple[str, int]]) -> Dict[str, Any]:
    first = min(beyond, key=_place)  # What follows may be another use of the same address.
    return {
        "stage": stage,
        "instruction": first.opcode,
        "address": first.first,
        "bytes": first.bytes,
        "size": size,
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
