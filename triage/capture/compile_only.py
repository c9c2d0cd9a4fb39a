"""``triage run --compile-only``: the target, the kernels that the program reached, and where it stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.capture.captured import Capture
from triage.capture.shown_gpu import described
from triage.model.target import Target

_REACHED, _LEFT, _INDUCTOR = "reached", "left", ".inductor"


@dataclass(frozen=True, slots=True)
class ReachedKernel:
    """A kernel that the program reached: configurations that compiled (by Triton's cache key) and that failed."""

    name: str
    compiled: int
    failed: int


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the program got. ``left``: exceptions that ended one of its processes, with their source line;
    ``limits``: what could not be emulated."""

    target: Target
    kernels: tuple[ReachedKernel, ...]
    left: tuple[str, ...]
    limits: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The ``compile_only`` object of a run document."""
        kernels = [
            {"name": kernel.name, "compiled": kernel.compiled, "failed": kernel.failed} for kernel in self.kernels
        ]
        return {
            "target": str(self.target),
            "kernels": kernels,
            "left": list(self.left),
            "limits": list(self.limits),
        }

    def lines(self) -> Iterator[str]:
        """Lines for the terminal."""
        number = len(self.kernels)
        yield f"{number or 'no'} kernel{'' if number == 1 else 's'} reached, for {self.target}"
        for kernel in self.kernels:
            total = kernel.compiled + kernel.failed
            failed = f", {kernel.failed} failed" if kernel.failed else ""
            yield f"{kernel.name}: {total} configuration{'' if total == 1 else 's'}{failed}"
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
        settings.variables()
        for name in (_REACHED, _LEFT):
            (folder / name).unlink(missing_ok=True)
        return settings

    def variables(self) -> dict[str, str]:
        """Environment variables for the program. Raises InputError."""
        return {
            "TRITON_TRIAGE_COMPILE_ONLY": str(self.target),
            "TRITON_TRIAGE_DEVICE": json.dumps(described(self.target)),
            # Inductor would keep there what it believes to have measured.
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder.absolute() / _INDUCTOR),
        }

    def reached(self, capture: Capture) -> Reached:
        """Read how far the program got."""
        compiled: dict[str, set[str]] = {}
        for line in _lines(self.folder / _REACHED):
            key, _, name = line.partition(" ")
            compiled.setdefault(name, set()).add(key)
        failed: dict[str, set[object]] = {}
        for captured in capture.failed_cases:
            name = str(captured.origin.get("kernel") or captured.kernel)
            keys = compiled.setdefault(name, set())
            # What an autotuner finds to fail is asked for again where nothing else is left.
            identity: object = captured.case.identity() if captured.case else captured.folder
            if captured.where == "load" and identity not in failed.get(name, ()) and keys:
                # It has been compiled as well.
                keys.pop()
            failed.setdefault(name, set()).add(identity)
        kernels = tuple(ReachedKernel(name, len(keys), len(failed.get(name, ()))) for name, keys in compiled.items())
        records = [record for record in map(_document, dict.fromkeys(_lines(self.folder / _LEFT))) if record]
        return Reached(
            self.target,
            kernels,
            left=tuple(
                f"{captured['at']}: {captured['error']}"
                for captured in records
                if "at" in captured and "error" in captured
            ),
            limits=tuple(str(record["limit"]) for record in records if "limit" in record),
        )

    def tidy(self) -> None:
        """Remove files that only the run itself needed."""
        for name in (_REACHED, _LEFT):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / _INDUCTOR, ignore_errors=True)


def _document(line: str) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):  # a process was killed as it wrote
        return {}
    return document if isinstance(document, dict) else {}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
