"""A stand-in for compute-sanitizer, and what the real one writes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

CLEAN = """\
========= COMPUTE-SANITIZER
========= ERROR SUMMARY: 0 errors
"""
SHARED = """\
========= COMPUTE-SANITIZER
========= Invalid __shared__ write of size 16 bytes
=========     at transpose_scale+0x1230 in kernel.py:17
=========     by thread (47,0,0) in block (3,1,0)
=========     Address 0x7b10 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernelEx [0x3344a0] in libcuda.so.1
=========
========= Invalid __global__ read of size 4 bytes
=========     at transpose_scale+0x20 in kernel.py:12
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f0 is misaligned
=========
========= ERROR SUMMARY: 1,026 errors
"""


def stand_in(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that takes compute-sanitizer's options, writes a text where they ask, and runs what is below it."""
    program = folder / "compute-sanitizer"
    (folder / "text").write_text(text)
    program.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        echo "$@" > {folder}/arguments
        env > {folder}/environment
        while [ "$1" != --log-file ]; do shift; done
        cp {folder}/text "$2"
        shift 2
        exec "$@"
        """)
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program
