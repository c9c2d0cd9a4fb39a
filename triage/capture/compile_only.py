"""``triage run --compile-only``: for which target, which kernels the program reached, and where it went no further."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.capture.captured import Capture
from triage.capture.parts import described
from triage.model.target import Target

_REACHED, _LEFT, _INDUCTOR = "reached", "left", ".inductor"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that the program reached, and how many of its configurations compiled, by Triton's own key, and how
    many did not."""

    name: str
    compiled: int
    failed: int


@dataclass(frozen=True, slots=True)
class Reached:
    """``left``: exceptions that ended a process of the program, each with the line that it came from; ``limits``: what
    could not be stood in for."""

    target: Target
    kernels: tuple[Kernel, ...]
    left: tuple[str, ...]
    limits: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it stands in the document of a run."""
        kernels = [{"name": one.name, "compiled": one.compiled, "failed": one.failed} for one in self.kernels]
        return {
            "target": str(self.target),
            "kernels": kernels,
            "left": list(self.left),
            "limits": list(self.limits),
        }

    def lines(self) -> Iterator[str]:
        """For people."""
        number = len(self.kernels)
        yield f"{number or 'no'} kernel{'' if number == 1 else 's'} reached, for {self.target}"
        for one in self.kernels:
            total = one.compiled + one.failed
            failed = f", {one.failed} failed" if one.failed else ""
            yield f"{one.name}: {total} configuration{'' if total == 1 else 's'}{failed}"
        yield from self.limits
        for line in self.left:
            yield f"the program was left at {line}; what it launches after that was not reached"


@dataclass(frozen=True, slots=True)
class CompileOnly:
    """What the program is told, and what it has said. ``folder`` is that of the run."""

    target: Target
    folder: Path

    @classmethod
    def parse(cls, target: str, folder: Path) -> CompileOnly:
        """Raises InputError for a target of which no part is known."""
        made = cls(Target.parse(target), folder)
        made.variables()
        for name in (_REACHED, _LEFT):
            (folder / name).unlink(missing_ok=True)
        return made

    def variables(self) -> dict[str, str]:
        """For the program's environment. Raises InputError."""
        return {
            "TRITON_TRIAGE_COMPILE_ONLY": str(self.target),
            "TRITON_TRIAGE_DEVICE": json.dumps(described(self.target)),
            # Inductor would keep there what it believes to have measured.
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder.absolute() / _INDUCTOR),
        }

    def reached(self, capture: Capture) -> Reached:
        """What the program got to."""
        compiled: dict[str, set[str]] = {}
        for line in _lines(self.folder / _REACHED):
            key, _, name = line.partition(" ")
            compiled.setdefault(name, set()).add(key)
        failed: dict[str, set[object]] = {}
        for one in capture.failed_cases:
            name = str(one.origin.get("kernel") or one.kernel)
            keys = compiled.setdefault(name, set())
            # What an autotuner finds to fail is asked for again where nothing else is left.
            which: object = one.case.identity() if one.case else one.folder
            if one.where == "load" and which not in failed.get(name, ()) and keys:
                # It has been compiled as well.
                keys.pop()
            failed.setdefault(name, set()).add(which)
        kernels = tuple(Kernel(name, len(keys), len(failed.get(name, ()))) for name, keys in compiled.items())
        said = [one for one in map(_document, dict.fromkeys(_lines(self.folder / _LEFT))) if one]
        return Reached(
            self.target,
            kernels,
            left=tuple(f"{one['at']}: {one['error']}" for one in said if "at" in one and "error" in one),
            limits=tuple(str(one["said"]) for one in said if "said" in one),
        )

    def tidy(self) -> None:
        """Remove what only the run itself needed."""
        for name in (_REACHED, _LEFT):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / _INDUCTOR, ignore_errors=True)


def _document(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # a process was killed as it wrote
        return {}
    return found if isinstance(found, dict) else {}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
