"""Collects the artifacts of a failed compile from its folder, under stable names.

They lie in the store (``store.py``). What that does not take lies in a temporary folder, which stays for a while, as a
report names them; who has copied them elsewhere gives them up.
"""

import atexit
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from triage.filesystem import scratch
from triage.filesystem.files import read_file, remove_tree
from triage.filesystem.scratch import Scratch

PASS_INPUT = "pass-input.mlir"
"""The input of the failing pass (from the observed run)."""
STACK = "python-stack.txt"
"""Where the worker prints its Python stack at a fatal signal (``worker/child.py``)."""

_STAGES = ("source", "trace", "ttir", "ttgir", "llir", "ptx", "amdgcn")
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


def temporary() -> Path:
    """The path of a new folder for artifacts that no store takes. Raises OSError, EnvironmentFault."""
    return Path(tempfile.mkdtemp(dir=_home(Path(tempfile.gettempdir())).folder))


def give_up(files: Iterable[Path]) -> None:
    """Remove those of the files that lie in a folder of :func:`temporary`: they have been copied, or nobody reads
    them."""
    for path in files:
        if path.parent.parent.name.startswith(f"{_KIND}-") and path.is_relative_to(scratch.root()):
            remove_tree(path)
            with suppress(OSError):
                path.parent.rmdir()


_KIND = "artifacts"


@cache
def _home(base: Path) -> Scratch:
    """The folder of this process for them, below the folder ``base`` for temporary files."""
    home = scratch.new(_KIND)
    home.keep()
    atexit.register(_tidy, home, os.getpid())
    return home


def _tidy(home: Scratch, pid: int) -> None:
    """Remove it if nothing is in it."""
    if os.getpid() == pid and not home.has_results:
        home.remove()
