"""Builds the stand-in for the GPU's driver (driver_stub.c), and the C compiler for what Triton compiles of its own."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest
from commands import locked

COMPILER = shutil.which("cc") or shutil.which("gcc")


def built(folder: Path) -> Path:
    """The folder with the stand-in, by both of the names under which Triton links it; made once for all tests that
    share a folder. Skips the test without a C compiler."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    made = folder / "driver"
    with locked(folder):
        if not made.exists():
            _build(made)
    return made


def _build(folder: Path) -> None:
    folder.mkdir()
    source, library = Path(__file__).with_name("driver_stub.c"), folder / "libcuda.so.1"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-w", "-o", library, source], check=True)
    (folder / "libcuda.so").symlink_to(library.name)
    _remembering_compiler(folder)


def variables(folder: Path) -> dict[str, str]:
    """The environment of a process that is to find the stand-in in ``folder``."""
    return {"LD_LIBRARY_PATH": str(folder), "TRITON_LIBCUDA_PATH": str(folder), "CC": str(folder / "cc")}


def _remembering_compiler(folder: Path) -> None:
    """A C compiler that compiles no source twice. Triton compiles its part of the driver in each process that launches,
    because each has a cache of its own; that takes half a second."""
    program, known = folder / "cc", folder / "known"
    known.mkdir(exist_ok=True)
    program.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        for argument in "$@"; do
            case $argument in
                *.c) source=$argument ;;
                -I*/python3.*) headers=$headers$argument ;;
            esac
            [ "$before" = -o ] && output=$argument
            before=$argument
        done
        library={known}/$( (echo "$headers"; cat "$source") | sha256sum | cut -c1-64)
        if [ ! -e "$library" ]; then
            {COMPILER} "$@" || exit
            cp "$output" "$library.$$" && mv "$library.$$" "$library"
        fi
        cp "$library" "$output"
        """)
    )
    program.chmod(0o755)
