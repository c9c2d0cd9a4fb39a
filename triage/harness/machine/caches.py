"""What lies in triage's cache and in Triton's, and which compiles died there."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from triage.harness.machine.clock import Clock

# A compile's folder gets one file a stage and the .json last. Launchers and utilities have folders as well,
# without any of these, and are no compiles.
_STAGES = (".source", ".ttir", ".ttgir", ".llir", ".ptx", ".cubin", ".amdgcn", ".hsaco")


@dataclass(frozen=True, slots=True)
class Cache:
    """``complete`` is False when the time was up before everything was counted."""

    path: Path
    exists: bool
    size_bytes: int
    complete: bool


@dataclass(frozen=True, slots=True)
class TritonCache(Cache):
    """``died`` counts the compiles that have left stages behind and no ``.json``."""

    entries: int
    died: int


def triton_cache_folder() -> Path:
    """``$TRITON_CACHE_DIR``, else ``.triton/cache`` in ``$TRITON_HOME`` or the home folder."""
    if chosen := os.environ.get("TRITON_CACHE_DIR"):
        return Path(chosen)
    return Path(os.environ.get("TRITON_HOME") or os.path.expanduser("~")) / ".triton/cache"  # noqa: PTH111 - never raises


def measure(path: Path, clock: Clock) -> Cache:
    """Add up ``path``, as long as the time lasts."""
    counted = measure_triton(path, clock)
    return Cache(path, counted.exists, counted.size_bytes, counted.complete)


def measure_triton(path: Path, clock: Clock) -> TritonCache:
    """Add up ``path``, and distinguish finished compiles from those that died."""
    size = entries = died = 0
    complete = True
    # os.walk passes over what it cannot read: somebody may be removing files at this moment.
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 - 5000 files an environment
        if any(name.endswith(_STAGES) for name in names):
            entries += 1
            died += not any(name.endswith(".json") for name in names)
        if clock.is_over:
            complete = False
            break
    return TritonCache(path, os.path.isdir(path), size, complete, entries, died)  # noqa: PTH112 - never raises
