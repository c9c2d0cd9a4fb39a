"""The real CuTe DSL for tests: which interpreters there are, and questions to it.

``TRIAGE_CUTE_PYTHON`` names the interpreter of an environment with nvidia-cutlass-dsl; else the newest of the managed
toolchains is taken. Tests skip where there is neither.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from triage.model.releases import numbers

PROBE = Path(__file__).with_name("cute_probe.py")
_TOOLCHAINS = Path("~/.cache/triton-triage/toolchains").expanduser()


def interpreters() -> dict[str, Path]:
    """Interpreters by release, newest first; the one that the environment names is called ``environment``."""
    if named := os.environ.get("TRIAGE_CUTE_PYTHON"):
        return {"environment": Path(named)}
    managed = {path.name.removeprefix("cute-"): path / "bin" / "python" for path in _TOOLCHAINS.glob("cute-*")}
    existing = {name: path for name, path in managed.items() if path.exists()}
    return dict(sorted(existing.items(), key=lambda item: numbers(item[0]) or (), reverse=True))


def newest() -> Path:
    """The interpreter to ask; skips the test where there is none."""
    paths = list(interpreters().values())
    if not paths:
        pytest.skip("no environment with nvidia-cutlass-dsl")
    return paths[0]


def ask(python: Path, questions: Sequence[Mapping[str, Any]], arch: str = "sm_90a") -> list[dict[str, Any]]:
    """The answers of CuTe DSL, one for each question."""
    done = subprocess.run(
        [python, PROBE],
        input=json.dumps(list(questions)),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        env={**os.environ, "CUTE_DSL_ARCH": arch},
        check=False,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout or "[]")
    assert len(answers) == len(questions), done.stderr[-2000:]
    return answers
