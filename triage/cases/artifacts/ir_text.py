"""A text of IR as a case: what the text itself says of target and options, and what it does not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from triage.cases.artifacts import reading
from triage.model.case import Case, Language, frozen
from triage.model.errors import InputError
from triage.model.target import Target

_NEEDED = {
    ".source": ("target", "num_warps", "num_stages"),
    ".ttir": ("target", "num_warps", "num_stages"),
    ".glir": ("target",),
    ".ttgir": ("target",),
    ".llir": ("target",),
    ".ll": ("target",),
    ".ptx": ("target",),
    ".amdgcn": ("target",),
    ".mlir": ("target",),
}
"""What the later stages take from options, by the ending of the text."""
_FIXED = ("num_warps", "num_ctas")
"""Options that a text of a later stage has built in."""
_HEAD, _TAIL = 1 << 20, 1 << 18

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
    re.compile(r"\b(?:ptx_kernel|amdgpu_kernel)\b[^@\n]*@(\w+)\("),
    re.compile(r"^\s*(?:\.visible )?\.entry (\w+)", re.MULTILINE),
    re.compile(r"^\s*\.amdhsa_kernel (\w+)", re.MULTILINE),
    re.compile(r"\b(?:tt\.func|llvm\.func)(?: \w+)* @(\w+)\("),
    re.compile(r"^define [^@\n]*@(\w+)\(", re.MULTILINE),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text says. ``options`` are those that it has built in, or that its pipeline was made with; ``backend`` may
    be known where the architecture is not."""

    name: str
    target: Target | None
    backend: str | None
    options: dict[str, int] = field(default_factory=dict)


def facts(path: Path) -> Facts:
    """Read them from the text's beginning and end. Raises InputError."""
    whole = reading.text(path)
    told = f"{whole[:_HEAD]}\n{whole[-_TAIL:] if len(whole) > _HEAD else ''}"
    target = _target(told)
    options = {name: int(next(filter(None, hit.groups()))) for name, p in _NUMBERS.items() if (hit := p.search(told))}
    if path.suffix == ".mlir" and (hit := _STAGES.search(told)):
        options["num_stages"] = int(hit[1])
    names = (hit[1] for pattern in _NAMES if (hit := pattern.search(whole)))
    triple = _TRIPLE.search(told)
    backend = target.backend if target else ("hip" if triple[1].startswith("amd") else "cuda") if triple else None
    if "num_warps" not in options and (warps := _warps(told, target, backend)):
        options["num_warps"] = warps
    if (name := next(names, None)) is None:
        raise InputError(f"{path}: holds no kernel: no function of {path.suffix.removeprefix('.')} in it")
    return Facts(name, target, backend, options)


def _target(told: str) -> Target | None:
    if hit := _TARGET.search(told):
        return _parsed(hit[1] or hit[2])
    if hit := _SM.search(told) or _CAPABILITY.search(told):
        return Target("cuda", hit[1])
    if hit := _AMD.search(told) or _GFX.search(told):
        return _parsed(f"hip:{next(filter(None, hit.groups()))}")
    return None


def _parsed(text: str) -> Target | None:
    try:
        return Target.parse(text)
    except InputError:
        return None


def _warps(told: str, target: Target | None, backend: str | None) -> int | None:
    if target is None and backend != "cuda":
        return None  # AMD's warps are of two sizes
    hit = _THREADS.search(told)
    threads = int(next(filter(None, hit.groups()), 0)) if hit else 0
    warps = threads // (target.warp_size if target else 32)
    # Warp specialization adds warps, and then the sum is seldom a power of two.
    return warps if warps and not warps & (warps - 1) else None


def read(path: Path, otherwise: Target) -> Case:
    """The case of a text. ``otherwise`` is its target where the text names none. Raises InputError."""
    told = facts(path)
    # Gluon's front end makes IR with layouts, Triton's makes it without.
    gluon = path.suffix == ".glir" or (path.suffix == ".source" and "num_warps" in told.options)
    case = Case(
        folder=path.parent,
        file=path.name,
        name=told.name,
        signature=frozen(),
        target=told.target or otherwise,
        options=frozen({name: value for name, value in told.options.items() if name != "maxnreg"}),
        language=Language.GLUON if gluon else Language.TRITON,
    )
    known = {"target" if told.target else "", *told.options, *(("num_stages",) if gluon else ())}
    return replace(case, origin=frozen({"unsaid": [name for name in _NEEDED[path.suffix] if name not in known]}))


def completed(case: Case) -> Case:
    """A stored case of IR, with the options that its text has built in. Raises InputError where it says others."""
    told = facts(case.path)
    if told.target is not None and told.target != case.target:
        raise InputError(f"{case.path}: was made for {told.target}, and is IR for no other target than that")
    if told.backend not in (None, case.target.backend):
        example = "hip:gfx942" if told.backend == "hip" else "cuda:90"
        raise InputError(f"{case.path}: is for {told.backend}, and does not say which; give --target, as in {example}")
    for name in _FIXED:
        asked, built = case.options.get(name), told.options.get(name)
        if asked is not None and built is not None and asked != built:
            raise InputError(f"{case.path}: {name} is {built} in the text, and cannot be {asked}; leave it out")
    options = {name: told.options[name] for name in (*_FIXED, "num_stages") if name in told.options}
    return replace(case, options=frozen({**options, **case.options}))


def assumed(case: Case, given: Any) -> str | None:
    """In a line, what later stages take from options, and neither the text nor the command line says."""
    unsaid = [name for name in case.origin.get("unsaid", ()) if name not in given and name not in case.options]
    if not unsaid:
        return None
    flags = ", ".join(f"--{name.replace('_', '-')}" for name in unsaid)
    values = [str(case.target) if name == "target" else f"the default {name}" for name in unsaid]
    return (
        f"{case.file} does not say {', '.join(unsaid)}: compiled with {', '.join(values)}; say otherwise with {flags}"
    )
