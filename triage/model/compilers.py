"""The compilers that cases are for: a package of the index each, its releases, and what an installation of it has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compiler:
    """``name``: in a case's ``toolchain``, in an environment's facts, and of the option that chooses a release.
    ``title``: for people. ``distribution``: on the Python Package Index; ``also_named``: other builds of it.
    ``module``: what a program imports. ``libraries``: its compiled libraries, ``evidence``: a file that distinguishes
    it from another package of the same name, both below the module's folder. ``beside``: packages that an environment
    with it needs besides.

    ``releases``: every one on the index when this was written, oldest first. Newer ones are found by the installer; the
    table answers what ``3.3`` means without asking, and what is near a version that does not exist.
    """

    name: str
    title: str
    distribution: str
    module: str
    libraries: str
    evidence: str
    releases: tuple[str, ...]
    oldest: str
    also_named: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """The option that chooses a release."""
        return f"--{self.name}"

    def label(self, release: object) -> str:
        """A release for people: ``Triton 3.6.0``."""
        return f"{self.title} {release}"

    @property
    def oldest_major(self) -> int:
        """The first number of the oldest release that is supported."""
        return int(self.oldest.partition(".")[0])


TRITON = Compiler(
    name="triton",
    title="Triton",
    distribution="triton",
    module="triton",
    libraries="_C/libtriton*.so",
    evidence="",
    releases=(
        *("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0"),
        *("3.5.1", "3.6.0", "3.7.0", "3.7.1", "3.8.0", "3.9.0"),
    ),
    oldest="3.0",
    also_named=("pytorch-triton", "pytorch-triton-rocm", "pytorch-triton-xpu", "triton-nightly"),
    beside=("setuptools",),  # Triton builds its launcher with it, and Python 3.12 no longer brings it.
)
CUTE = Compiler(
    name="cute",
    title="CuTe DSL",
    distribution="nvidia-cutlass-dsl",
    module="cutlass",
    libraries="_mlir/_mlir_libs/*.so",
    evidence="base_dsl",  # CUTLASS's older Python interface has the same name.
    releases=(
        *("4.0.0", "4.1.0", "4.2.0", "4.2.1", "4.3.0", "4.3.1", "4.3.2", "4.3.3", "4.3.4", "4.3.5"),
        *("4.4.0", "4.4.1", "4.4.2", "4.5.0", "4.5.1", "4.5.2", "4.5.3"),
        *("4.6.0", "4.6.1", "4.6.2", "4.6.3", "4.7.0", "4.7.1", "4.8.0", "4.8.1"),
    ),
    oldest="4.0",
)
COMPILERS = {compiler.name: compiler for compiler in (TRITON, CUTE)}
"""By name."""
