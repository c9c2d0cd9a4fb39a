"""``triage`` as a user starts it: fixtures that run it, with a cache of their own (a plugin of conftest.py).

The cache holds no other kept Triton than 3.2.0, whatever this machine has, so that what is found in it is the same
everywhere. The environment itself is the user's: making one takes a download of 200 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import triage
from triage.cli.main import main
from triage.harness.toolchains import Toolchain, Toolchains

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


@pytest.fixture(scope="session")
def triton_320(toolchains: Toolchains) -> Toolchain:
    """The kept environment with Triton 3.2.0; made on first use."""
    return toolchains.managed("3.2.0")


@pytest.fixture(scope="session")
def empty_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with nothing in it, for what makes no environment."""
    return tmp_path_factory.mktemp("empty-cache")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory, triton_320: Toolchain) -> Path:
    """A cache with no outcomes and one kept Triton."""
    environment = triton_320.python.parent.parent
    root = tmp_path_factory.mktemp("cache")
    (root / "toolchains").mkdir()
    (root / "toolchains" / environment.name).symlink_to(environment)
    return root


@pytest.fixture
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same cache for what runs in this process."""
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(cache))
    yield cache


@pytest.fixture(scope="session")
def light(empty_cache: Path) -> Triage:
    """``triage`` for what compiles nothing."""
    return lambda *arguments, **named: run_triage(empty_cache, *arguments, **named)


@pytest.fixture
def inside(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Triage:
    """The same in this process, which takes a tenth of the time."""

    def run(*arguments: str | Path, **variables: str) -> Run:
        for name, value in {"TRITON_TRIAGE_CACHE": str(empty_cache), "COLUMNS": "80", **variables}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        said = capsys.readouterr()
        return Run(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture(scope="session")
def check(cache: Path) -> Triage:
    """``triage check …``; compiles with the default Triton or 3.2.0."""
    return lambda *arguments, **named: run_triage(cache, "check", *arguments, **named)


@pytest.fixture(scope="session")
def reproduced(check: Triage) -> Run:
    """``triage check wgmma-tf32-mn-major --json``: the main job, run once for all tests that look at it."""
    return check("wgmma-tf32-mn-major", "--json")
