"""Builds the stand-in for the GPU's driver (driver_stub.c)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = shutil.which("cc") or shutil.which("gcc")


def built(folder: Path) -> Path:
    """The folder with the stand-in, by both of the names under which Triton links it. Skips the test without a C
    compiler."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    source, library = Path(__file__).with_name("driver_stub.c"), folder / "libcuda.so.1"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-w", "-o", library, source], check=True)
    (folder / "libcuda.so").symlink_to(library.name)
    return folder
