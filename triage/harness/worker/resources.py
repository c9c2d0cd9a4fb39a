"""Resources of a compiled kernel, read from its assembly and from ptxas' own report. Pure functions of text.

ptxas -v prints ``Used 168 registers`` and ``0 bytes spill stores, 0 bytes spill loads`` a kernel; LLVM's AMDGPU
back-end writes ``.vgpr_count`` and the spill counts into the metadata at the end of the assembly.
"""

import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

# Fastest first: a kernel that holds several classes is named by the best one (prologues use lesser ones).
_PTX_CLASSES = (("tcgen05", "tcgen05.mma"), ("wgmma", "wgmma.mma_async"), ("mma.sync", "mma.sync"))
_AMD_CLASSES = (("mfma", re.compile(r"\bv_s?mfma")), ("wmma", re.compile(r"\bv_s?wmma")))
_REGISTERS = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


def read(assembly: Mapping[str, Any], ptxas_log: str, metadata: Mapping[str, Any]) -> Dict[str, Any]:
    """The resources of the report document: shared bytes a block, registers and spilled bytes a thread."""
    if "ptx" in assembly:
        tensor_core = ptx_class(assembly["ptx"])
        registers, spills = _ptxas(ptxas_log)
    else:
        text = assembly.get("amdgcn", "")
        tensor_core = next((name for name, pattern in _AMD_CLASSES if pattern.search(text)), "none")
        registers, spills = _amdgcn(text)
    warps, width = metadata.get("num_warps"), metadata.get("warp_size")
    module = assembly.get("ttgir", "")
    return {
        "shared_bytes": int(metadata.get("shared") or 0),
        "registers": registers,
        "spill_bytes": spills,
        "tensor_core": tensor_core,
        "tensor_memory_columns": metadata.get("tmem_size"),
        "threads": warps * width if warps and width else None,
        "warp_specialized": _specialized(module, warps),
        "register_copies": _register_copies(module),
    }


def ptx_class(ptx: str) -> str:
    """The fastest matrix instruction of a text of PTX."""
    return next((name for name, instruction in _PTX_CLASSES if instruction in ptx), "none")


def _specialized(module: str, warps: Optional[int]) -> bool:
    """The launch has more warps than the kernel's own: the rest are partitions that automatic specialization made."""
    own = re.search(r'"(?:ttg|triton_gpu)\.num-warps" = (\d+)', module)
    return bool(own and warps and warps > int(own.group(1)))


def _register_copies(module: str) -> int:
    """Tiles that a loop writes from registers to shared memory, beside the copies of a pipeline: an operand that the
    compiler had to bring into another order."""
    copies = 0
    loops: List[int] = []
    for line in module.splitlines():
        depth = len(line) - len(line.lstrip())
        loops = [loop for loop in loops if depth > loop]
        if re.search(r"\bscf\.(?:for|while)\b", line):
            loops.append(depth)
        elif loops and re.search(r"\b(?:ttg|triton_gpu)\.local_(?:store\b|alloc %)", line):
            copies += 1
    return copies


def _ptxas(log: str) -> Tuple[Optional[int], Optional[int]]:
    registers = [int(number) for number in _REGISTERS.findall(log)]
    spills = [max(int(stores), int(loads)) for stores, loads in _SPILLS.findall(log)]
    # One entry a function: the kernel needs its largest callee's registers as well.
    return (max(registers) if registers else None, sum(spills) if spills else None)


def _amdgcn(text: str) -> Tuple[Optional[int], Optional[int]]:
    def number(name: str) -> Optional[int]:
        match = re.search(r"\.%s:\s*(\d+)" % name, text)
        return int(match.group(1)) if match else None

    spilled, scratch = number("vgpr_spill_count"), number("private_segment_fixed_size")
    if spilled is None:
        return number("vgpr_count"), None
    # A vector register is 4 bytes a thread. What is not in scratch memory (AMDGPU usage guide, code object metadata)
    # went to accumulation registers; scalar registers are spilled to lanes of vector registers.
    return number("vgpr_count"), 4 * spilled if scratch is None else min(4 * spilled, scratch)
