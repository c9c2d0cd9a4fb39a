"""Limits on time and memory of a compile."""

import re
from dataclasses import dataclass

import psutil

from triage.harness.machine.system import cgroup_memory_bytes
from triage.model.errors import InputError
from triage.model.outcome import Outcome, Status, Undecided

GIB = 1 << 30
DEFAULT_TIMEOUT_S = 120.0
"""Ten times what a large attention kernel takes on one core; a compile that needs more is worth a report."""

_LEAST_BYTES = 64 << 20
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\Z", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def default_memory_bytes() -> int:
    """8 GiB, or half of the memory of this machine or of its control group where that is less."""
    memory = min(psutil.virtual_memory().total, cgroup_memory_bytes() or 16 * GIB)
    return max(_LEAST_BYTES, min(8 * GIB, memory // 2))


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of wall time and bytes of resident memory (the whole process tree of an attempt together)."""

    timeout_s: float = DEFAULT_TIMEOUT_S
    memory_bytes: int = 8 * GIB


def holds_for(result: Outcome | Undecided, limits: Limits) -> bool:
    """Whether a result counts under ``limits``: a time-out or too much memory says nothing of larger ones."""
    if isinstance(result, Undecided):
        return True
    if result.status is Status.TIMEOUT:
        return limits.timeout_s <= (result.limit_s or 0)
    return result.status is not Status.OUT_OF_MEMORY or limits.memory_bytes <= (result.limit_bytes or 0)


def parse_size(text: str, name: str = "--memory") -> int:
    """``512M``, ``8GiB``, ``1.5g`` or plain bytes. Raises InputError, which names the option; the least is 64 MiB, as
    Python and LLVM alone need that much memory."""
    match = _SIZE.match(text.strip())
    if not match:
        raise InputError(f"{name} {text!r}: write a size such as 512M or 8GiB")
    size = int(float(match.group(1)) * _UNIT[match.group(2).upper()])
    if size < _LEAST_BYTES:
        raise InputError(f"{name} {text!r}: at least 64M")
    return size
