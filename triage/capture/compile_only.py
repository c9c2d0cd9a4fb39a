"""``triage run --compile-only``: the target, the kernels that the program reached, and where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from triage.capture.captured import Capture, json_object, read_text
from triage.capture.counts import by_kernel
from triage.filesystem.files import remove_tree
from triage.harness.driver import product_properties
from triage.harness.worker.cute.settings import architecture
from triage.model.document import Documented
from triage.model.errors import InputError
from triage.model.gpus import ARCHITECTURES
from triage.model.target import Target
from triage.model.words import count

_LEFT, _INDUCTOR = "left", ".inductor"


@dataclass(frozen=True, slots=True)
class ReachedKernel:
    """A kernel that the program reached: configurations that compiled, that failed, and that failed and were passed
    over by an autotuner."""

    name: str
    compiled: int
    failed: int
    passed_over: int


@dataclass(frozen=True, slots=True)
class Reached(Documented):
    """How far the program got; ``compile_only`` in a run document. ``left``: exceptions that ended one of its
    processes, with their source line; ``limits``: what could not be emulated."""

    target: Target
    kernels: tuple[ReachedKernel, ...]
    left: tuple[str, ...]
    limits: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Lines for the terminal."""
        yield f"{count(len(self.kernels) or 'no', 'kernel')} reached, for {self.target}"
        for kernel in self.kernels:
            failed = f", {kernel.failed} failed" if kernel.failed else ""
            over = f", {kernel.passed_over} passed over" if kernel.passed_over else ""
            configurations = kernel.compiled + kernel.failed + kernel.passed_over
            yield f"{kernel.name}: {count(configurations, 'configuration')}{failed}{over}"
        yield from self.limits
        for line in self.left:
            yield f"the program was left at {line}; what it launches after that was not reached"


@dataclass(frozen=True, slots=True)
class CompileOnly:
    """Target and run folder of a ``--compile-only`` run."""

    target: Target
    folder: Path

    @classmethod
    def parse(cls, target: str, folder: Path) -> CompileOnly:
        """Raises InputError for a target without a known product."""
        settings = cls(Target.parse(target), folder)
        emulated_gpu(settings.target)
        settings.tidy()
        return settings

    def variables(self) -> dict[str, str]:
        """Environment variables for the program. Raises InputError."""
        return {
            "TRITON_TRIAGE_COMPILE_ONLY": str(self.target),
            "TRITON_TRIAGE_DEVICE": json.dumps(emulated_gpu(self.target)),
            # Inductor caches measurements, which are emulated here.
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder.absolute() / _INDUCTOR),
            **({"CUTE_DSL_ARCH": architecture(self.target.to_message(), {})} if self.target.backend == "cuda" else {}),
        }

    def reached(self, capture: Capture) -> Reached:
        """Read how far the program got."""
        kernels = tuple(
            ReachedKernel(name, counts.good, counts.failed, counts.passed_over)
            for name, counts in by_kernel(capture).items()
        )
        records = [json_object(line) for line in dict.fromkeys(read_text(self.folder / _LEFT).splitlines())]
        left = tuple(f"{record['at']}: {record['error']}" for record in records if {"at", "error"} <= record.keys())
        limits = tuple(str(record["limit"]) for record in records if "limit" in record)
        return Reached(self.target, kernels, left, limits)

    def tidy(self) -> None:
        """Remove files that only the run itself needed."""
        (self.folder / _LEFT).unlink(missing_ok=True)
        remove_tree(self.folder / _INDUCTOR)


def emulated_gpu(target: Target) -> dict[str, str | int]:
    """The properties of a target's product as ``capture/program/fake/device.py`` reads them. Raises InputError for a
    target without one."""
    properties = product_properties(target)
    if not properties:
        known = ", ".join(str(row) for row in ARCHITECTURES if row.product)
        raise InputError(f"--target {target}: no product of it is known to compile for; known are {known}")
    return properties
