"""``ld.lld``, which links AMD code objects. Triton 3.0 to 3.4 needs one and its wheels bring none; later releases have
it built in.

On a machine without one, the linker built into a newer Triton's library is used instead, through a small script that
takes the few arguments that Triton passes.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from triage.harness.machine.clock import Clock, Program
from triage.harness.toolchains import Toolchain
from triage.harness.toolchains.model import libraries as compiled_libraries
from triage.model.releases import in_range

_SCRIPT = Path(__file__).parent / "worker" / "link.py"
_BUILT_IN = ">=3.5"
_VERSION = re.compile(r"LLD (\d[\w.]*)")


def find(spare: Iterable[Toolchain], folder: Path) -> str | None:
    """Path of an ld.lld, a script in ``folder`` if need be; None when there is no way to link."""
    if (program := find_lld()) is not None:
        return str(program)
    for toolchain in spare:
        libraries = compiled_libraries(toolchain.package, toolchain.compiler)
        if libraries and in_range(toolchain.release, _BUILT_IN):
            path = folder / "ld.lld"
            command = shlex.join([str(toolchain.python), "-I", "-S", str(_SCRIPT), str(libraries[0])])
            path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            path.chmod(0o755)
            return str(path)
    return None


def find_lld() -> Path | None:
    """The ``ld.lld`` to use: the one that Triton would take, else the newest that the system has."""
    return next(_candidates(), None)


def linkers(clock: Clock) -> list[Program]:
    """Every ``ld.lld`` of this machine, the preferred one first."""
    return [clock.program(path, _VERSION) for path in _candidates()]


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
