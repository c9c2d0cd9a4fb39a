"""The two ways to make an environment: uv where there is one, else Python's own venv with pip."""

import contextlib
import importlib
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from triage.harness.deadline import Deadline
from triage.harness.environment import installer_environment
from triage.harness.processes import kill_tree
from triage.harness.toolchains.failures import InstallFailure, Problem, diagnose, redact
from triage.model.releases import ReleaseRequest

# A quarter of a gigabyte over a slow line; beyond it something hangs.
LIMIT_S = 1800.0
_WATCH_S = 0.1


@dataclass(frozen=True, slots=True)
class Installer:
    """Builds commands. ``uv``: its command, empty when there is none and venv with pip is used."""

    uv: tuple[str, ...]

    def create(self, python: str, folder: Path) -> list[str]:
        """The command that creates an empty environment for ``python`` (a path; with uv also ``3.12``)."""
        if self.uv:
            return [*self.uv, "venv", "--no-project", "--python", python, str(folder)]
        return [python, "-m", "venv", str(folder)]

    def resolve(self, folder: Path, request: ReleaseRequest) -> list[str]:
        """The command that fails where :meth:`install` would find no such release, and installs nothing; empty with
        pip, of which not every version that venv brings can do that."""
        return [*self.install(folder, request), "--dry-run"] if self.uv else []

    def install(self, folder: Path, request: ReleaseRequest) -> list[str]:
        """The command that installs the requested release into ``folder``."""
        compiler = request.compiler
        python = str(folder / "bin/python")
        # A source distribution would be an hour's build of LLVM, or fail after minutes.
        packages = ["--only-binary", compiler.distribution, request.requirement, *compiler.beside]
        if self.uv:
            return [*self.uv, "pip", "install", "--python", python, *packages]
        quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
        return [python, "-m", "pip", "install", *quiet, *packages]


def find_installer() -> Installer:
    """uv on PATH, or as a package beside triage, or else pip."""
    if on_path := shutil.which("uv"):
        return Installer((on_path,))
    try:
        # The package only carries the program. `python -m uv` would need a PYTHONPATH that is not handed on.
        return Installer((str(importlib.import_module("uv").find_uv_bin()),))
    except (ImportError, AttributeError, OSError):
        return Installer(())


def run(command: list[str], request: ReleaseRequest, *, cwd: Path, log: Path, lock: int, deadline: Deadline) -> None:
    """Run one command to its end, keep its output in ``log``. Raises InstallFailure, and EnvironmentFault after
    ``deadline``.

    The command inherits ``lock``. When triage is killed, the lock stays taken until the installer that it left
    behind has ended too, so that no folder is rebuilt while an installer still writes to it.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=installer_environment(),
            pass_fds=(lock,),
            start_new_session=True,
        )
    except OSError as error:
        line = f"{command[0]} could not be started ({error.strerror})"
        raise InstallFailure(Problem.OTHER, line) from None
    try:
        raw = _output(process, deadline, request.compiler.title)
    except subprocess.TimeoutExpired:
        line = f"{Path(command[0]).name} did not end within {LIMIT_S / 60:.0f} minutes"
        raise InstallFailure(Problem.OTHER, line) from None
    finally:
        _kill(process)
    output = redact(raw.decode("utf-8", "replace"))
    # Held in memory and then written as far as possible: on a full disk the log is the first thing that is lost.
    with contextlib.suppress(OSError), log.open("a", encoding="utf-8") as file:
        file.write(f"$ {shlex.join(command)}\n{output}[exit {process.returncode}]\n")
    if process.returncode != 0:
        raise diagnose(output, request)


def _output(process: subprocess.Popen[bytes], deadline: Deadline, title: str) -> bytes:
    limit = time.monotonic() + LIMIT_S
    while True:
        # Another thread may move the deadline.
        try:
            return process.communicate(timeout=_WATCH_S)[0]
        except subprocess.TimeoutExpired:
            deadline.check(f"the installation of {title}")
            if time.monotonic() > limit:
                raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the installer and what it started, if it has not ended."""
    if process.poll() is None:
        kill_tree(process.pid)
        process.communicate()
