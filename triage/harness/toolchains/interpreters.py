"""Which Python to build an environment with, when triage's own has no wheel for the Triton asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from triage.harness.toolchains.probe import NotPython, version_line

# Triton's wheels start at Python 3.8 (Triton 3.0); the upper end is open and only bounds the search.
_MINORS = range(8, 20)


def own_series() -> str:
    """``3.11`` for the Python that runs triage."""
    return f"3.{sys.version_info.minor}"


def others() -> list[str]:
    """The other series, nearest to triage's own first: kernels are written for a Python near it."""
    own = sys.version_info.minor
    minors = sorted((minor for minor in _MINORS if minor != own), key=lambda minor: (abs(minor - own), minor))
    return [f"3.{minor}" for minor in minors]


def find(series: str) -> Path | None:
    """A working ``pythonX.Y``: on PATH, or beside the installation of triage's own Python."""
    for path in _places(series):
        try:
            # Asked, since a version manager's shim exists for versions that it then refuses to start.
            if version_line(path).startswith(f"Python {series}."):
                return path
        except NotPython:
            continue
    return None


def _places(series: str) -> Iterator[Path]:
    name = f"python{series}"
    for folder in os.get_exec_path():
        path = Path(folder) / name
        if path.is_file():
            yield path
    # pyenv and uv keep their Pythons side by side, most of them not on PATH.
    yield from sorted(Path(sys.base_prefix).parent.glob(f"*/bin/{name}"), reverse=True)
