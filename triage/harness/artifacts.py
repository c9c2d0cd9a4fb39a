"""Collects the artifacts of a failed compile from its folder, under stable names."""

from __future__ import annotations

from pathlib import Path

from triage.files import read_file

PASS_INPUT = "pass-input.mlir"
"""The input of the failing pass (from the observed run)."""
STACK = "python-stack.txt"
"""Where the worker prints its Python stack at a fatal signal (``worker/child.py``)."""

_STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")
MOST_BYTES = 64 << 20
"""Larger files are not collected: nobody attaches them."""


REPRODUCER = "reproducer.mlir"
"""MLIR's own reproducer: the same module with the failing pass as its pipeline."""


def collect(folder: Path | None, log: str, destination: Path) -> dict[str, Path]:
    """Copy log, IR, PTX, reproducer and Python stack of one attempt to ``destination``; returns name → path.

    ``ir`` is the input of the failing pass where it is known, else the last IR that was written; every stage's own
    file keeps the stage's name (``ttgir``). A file that is not a regular one in ``folder`` is left out: the kernel's
    module may have made it. Raises OSError when the disk is full.
    """
    destination.mkdir(parents=True, exist_ok=True)
    files = {"log": destination / "log.txt"}
    files["log"].write_text(log, encoding="utf-8", errors="replace")
    if folder is None:
        return files
    for stage in _STAGES:
        for path in sorted((folder / "cache").glob(f"*/*.{stage}")):
            _copy(path, folder, stage, destination / f"kernel.{stage}", files)
    for path in sorted(folder.glob("tmp*.ptx")):
        _copy(path, folder, "ptx", destination / "kernel.ptx", files)
    _copy(folder / REPRODUCER, folder, "reproducer", destination / REPRODUCER, files)
    _copy(folder / STACK, folder, "python_stack", destination / STACK, files)
    _copy(folder / PASS_INPUT, folder, "ir", destination / PASS_INPUT, files)
    if "ir" not in files and (stages := [stage for stage in _STAGES if stage in files]):
        files["ir"] = files[stages[-1]]
    return files


def _copy(source: Path, folder: Path, name: str, destination: Path, files: dict[str, Path]) -> None:
    try:
        content = read_file(source, folder, MOST_BYTES)
    except OSError:
        return
    if content:
        destination.write_bytes(content)
        files[name] = destination
