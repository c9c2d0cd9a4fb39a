"""``ld.lld``, which links AMD code objects. Triton up to 3.4 needs one and its wheels bring none."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triage.harness.machine.clock import Clock

_VERSION = re.compile(r"LLD (\d[\w.]*)")


@dataclass(frozen=True, slots=True)
class Linker:
    """One ``ld.lld``; ``version`` is None when it does not tell."""

    path: Path
    version: str | None


def find_lld() -> Path | None:
    """The ``ld.lld`` to use: the one that Triton would take, else the newest that the system has."""
    return next(_candidates(), None)


def linkers(clock: Clock) -> list[Linker]:
    """Every ``ld.lld`` found, the one to use first."""
    known = []
    for path in _candidates():
        version = _VERSION.search(clock.ask([str(path), "--version"]) or "")
        known.append(Linker(path, version.group(1) if version else None))
    return known


def _candidates() -> Iterator[Path]:
    seen: set[str] = set()
    for path in _paths():
        # One installation is commonly linked into several places.
        real = os.path.realpath(path)
        if real not in seen and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113 - never raises
            seen.add(real)
            yield path


def _paths() -> Iterator[Path]:
    # Triton's own order: the variable, ROCm, /usr/bin.
    if chosen := os.environ.get("TRITON_HIP_LLD_PATH"):
        yield Path(chosen).absolute()
    if rocm := os.environ.get("ROCM_PATH"):
        yield Path(rocm).absolute() / "llvm/bin/ld.lld"
    yield Path("/opt/rocm/llvm/bin/ld.lld")
    yield Path("/usr/bin/ld.lld")
    # And where Triton does not look: PATH, a package beside triage, the distributions' numbered ones.
    if on_path := shutil.which("ld.lld"):
        yield Path(on_path).absolute()
    yield Path(sys.executable).parent / "ld.lld"
    yield from sorted(Path("/usr/bin").glob("ld.lld-*"), key=_number, reverse=True)
    yield from sorted(Path("/usr/lib").glob("llvm-*/bin/ld.lld"), key=_number, reverse=True)


def _number(path: Path) -> int:
    number = re.search(r"-(\d+)", str(path))
    return int(number.group(1)) if number else 0
