"""Runs programs by themselves and under ``triage run`` (a plugin of conftest.py)."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import Run, new_cache, run_program, start_triage

from triage.capture.program import labels
from triage.frontends import documents
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.compilers import TRITON
from triage.pipeline import Options, Session

PROGRAMS = Path(__file__).parent / "capture" / "programs"
REPRODUCERS = Path(__file__).parents[1] / "reproducers"


def triton_reproducers() -> list[Path]:
    """Case folders of all reproducers that ``compile_cases.py`` can compile: kernels of Triton and Gluon."""
    folders = sorted(path.parent for path in REPRODUCERS.glob("*/case.json"))
    return [folder for folder in folders if documents.load(folder).compiler == TRITON]


def sharing_key(reproducer: str) -> str:
    """A reproducer whose children do not each compute Triton's hash of its own files anew."""
    share = f"sys.path.append({str(PROGRAMS)!r}); import toolbox; toolbox.share_key()"
    return reproducer.replace("    sys.exit(_judge())\n", f"    sys.exit(_judge())\n{share}\n", 1)


@dataclass(frozen=True)
class Bench:
    """A folder for one test: Triton's cache, triage's, and what is captured."""

    folder: Path
    python: Path

    @property
    def captured(self) -> Path:
        return self.folder / "captured"

    def variables(self, **given: str) -> dict[str, str]:
        own = {
            "TRITON_CACHE_DIR": str(self.folder / "triton"),
            # On 3.9 Triton warns, once a process, that this is not set.
            "TRITON_DEFAULT_FP_FUSION": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # What CuTe DSL compiles for where there is no GPU.
            "CUTE_DSL_ARCH": "sm_100a",
        }
        return {**own, **given}

    def plain(self, program: str, *arguments: str, **variables: str) -> Run:
        """Run the program by itself."""
        environment = {**os.environ, **self.variables(**variables)}
        done = subprocess.run(
            [self.python, PROGRAMS / program, *arguments], capture_output=True, text=True, check=False, env=environment
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def run(self, program: str, *arguments: str, options: tuple[str, ...] = (), **variables: str) -> Run:
        """Run the program under ``triage run``, and keep the captured cases; without a search for neighbours."""
        command = self._command(program, arguments, options)
        return run_program(new_cache(self.folder / "cache"), *command, **self.variables(**variables))

    def start(self, program: str, *arguments: str, options: tuple[str, ...] = ()) -> Run:
        """The same in a process of its own, which a thread of the test may wait for."""
        command = self._command(program, arguments, options)
        return start_triage(new_cache(self.folder / "cache"), "run", *command, **self.variables())

    def _command(self, program: str, arguments: tuple[str, ...], options: tuple[str, ...]) -> list[str]:
        command = [str(self.python), str(PROGRAMS / program), *arguments]
        return ["--no-suggest", "-o", str(self.captured), *options, "--", *command]

    def document(self, program: str, *arguments: str, options: tuple[str, ...] = ()) -> Any:
        """The document of a run."""
        done = self.run(program, *arguments, options=(*options, "--json"))
        assert done.err.splitlines()[-1] == f"triage: {self.captured / 'run.json'}", done.err
        return json.loads((self.captured / "run.json").read_text())

    def cases(self) -> list[Case]:
        """The captured cases, in the order in which each process has written its own."""
        folders = [path.parent for path in self.captured.glob("*/case.json")]
        return [
            documents.load(folder) for folder in sorted(folders, key=lambda folder: labels.numbers(folder.name) or ())
        ]


def signatures(folders: list[Case], toolchain: Toolchain) -> list[str]:
    """The signature, or another result, of each case compiled by itself."""
    found = []
    with Session(Options(python=str(toolchain.python), suggest=False, jobs=2)) as session:
        for answer in session.check_all(folders):
            if isinstance(answer, Exception):
                found.append(f"could not tell: {answer}")
            else:
                found.append(answer.diagnosis.signature if answer.diagnosis else "compiles")
    return found


Release = Callable[[str], Toolchain]


@pytest.fixture
def bench_of(tmp_path: Path, release: Release) -> Callable[[str], Bench]:
    """A bench with the interpreter of a release."""
    return lambda version: Bench(tmp_path, release(version).python)


@pytest.fixture
def bench(bench_of: Callable[[str], Bench]) -> Bench:
    """A bench with the newest."""
    return bench_of("newest")
