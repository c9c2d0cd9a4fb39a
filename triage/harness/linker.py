"""An ld.lld for AMD kernels on Triton 3.0 to 3.4, which link with the program; later releases have it built in.

On a machine without one, the linker built into a newer Triton's library is used instead, through a small script that
takes the few arguments that Triton passes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from triage.harness.machine.lld import find_lld
from triage.harness.toolchains import Toolchain
from triage.harness.toolchains.model import libtriton
from triage.model.releases import in_range

_SCRIPT = Path(__file__).parent / "worker" / "link.py"
_BUILT_IN = ">=3.5"


def find(spare: Iterable[Toolchain], folder: Path) -> str | None:
    """Path of an ld.lld, a script in ``folder`` if need be; None when there is no way to link."""
    if (program := find_lld()) is not None:
        return str(program)
    for toolchain in spare:
        libraries = libtriton(toolchain.package) if toolchain.package else []
        if libraries and in_range(toolchain.triton, _BUILT_IN):
            path = folder / "ld.lld"
            command = shlex.join([str(toolchain.python), "-I", "-S", str(_SCRIPT), str(libraries[0])])
            path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            path.chmod(0o755)
            return str(path)
    return None
