"""The files that real compiles leave: cache, dumps, reproducers and logs (a plugin of conftest.py)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import triage
from triage.filesystem.shipped import data_folder
from triage.harness.toolchains import Toolchain
from triage.pipeline import Options, Session

PROGRAM = Path(__file__).parent / "cases" / "programs" / "compile_case.py"
HARNESS = Path(triage.__file__).parent / "harness"


@dataclass(frozen=True)
class CompileOutputs:
    """The folder of one compile, and its files."""

    folder: Path
    python: Path
    code: int
    printed: str

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    @property
    def entry(self) -> Path:
        """The compile's own folder in the cache."""
        found = [path for path in self.cache.iterdir() if path.is_dir() and any(path.glob("*.tt*"))]
        assert len(found) == 1
        return found[0]

    @property
    def dump(self) -> Path:
        return self.folder / "dump"

    @property
    def reproducer(self) -> Path:
        """What ``TRITON_REPRODUCER_PATH`` was: a file, or the beginning of names."""
        return self.folder / "reproducer.mlir"


OutputsOf = Callable[..., CompileOutputs]


@pytest.fixture(scope="session")
def outputs_of(tmp_path_factory: pytest.TempPathFactory, release: Callable[[str], Toolchain]) -> OutputsOf:
    """Compile a case (a reproducer's name, or a folder) with a release, once; what it leaves is kept for all tests."""
    known: dict[tuple[str, str, bool], CompileOutputs] = {}

    def outputs_of(case: str | Path, version: str = "newest", dump_passes: bool = False) -> CompileOutputs:
        key = (str(case), version, dump_passes)
        if key not in known:
            folder = tmp_path_factory.mktemp("left")
            known[key] = _compile(case, release(version).python, folder, dump_passes)
        return known[key]

    return outputs_of


@pytest.fixture(scope="session")
def newest_session(release: Callable[[str], Toolchain]) -> Iterator[Session]:
    """Workers with the newest release for all tests that only compile; nothing is remembered or searched."""
    with Session(Options(suggest=False, cache=False, python=str(release("newest").python))) as made:
        yield made


def _compile(case: str | Path, python: Path, folder: Path, dump_passes: bool) -> CompileOutputs:
    source = case if isinstance(case, Path) else data_folder("reproducers") / case
    environment = {
        **os.environ,
        "HOME": str(folder),  # 3.0 and 3.1 dump there, whatever is asked for
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITON_KERNEL_DUMP": "1",
        "TRITON_DUMP_DIR": str(folder / "dump"),
        **({"MLIR_ENABLE_DUMP": "1"} if dump_passes else {"TRITON_REPRODUCER_PATH": str(folder / "reproducer.mlir")}),
    }
    command = [str(python), str(PROGRAM), str(HARNESS), str(source)]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, env=environment, cwd=folder
    )
    return CompileOutputs(folder, python, done.returncode, done.stderr)
