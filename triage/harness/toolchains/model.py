"""A toolchain as a value, and the fingerprint of what decides its compile results."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triage.model.compilers import TRITON, Compiler


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One interpreter with one release of a compiler.

    ``identity`` is equal as long as the same case compiles to the same result, so stored results have it in their key.
    ``managed`` says that triage made the environment. ``package`` is the folder of the
    compiler's module.
    """

    python: Path
    release: str
    python_version: str
    managed: bool
    identity: str
    package: Path
    compiler: Compiler = TRITON


def libraries(package: Path, compiler: Compiler) -> list[Path]:
    """The compiled libraries of the compiler in ``package``; empty where it was never built."""
    return sorted(package.glob(compiler.libraries))


def assemblers(package: Path) -> list[Path]:
    """``ptxas`` and, on releases that have it, ``ptxas-blackwell``, as the wheel brings them."""
    return sorted(path for path in (package / "backends/nvidia/bin").glob("ptxas*") if path.is_file())


def fingerprint(package: Path, compiler: Compiler, *, release: str, python_version: str) -> str:
    """Hash what decides a compile's result, from file facts alone (a few milliseconds, nothing is read).

    The interpreter's path is not in it: an environment is upgraded in place, and two may hold the same release.
    The Python sources' times are: an editable source build changes its results without touching the library.
    Raises OSError when the folder is gone.
    """
    digest = hashlib.sha256(f"{release}\0{python_version}\0".encode())
    for library in libraries(package, compiler):
        facts = library.stat()
        digest.update(f"{library.name}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    for assembler in assemblers(package):
        facts = assembler.stat()
        digest.update(f"{assembler.name}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    for source in sorted(_sources(package)):
        facts = source.stat()
        digest.update(f"{source.relative_to(package)}\0{facts.st_size}\0{facts.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:20]


def _sources(package: Path) -> Iterator[Path]:
    """Every Python file below ``package``; a source build links its backends in, so links are followed, once."""
    seen: set[tuple[int, int]] = set()
    for root, below, files in os.walk(package, followlinks=True):
        folder = Path(root)
        facts = folder.stat()
        if (facts.st_dev, facts.st_ino) in seen:
            below.clear()
            continue
        seen.add((facts.st_dev, facts.st_ino))
        below[:] = sorted(name for name in below if name != "__pycache__")
        yield from (folder / file for file in files if file.endswith(".py"))
