"""Creates one managed environment: under its lock, completely or not at all."""

import contextlib
import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from triage.filesystem.cache import own_folder, own_root
from triage.harness.deadline import Deadline
from triage.harness.toolchains import managed
from triage.harness.toolchains.failures import InstallFailure, Problem
from triage.harness.toolchains.installers import Installer, run
from triage.harness.toolchains.managed import ManagedEnvironment
from triage.harness.toolchains.model import Toolchain
from triage.harness.toolchains.probe import NotPython, probe
from triage.model.releases import ReleaseRequest

_STORAGE_PROBLEMS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), Problem.DISK_FULL),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENOENT), Problem.NOT_WRITABLE
    ),
}


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """An environment to create. ``stands_in_for``: the Python series tried before, which have no wheel."""

    request: ReleaseRequest
    installer: Installer
    python: str
    folder: Path
    stands_in_for: tuple[str, ...]
    deadline: Deadline

    @property
    def log(self) -> Path:
        """Where the installer's output goes; beside the folder, so that it outlives a failure."""
        return self.folder.with_name(f"{self.folder.name}.log")


def make(
    plan: InstallPlan, *, found_meanwhile: Callable[[], Toolchain | None], progress: Callable[[str], None]
) -> Toolchain:
    """Carry out ``plan``, unless another process has done so while this one waited for the lock.

    Raises InstallFailure with nothing left in the folder, and EnvironmentFault when the lock is never free.
    """

    def waiting() -> None:
        progress(f"waiting for another process to make {plan.folder}")

    try:
        own_root(plan.folder.parent.parent)
        own_folder(plan.folder.parent)
        with managed.locked(plan.folder, waiting, plan.deadline) as lock:
            toolchain = found_meanwhile() or _made_for_another_python(plan)
            if toolchain is not None:
                return toolchain
            try:
                return _build(plan, lock, progress)
            except BaseException:
                with contextlib.suppress(OSError):
                    managed.discard(plan.folder)
                raise
    except OSError as error:
        problem = _STORAGE_PROBLEMS.get(error.errno or 0, Problem.OTHER)
        raise InstallFailure(problem, str(error)) from None


def _made_for_another_python(plan: InstallPlan) -> Toolchain | None:
    """A complete environment in the same folder, marked to serve this triage's Python as well."""
    existing = managed.read(plan.folder)
    if existing is None or not plan.request.accepts(existing.release) or (toolchain := existing.toolchain()) is None:
        return None
    replace(existing, stands_in_for=tuple(sorted({*existing.stands_in_for, *plan.stands_in_for}))).write()
    return toolchain


def _build(plan: InstallPlan, lock: int, progress: Callable[[str], None]) -> Toolchain:
    """Create the environment; the caller holds the lock, and removes the folder after an exception."""
    # It has no marker, or a wrong one: its builder was killed, or it was changed afterwards.
    managed.discard(plan.folder)
    plan.log.unlink(missing_ok=True)
    installer, request, folder = plan.installer, plan.request, plan.folder

    def run_all(*commands: list[str]) -> None:
        for command in filter(None, commands):
            run(command, request, cwd=folder.parent, log=plan.log, lock=lock, deadline=plan.deadline)

    # That there is no such release is known before anything is said to be made.
    run_all(installer.create(plan.python, folder), installer.resolve(folder, request))
    progress(f"making an environment with {request.compiler.title} {request.text} in {folder}, once")
    run_all(installer.install(folder, request))
    compiler = plan.request.compiler
    try:
        probed = probe(plan.folder / "bin/python", compiler)
    except NotPython as error:
        raise InstallFailure(Problem.OTHER, f"the new interpreter does not start ({error})") from None
    if probed.package is None or probed.release is None or not plan.request.accepts(probed.release):
        # A package elsewhere that shadows the new one, or an index that answers with something else.
        raise InstallFailure(Problem.OTHER, f"the installer brought {probed.release or f'no {compiler.title}'} instead")
    package = Path(os.path.relpath(probed.package, plan.folder))
    environment = ManagedEnvironment(
        probed.release, probed.python_version, package, plan.stands_in_for, compiler.name, plan.folder
    )
    toolchain = environment.toolchain()
    if toolchain is None:
        raise InstallFailure(Problem.OTHER, f"the installed {compiler.title} has no compiled library")
    environment.write()
    return toolchain
