"""Limits on time and memory of a compile."""

from __future__ import annotations

import re
from dataclasses import dataclass

import psutil

from triage.model.errors import InputError

GIB = 1 << 30
DEFAULT_TIMEOUT_S = 120.0
"""Ten times what a large attention kernel takes on one core; a compile that needs more is worth a report."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\Z", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def default_memory_bytes() -> int:
    """8 GiB, or half of this machine's memory where that is less."""
    return int(min(8 * GIB, psutil.virtual_memory().total // 2))


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of wall time and bytes of resident memory (the whole process tree of an attempt together)."""

    timeout_s: float = DEFAULT_TIMEOUT_S
    memory_bytes: int = 8 * GIB


def parse_size(text: str) -> int:
    """``512M``, ``8GiB``, ``1.5g`` or plain bytes. Raises InputError; the least is 64 MiB, as Python and LLVM
    alone need that much."""
    match = _SIZE.match(text.strip())
    if not match:
        raise InputError(f"--memory {text!r}: write a size such as 512M or 8GiB")
    size = int(float(match.group(1)) * _UNIT[match.group(2).upper()])
    if size < 64 << 20:
        raise InputError(f"--memory {text!r}: at least 64M")
    return size
