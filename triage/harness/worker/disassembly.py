"""Searches compiled code for accesses beyond the shared memory of a block, which no launch survives.

PTX is always read. Machine code is read where registers spill, with the ``nvdisasm`` of Triton's wheel, as ptxas may
compute wrong addresses there: versions 12.8 to 13.1 reuse a register whose old value is still needed
(``knowledge_base/ptxas-shared-address.toml``). The PTX and the size of shared memory are right then; only the machine
code shows the error.
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
"""Limit of a binary. nvdisasm takes 0.3 s, of which it needs 0.25 to start, and 0.2 more for each MB."""
_MOST_CHARACTERS = 2 << 20
"""Limit of PTX; 100 KB take 0.03 s."""
_THREADS = re.compile(r"\.(?:reqntid|maxntid) (\d+)(?:, 1, 1)?\s*$", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")


def beyond_shared(
    assembly: Mapping[str, Any], used: Mapping[str, Any], folder: str, triton: str
) -> Optional[Dict[str, Any]]:
    """The first access beyond the shared memory of a block, among accesses with a known address; None where there is
    none, or the code cannot be read. ``used``: the kernel's resources; ``triton``: the package's file.

    Only kernels that spill registers are disassembled: others have shown no wrong address, and the 0.3 s would add a
    third to a short compile."""
    ptx = assembly.get("ptx", "")
    names, threads = _ENTRY.findall(ptx), _THREADS.findall(ptx)
    if not used["shared_bytes"] or len(names) != 1 or len(threads) != 1:
        return None
    try:
        access = _in_ptx(ptx, int(threads[0]), used["shared_bytes"])
        tool = os.environ.get("TRITON_NVDISASM_PATH") or os.path.join(
            os.path.dirname(triton), "backends", "nvidia", "bin", "nvdisasm"
        )
        if access is None and used["spill_bytes"] and len(assembly.get("cubin", b"")) <= _MOST_BYTES:
            return _in_binary(assembly["cubin"], names[0], int(threads[0]), used["shared_bytes"], folder, tool)
    except Exception:  # text that cannot be parsed; an nvdisasm that is missing or does not end
        return None
    return access


def _in_ptx(text: str, threads: int, size: int) -> Optional[Dict[str, Any]]:
    if len(text) > _MOST_CHARACTERS:
        return None
    ptx = Ptx(text)
    beyond = range_of(ptx.blocks, threads, size).beyond
    return _described("ptx", beyond, size, ptx.source_line(min(beyond, key=_position).at)) if beyond else None


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
    lines = source_lines(_printed(tool, "-c", "-ndf", "-g", path), kernel)
    return _described("cubin", beyond, size, lines.get(min(beyond, key=_position).at))


def _described(stage: str, beyond: List[Access], size: int, source: Optional[Tuple[str, int]]) -> Dict[str, Any]:
    first = min(beyond, key=_position)  # What follows may be another use of the same address.
    return {
        "stage": stage,
        "instruction": first.opcode,
        "address": first.first,
        "bytes": first.bytes,
        "size": size,
        "thread": first.thread,
        "accesses": len(beyond),
        "file": source[0] if source else None,
        "line": source[1] if source else None,
    }


def _position(access: Access) -> int:
    return access.at


def _printed(*command: str) -> str:
    """The program's standard output. Raises OSError, TimeoutExpired and ValueError."""
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
    1,024 that the system reserves in front of them. The launch's dynamic part follows. Raises ValueError."""
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
