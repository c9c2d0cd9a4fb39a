"""``triage`` as a user starts it, and the cases that tests give to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triage

DATA = Path(__file__).parent / "data"
KERNELS = DATA / "kernels.py"


@dataclass(frozen=True)
class Run:
    """How one ``triage …`` ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def documents(self) -> list[Any]:
        """One document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Triage = Callable[..., Run]


def run_triage(cache: Path, *arguments: str | Path, stdin: str = "", **variables: str) -> Run:
    """``triage ARGUMENTS`` as a process of its own, at 80 columns and without colour."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(triage.__file__).parent.parent),
        "TRITON_TRIAGE_CACHE": str(cache),
        "COLUMNS": "80",
        **variables,
    }
    command = [sys.executable, "-m", "triage", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, env=environment)
    return Run(done.returncode, done.stdout, done.stderr)
