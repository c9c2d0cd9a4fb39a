"""Resources of the compiled kernels: of the DSL's output files, of the cubin in its module, and of the launch in the
host's code."""

import os
import re
import subprocess
from io import open as open_file
from pathlib import Path
from typing import Any, Dict, List, Optional

from .. import resources
from . import local_memory

_OBJECT = re.compile(r'"(\\7FELF(?:[^"\\]|\\.)*)"')
"""The text of a cubin in a module."""
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_USAGE = re.compile(r"REG:(\d+)\s+STACK:(\d+)\s+SHARED:(\d+)\s+LOCAL:(\d+)")
_SASS_CLASSES = (("tcgen05", re.compile(r"\bUTC\w*MMA\b")), ("wgmma", re.compile(r"\b[HIQ]GMMA\b")),
                 ("mma.sync", re.compile(r"\b[HIQD]MMA\.")))  # fmt: skip
_LAUNCHED = re.compile(r"gpu\.launch_func.*?dynamic_shared_memory_size (%[\w#]+)")
_CONSTANT = re.compile(r"(%[\w#]+) = (?:arith|llvm\.mlir)\.constant[( ](-?\d+)(?: : i\d+)?")
_SHARED = re.compile(r"(%[\w#]+) = cute_nvgpu\.arch\.get_dyn_smem\(\)")
_ADVANCED = re.compile(r'(%[\w#]+) = cute\.add_offset\((%[\w#]+), .*!cute\.int_tuple<"(\d+)">')
_STORE = re.compile(r"llvm\.store (%[\w#]+), %[\w#]+ : (\w+|!llvm\.ptr)")
_CONFIGURATION = ["i32", "i32", "i32", "i64", "i32", "i32", "i32"]
"""Stores into a launch's configuration from 4.3 on: an extent of block, bytes of shared memory, and the grid."""


def read(folder: str, traced: str, lowered: str, tools: Dict[str, str]) -> Dict[str, Any]:
    """``ptx``: the text, "" where the release writes none. ``assembled``: whether there is a binary. ``registers``,
    ``spill_bytes``, ``tensor_core``, ``shared_bytes`` as in the report. ``indexed``: the largest array of a kernel in
    local memory, as in ``local_memory.arrays``; None where there is none."""
    ptx = "\n".join(_content(path).decode("utf-8", "replace") for path in sorted(Path(folder).glob("*.ptx")))
    cubins = sorted(Path(folder).glob("*.cubin")) or _from_module(lowered, folder)
    usage = [_usage(path, tools.get("cuobjdump")) for path in cubins]
    known = [use for use in usage if use is not None]
    own = local_memory.arrays(ptx) if ptx else None
    # Arrays that ptxas keeps in registers all the same have no frame.
    framed = [path for at, path in enumerate(cubins) if (usage[at] or {}).get("frame")]
    printed = [_output(tools.get("cuobjdump"), "--dump-sass", path) for path in framed]
    spills = [local_memory.spilled(text, own) if text else None for text in printed]
    indexed = max((own or {}).values(), key=lambda array: array["bytes"], default=None) if framed else None
    return {
        "assembled": bool(cubins),
        "ptx": ptx,
        "registers": max((use["registers"] for use in known), default=None),
        "spill_bytes": max((size or 0 for size in spills), default=0) if known and None not in spills else None,
        "indexed": indexed if indexed and indexed["bytes"] else None,
        "tensor_core": resources.ptx_class(ptx) if ptx else _sass_class(cubins, tools.get("cuobjdump")),
        "shared_bytes": shared_bytes(traced, lowered) + max((use["static"] for use in known), default=0),
    }


def shared_bytes(traced: str, lowered: str) -> int:
    """Dynamic shared memory of the largest launch, in bytes: a constant in the host's code. Up to 4.1 a launch asks for
    what the user states; there what the kernel takes counts, if that is more."""
    sizes = _allocated(traced)
    constants = dict(_CONSTANT.findall(traced))
    sizes += [int(constants[name]) for name in _LAUNCHED.findall(traced) if name in constants]
    stores: List[Any] = []
    constants = {}
    for line in lowered.splitlines():
        constant = _CONSTANT.search(line)
        if constant:
            constants[constant.group(1)] = constant.group(2)
        store = _STORE.search(line)
        if store:
            stores.append((store.group(2), constants.get(store.group(1))))
            window = stores[-len(_CONFIGURATION) :]
            if [kind for kind, _ in window] == _CONFIGURATION and window[3][1] is not None:
                sizes.append(int(window[3][1]))
        elif line.lstrip().startswith("llvm.func"):
            stores, constants = [], {}
    return max(sizes, default=0)


def _allocated(traced: str) -> List[int]:
    """Ends of what a kernel takes of its shared memory, one behind the other, in bytes."""
    ends: Dict[str, int] = {}
    for line in traced.splitlines():
        first, next_ = _SHARED.search(line), _ADVANCED.search(line)
        if first:
            ends[first.group(1)] = 0
        elif next_ and next_.group(2) in ends:
            ends[next_.group(1)] = ends[next_.group(2)] + int(next_.group(3))
    return list(ends.values())


def _content(path: Path) -> bytes:
    with open_file(str(path), "rb") as file:
        return file.read()


def _from_module(lowered: str, folder: str) -> List[Path]:
    """The cubins in a module's ``gpu.binary`` operations, up to 4.2."""
    paths = []
    for number, match in enumerate(_OBJECT.finditer(lowered)):
        path = Path(folder) / ("module%d.cubin" % number)
        with open_file(str(path), "wb") as file:
            file.write(_unescaped(match.group(1)))
        paths.append(path)
    return paths


def _unescaped(text: str) -> bytes:
    """MLIR's text of a string attribute: two hexadecimal digits behind a backslash, or the character itself."""
    data = bytearray()
    at = 0
    for match in _ESCAPE.finditer(text):
        data += text[at : match.start()].encode("utf-8", "surrogateescape")
        code = match.group(1)
        data += bytes([int(code, 16)]) if len(code) == 2 else code.encode()
        at = match.end()
    data += text[at:].encode("utf-8", "surrogateescape")
    return bytes(data)


def _usage(cubin: Path, program: Optional[str]) -> Optional[Dict[str, int]]:
    """Registers and bytes of the frame a thread, and bytes of static shared memory a block. None without the tool."""
    uses = _USAGE.findall(_output(program, "--dump-resource-usage", cubin))
    if not uses:
        return None
    registers, stack, shared, local = (max(int(use[index]) for use in uses) for index in range(4))
    # 1 KiB of a block's shared memory is the system's from 9.0 on, and is in the number without being asked for.
    return {"registers": registers, "frame": stack + local, "static": shared if shared != 1024 else 0}


def _sass_class(cubins: List[Path], program: Optional[str]) -> str:
    text = "\n".join(_output(program, "--dump-sass", cubin) for cubin in cubins)
    return next((name for name, pattern in _SASS_CLASSES if pattern.search(text)), "none")


def _output(program: Optional[str], option: str, cubin: Path) -> str:
    if program is None or not os.access(program, os.X_OK):
        return ""
    done = subprocess.run([program, option, str(cubin)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "replace")
