"""What a text of IR declares: its kernel, its target, and the options that are built into it.

The text may be of any stage from TTIR to PTX or AMD's assembly, or an MLIR module with a reproducer's pipeline.
"""

import re
from dataclasses import dataclass, field

from triage.model.errors import InputError
from triage.model.target import Target, UnknownArchitecture

_HEAD, _TAIL = 1 << 20, 1 << 18
"""Characters of the beginning and the end that are searched for declarations."""

# Layouts come before the module's attributes, a reproducer's pipeline behind the module.
_NUMBERS = {
    "num_warps": re.compile(r'"?(?:ttg|triton_gpu)\.num-warps"? = (\d{1,3})\b|\bnum-warps=(\d{1,3})\b'),
    "num_ctas": re.compile(r'"?(?:ttg|triton_gpu)\.num-ctas"? = (\d{1,3})\b|\bnum-ctas=(\d{1,3})\b'),
    "maxnreg": re.compile(r'"?ttg\.maxnreg"? = (\d{1,3})\b'),
}
_STAGES = re.compile(r"\bnum[-_]stages=(\d{1,2})\b")
_TARGET = re.compile(r'"?(?:ttg|triton_gpu)\.target"? = "((?:cuda|hip):\w{2,8})"|\btarget=((?:cuda|hip):\w{2,8})')
_CAPABILITY = re.compile(r"\bcompute-capability=(\d{2,3})\b")
_GFX = re.compile(r'\b(?:gfx-arch|arch|arch-generation-name)=(gfx\w{3,5})\b|"target-cpu"="(gfx\w{3,5})"')
_TRIPLE = re.compile(r'^target triple = "(amdgcn|amdgpu|nvptx)', re.MULTILINE)
_SM = re.compile(r"^\s*\.target\s+sm_(\d{2,3})", re.MULTILINE)
_AMD = re.compile(r'^\s*\.amdgcn_target\s+"[\w.-]*?-(gfx\w{3,5})[":+-]', re.MULTILINE)
_THREADS = re.compile(
    r'^\s*\.(?:maxntid|reqntid)\s+(\d{1,4})|"nvvm\.(?:maxntid|reqntid)"="(\d{1,4})|!"maxntidx", i32 (\d{1,4})'
    r'|"amdgpu-flat-work-group-size"="\d+,(\d{1,4})"|\.max_flat_workgroup_size:\s*(\d{1,4})',
    re.MULTILINE,
)
_NAMES = (
    re.compile(r"\btt\.func public @(\w+)\("),
    re.compile(r"\b(?:ptx_kernel|amdgpu_kernel)\b[^@\n]{0,1000}@(\w+)\("),
    re.compile(r"^\s*(?:\.visible )?\.entry (\w+)", re.MULTILINE),
    re.compile(r"^\s*\.amdhsa_kernel (\w+)", re.MULTILINE),
    re.compile(r"\b(?:tt\.func|llvm\.func)(?: \w+)* @(\w+)\("),
    re.compile(r"^define [^@\n]*@(\w+)\(", re.MULTILINE),
)


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of one text. ``name``: the kernel, empty without one; ``backend`` may be known where the
    architecture is not; ``options``: those that the text has built in, or that its pipeline was made with."""

    name: str
    target: Target | None
    backend: str | None
    options: dict[str, int] = field(default_factory=dict)


def declared(text: str, pipeline: bool = False) -> Declared:
    """Read what a text declares. ``pipeline``: it is an MLIR module with a pipeline, whose options count as well.
    Raises UnknownArchitecture."""
    ends = f"{text[:_HEAD]}\n{text[-_TAIL:] if len(text) > _HEAD else ''}"
    target = _target(ends)
    options = {name: int(next(filter(None, hit.groups()))) for name, p in _NUMBERS.items() if (hit := p.search(ends))}
    if pipeline and (stages := _STAGES.search(ends)):
        options["num_stages"] = int(stages[1])
    triple = _TRIPLE.search(ends)
    backend = target.backend if target else ("hip" if triple[1].startswith("amd") else "cuda") if triple else None
    if "num_warps" not in options and (warps := _warps(ends, target, backend)):
        options["num_warps"] = warps
    names = (hit[1] for pattern in _NAMES if (hit := pattern.search(text)))
    return Declared(next(names, ""), target, backend, options)


def _target(text: str) -> Target | None:
    if hit := _TARGET.search(text):
        return _parsed(hit[1] or hit[2])
    if hit := _SM.search(text) or _CAPABILITY.search(text):
        return _parsed(f"cuda:{hit[1]}")
    if hit := _AMD.search(text) or _GFX.search(text):
        return _parsed(f"hip:{next(filter(None, hit.groups()))}")
    return None


def _parsed(text: str) -> Target | None:
    try:
        return Target.parse(text)
    except UnknownArchitecture:
        raise
    except InputError:
        return None


def _warps(text: str, target: Target | None, backend: str | None) -> int | None:
    if target is None and backend != "cuda":
        return None  # AMD's warps are of two sizes
    hit = _THREADS.search(text)
    threads = int(next(filter(None, hit.groups()), 0)) if hit else 0
    warps = threads // (target.warp_size if target else 32)
    # Warp specialization adds warps, and then the sum is seldom a power of two.
    return warps if warps and not warps & (warps - 1) else None
