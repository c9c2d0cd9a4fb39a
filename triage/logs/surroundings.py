"""Reads the releases, the GPUs and the system out of a text: what somebody pastes beside a failure, or paths show."""

import re
from collections.abc import Iterator

from triage.model.gpus import architecture, named
from triage.model.setting import Setting

#: Bytes of each end of a text that are read. Versions stand in a paste's first or last lines, and an issue has 64 kB.
ENDS = 64 * 1024

# `triton==3.2.0`, `Triton version: 3.2.0`, `pytorch-triton-rocm 3.2.0+git`, `triton-windows | 3.2.0.post17`. Triton's
# inference server counts in years, and `tritonclient` is its own.
_TRITON = re.compile(
    r"(?<![\w./-])(?:pytorch[-_])?triton(?:[-_](?:rocm|windows|xpu|nightly))?(?P<stated>\s{0,3}version)?"
    r"(?P<by>\s{0,9}(?:==|[:=|])\s{0,9}|\s{1,9})v?(?P<release>[23]\.\d{1,2}\.\d{1,2})(?!\d)",
    re.IGNORECASE,
)
_TORCH = re.compile(
    r"(?<![\w./-])(?:py)?torch(?P<stated>\s{0,3}version)?(?P<by>\s{0,9}(?:==|[:=|])\s{0,9}|\s{1,9})"
    r"v?(?P<release>[12]\.\d{1,2}\.\d{1,2})(?!\d)",
    re.IGNORECASE,
)
_NVIDIA = re.compile(
    r"(?<![A-Za-z0-9])sm_?(?P<sm>\d{2,3})[af]?(?![0-9])|\bcuda:(?P<target>[6-9]\d|1[0-2]\d)\b"
    r"|backend='cuda', arch=(?P<arch>\d{2,3})"
    r"|compute[ _]capability[^\d\n]{1,12}(?P<major>\d{1,2})\.(?P<minor>\d)\b",
    re.IGNORECASE,
)
_AMD = re.compile(r"(?<![A-Za-z0-9])gfx(?P<name>9[0-9a-f]{2}|1[0-2][0-9a-f]{2})(?![0-9a-f])")
_WINDOWS = re.compile(r"(?:^|[\s\"'(])[A-Za-z]:[\\/]{1,2}\w|win_amd64|\.pyd\b|Windows[ -](?:1[01]|\d{4})")
_LINUX = re.compile(r"(?:^|[\s\"'(])/(?:usr|home|root|opt|tmp|mnt|workspace|data)/|linux-gnu|Ubuntu")

_MOST = 200
"""Places in the text that are looked at for each fact."""


def setting_of(first: bytes, last: bytes) -> Setting:
    """The setting that the ends of a text show. A release that the text contradicts is unknown."""
    text = b"\n".join((first, last)).decode("utf-8", "replace")
    is_windows, is_linux = (_WINDOWS.search(text) is not None, _LINUX.search(text) is not None)
    return Setting(
        triton=_release(_TRITON, text),
        torch=_release(_TORCH, text),
        targets=tuple(dict.fromkeys(_targets(text))),
        system="windows" if is_windows and not is_linux else "linux" if is_linux and not is_windows else None,
    )


def _release(pattern: re.Pattern[str], text: str) -> str | None:
    """The release that is stated (`==`, `version:`), else the one that prose names, if it is a single one."""
    matches = [match for match, _ in zip(pattern.finditer(text), range(_MOST), strict=False)]
    stated = {match["release"] for match in matches if match["stated"] or match["by"].strip()}
    releases = stated or {match["release"] for match in matches}
    return releases.pop() if len(releases) == 1 else None


def _targets(text: str) -> Iterator[str]:
    for match, _ in zip(_NVIDIA.finditer(text), range(_MOST), strict=False):
        number = match["sm"] or match["target"] or match["arch"] or f"{match['major']}{match['minor']}"
        if architecture("cuda", number) is not None or number in _BEFORE_TRITON:
            yield f"cuda:{number}"
    for match, _ in zip(_AMD.finditer(text), range(_MOST), strict=False):
        yield f"hip:gfx{match['name']}"
    yield from named(text)


# Kepler to Pascal, which people still try.
_BEFORE_TRITON = frozenset({"35", "37", "50", "52", "53", "60", "61", "62"})
