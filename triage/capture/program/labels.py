"""Names of kernels, and of case folders, which tell the kernel and its configuration."""

import os
import re
from typing import Any, Mapping, Optional, Tuple

_MOST = 120
"""Characters of a label. A file name has 255 bytes, and a number or an ending may follow."""
_MOST_KERNEL = 60
"""Of these, characters of the kernel's name, which leaves half of them for the configuration."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+-]+")
_LAUNCH_OPTIONS = ("num_warps", "num_stages")


def label(kernel: str, constexprs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """``matmul-BLOCK_M=128-num_warps=4``: characters that every file system and shell takes as they are.

    Where there is no room for all values, launch options come first, then numbers but 0 and 1 (flags, and strides of
    1): what configurations of a kernel mostly differ in. So two configurations may have the same label."""
    name = _UNSAFE.sub("_", kernel)[:_MOST_KERNEL].strip(".-") or "kernel"
    values = {key: value for key, value in {**constexprs, **options}.items() if isinstance(value, (int, float, str))}
    settings = {
        key: "-%s=%s" % (_UNSAFE.sub("_", key), _UNSAFE.sub("_", re.sub(r"\Atl\.", "", str(value))))
        for key, value in values.items()
    }

    def rank(key: str) -> Tuple[bool, bool]:
        return key not in _LAUNCH_OPTIONS, isinstance(values[key], str) or values[key] in (0, 1)

    room, shown = _MOST - len(name), set()
    for key in sorted(settings, key=rank):
        if len(settings[key]) <= room:
            shown.add(key)
            room -= len(settings[key])
    return name + "".join(text for key, text in settings.items() if key in shown)


def kernel_name(source: Any) -> str:
    """Name of the kernel of a source of any release."""
    return str(getattr(source, "name", "")).lstrip("@")


def numbered(label: str, number: int) -> str:
    """Name of the folder that this process writes as its ``number``-th."""
    return "%s-%d-%d" % (label, os.getpid(), number)


def numbers(folder: str) -> Optional[Tuple[int, int]]:
    """The process that wrote the folder of this name, and its number there; None for another kind of name. A
    hidden folder has none, because its files may be incomplete."""
    ending = re.search(r"\A[^.].*-(\d+)-(\d+)\Z", folder)
    return (int(ending.group(1)), int(ending.group(2))) if ending else None
