"""What a failed compile leaves behind, picked out of its folder under stable names."""

from __future__ import annotations

import shutil
from pathlib import Path

PASS_INPUT = "pass-input.mlir"
"""The module that the failing pass was given (from the observed run)."""

_STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")
_MOST_BYTES = 64 << 20
"""A file larger than this is left where it is: nobody attaches it."""


REPRODUCER = "reproducer.mlir"
"""MLIR's own reproducer: the same module with the failing pass as its pipeline."""


def collect(folder: Path | None, log: str, destination: Path) -> dict[str, Path]:
    """Copy log, IR, PTX, reproducer and Python stack of one attempt to ``destination``; returns name → path.

    ``ir`` is the input of the failing pass where it is known, else the last IR that was written; every stage's own
    file keeps the stage's name (``ttgir``). Raises OSError when the disk is full.
    """
    destination.mkdir(parents=True, exist_ok=True)
    kept = {"log": destination / "log.txt"}
    kept["log"].write_text(log, encoding="utf-8", errors="replace")
    if folder is None:
        return kept
    for stage in _STAGES:
        for path in sorted((folder / "cache").glob(f"*/*.{stage}")):
            _keep(path, stage, destination / f"kernel.{stage}", kept)
    for path in sorted(folder.glob("tmp*.ptx")):
        _keep(path, "ptx", destination / "kernel.ptx", kept)
    _keep(folder / REPRODUCER, "reproducer", destination / REPRODUCER, kept)
    _keep(folder / "python-stack.txt", "python_stack", destination / "python-stack.txt", kept)
    _keep(folder / PASS_INPUT, "ir", destination / PASS_INPUT, kept)
    if "ir" not in kept:
        last = [stage for stage in _STAGES if stage in kept]
        if last:
            kept["ir"] = kept[last[-1]]
    return kept


def _keep(source: Path, name: str, destination: Path, kept: dict[str, Path]) -> None:
    if source.is_file() and 0 < source.stat().st_size <= _MOST_BYTES:
        shutil.copyfile(source, destination)
        kept[name] = destination
