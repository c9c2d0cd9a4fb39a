"""Reads the releases, the GPUs and the system out of a text: what somebody pastes beside a failure, or paths show."""

import re
from collections.abc import Iterator
from itertools import islice

from triage.logs.patterns import regex
from triage.model.diagnosis import Diagnosis
from triage.model.gpus import architecture, named
from triage.model.setting import Setting

#: Bytes of each end of a text that are read. Versions stand in a paste's first or last lines, and an issue has 64 kB.
ENDS = 64 * 1024

# `triton==3.2.0`, `Triton version: 3.2.0`, `pytorch-triton-rocm 3.2.0+git`, `triton-windows | 3.2.0.post17`. Triton's
# inference server counts in years, and `tritonclient` is its own. Of lower-case text: each pattern begins with fixed
# letters, which is what makes it fast.
_BY = r"(?P<stated> {0,3}version)?(?P<by>\s{0,9}(?:==|[:=|])\s{0,9}|\s{1,9})v?"
_TRITON = regex(
    rf"triton(?<![\w./]triton)(?<!(?<!pytorch)-triton)(?:[-_](?:rocm|windows|xpu|nightly))?{_BY}"
    r"(?P<release>[23]\.\d{1,2}\.\d{1,2})(?!\d)"
)
# `nvidia-cutlass-dsl[cu13]==4.5.2`, `nvidia-cutlass-dsl : 4.5.2`, `CuTe DSL 4.8.1`; a file `nvidia_cutlass_dsl-4.5.2`.
_CUTE = regex(
    rf"cut(?:lass[-_]dsl|e[ -]?dsl)(?:-libs-\w{{2,8}})?(?:\[[\w,-]{{1,40}}\])?(?:-|{_BY})"
    r"(?P<release>4\.\d{1,2}\.\d{1,2})(?!\d)"
)
_TORCH = regex(rf"torch(?<![./-]torch)(?<!(?<!py)(?<=\w)torch){_BY}(?P<release>[12]\.\d{{1,2}}\.\d{{1,2}})(?!\d)")
_NVIDIA = (
    regex(r"sm_?(?<![a-z0-9]sm)(?<![a-z0-9]sm_)(?P<number>\d{2,3})[af]?(?!\d)"),
    regex(r"cuda:(?P<number>[6-9]\d|1[0-2]\d)\b"),
    regex(r"backend='cuda', arch=(?P<number>\d{2,3})"),
    regex(r"compute[ _]capability[^\d\n]{1,12}(?P<number>\d{1,2}\.\d)\b"),
)
_AMD = regex(r"gfx(?P<name>9[0-9a-f]{2}|1[0-2][0-9a-f]{2})(?![0-9a-f])")
# Parts of what only texts of one system have.
_WINDOWS = (":\\", "win_amd64", ".pyd", "Windows 10", "Windows 11", "Windows-1")
_LINUX = ("/usr/", "/home/", "/root/", "/opt/", "/mnt/", "/workspace/", "linux-gnu", "manylinux", "Ubuntu")

_MOST = 200
"""Places in the text that are looked at for each fact."""


def setting_of(first: bytes, last: bytes) -> Setting:
    """The setting that the ends of a text show. A release that the text contradicts is unknown."""
    text = b"\n".join((first, last)).decode("utf-8", "replace")
    lower = text.lower()
    is_windows, is_linux = (any(part in text for part in parts) for parts in (_WINDOWS, _LINUX))
    return Setting(
        triton=_release(_TRITON, lower),
        cute=_release(_CUTE, lower),
        torch=_release(_TORCH, lower),
        targets=tuple(dict.fromkeys((*_targets(lower), *islice(named(text), _MOST)))),
        system="windows" if is_windows and not is_linux else "linux" if is_linux and not is_windows else None,
    )


def _release(pattern: re.Pattern[str], text: str) -> str | None:
    """The release that is stated (`==`, `version:`), else the one that prose names, if it is a single one."""
    matches = list(islice(pattern.finditer(text), _MOST))
    stated = {match["release"] for match in matches if match["stated"] or match["by"] is None or match["by"].strip()}
    releases = stated or {match["release"] for match in matches}
    return releases.pop() if len(releases) == 1 else None


def _targets(text: str) -> Iterator[str]:
    for pattern in _NVIDIA:
        for match in islice(pattern.finditer(text), _MOST):
            number = match["number"].replace(".", "")
            if architecture("cuda", number) is not None or number in _BEFORE_TRITON:
                yield f"cuda:{number}"
    for match in islice(_AMD.finditer(text), _MOST):
        yield f"hip:gfx{match['name']}"


# Kepler to Pascal, which people still try.
_BEFORE_TRITON = frozenset({"35", "37", "50", "52", "53", "60", "61", "62"})


# What the code generator or a pass calls a product of blocks with scales.
_SCALED_DOT = regex(r"\bdot_scaled\b")
_CUDA = "cuda:"
#: The first capability with an instruction that scales the blocks of its operands.
_FIRST_THAT_SCALES = 100


def emulations(diagnosis: Diagnosis, setting: Setting) -> list[str]:
    """What the failing operation becomes where the GPUs that the text names have no instruction for it."""
    excerpt = diagnosis.source.text if diagnosis.source else None
    if not any(map(_SCALED_DOT.search, (diagnosis.message, excerpt or "", *diagnosis.notes))):
        return []
    capabilities = [target.removeprefix(_CUDA) for target in setting.targets if target.startswith(_CUDA)]
    if not capabilities or not all(name.isdigit() and int(name) < _FIRST_THAT_SCALES for name in capabilities):
        return []
    gpus = ", ".join(f"sm_{name}" for name in capabilities)
    return [
        f"tl.dot_scaled has no instruction on {gpus}: it is emulated, its operands are converted and scaled first and "
        "multiplied by an ordinary tl.dot"
    ]
