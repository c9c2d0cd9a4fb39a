"""Managed environments on disk.

    <cache>/toolchains/3.2.0-py3.11/                         the environment
    <cache>/toolchains/3.2.0-py3.11/triage-toolchain.json    the marker, written last: the environment is complete
    <cache>/toolchains/3.2.0-py3.11.lock                     held while the environment is built
    <cache>/toolchains/3.2.0-py3.11.log                      what the installer printed

An environment is built where it will stay, since its scripts hold absolute paths, and counts only once its
marker exists. Whoever holds the lock and sees a folder without a marker knows that its builder died, and
removes it. Readers need no lock.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from triage.filesystem.cache import is_trusted
from triage.filesystem.files import replace_file
from triage.harness.deadline import Deadline
from triage.harness.toolchains.model import Toolchain, fingerprint, libraries
from triage.model.compilers import COMPILERS, TRITON, Compiler
from triage.model.document import Doc, Documented, Internal
from triage.model.errors import EnvironmentFault, InputError

MARKER = "triage-toolchain.json"

# As long as the installer that holds the lock may take, and its predecessor's orphan before it.
_LOCK_LIMIT_S = 3600.0
_LOCK_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class ManagedEnvironment(Documented):
    """A complete environment; its marker is the document.

    ``release``: of the compiler (in the marker, whose name is older than the second compiler, ``triton``).
    ``package``: the folder of its module, below ``folder``. ``stands_in_for``: the Python series that have no wheel for
    this release, as was observed when the environment was built.
    """

    schema_name: ClassVar[str] = "triton-triage/toolchain/1"

    release: Annotated[str, Doc(name="triton")]
    python_version: str
    package: Path
    stands_in_for: tuple[str, ...]
    compiler_name: Annotated[str, Doc(name="compiler", optional=True)] = TRITON.name
    folder: Internal[Path] = Path()

    @property
    def compiler(self) -> Compiler:
        """What it has."""
        return COMPILERS[self.compiler_name]

    def serves(self, series: str) -> bool:
        """Whether a triage that runs on Python ``series`` uses this environment."""
        return self.python_version.startswith(f"{series}.") or series in self.stands_in_for

    def toolchain(self) -> Toolchain | None:
        """The environment as a toolchain; None when its interpreter or its compiler no longer exists."""
        python, package = self.folder / "bin/python", self.folder / self.package
        if not os.access(python, os.X_OK) or not libraries(package, self.compiler):
            return None
        try:
            identity = fingerprint(package, self.compiler, release=self.release, python_version=self.python_version)
        except OSError:
            return None
        return Toolchain(python, self.release, self.python_version, True, identity, package, self.compiler)

    def touch(self) -> None:
        """Record that it is used: ``triage clean`` may ask how long it has not been."""
        with suppress(OSError):
            os.utime(self.folder / MARKER)

    def write(self) -> None:
        """Declare the environment complete; atomic. Raises OSError."""
        replace_file(self.folder / MARKER, json.dumps(self.to_json(), indent=1) + "\n")


def read(folder: Path) -> ManagedEnvironment | None:
    """The environment in ``folder``; None unless its marker exists and is valid."""
    try:
        document = json.loads((folder / MARKER).read_text("utf-8"))
        environment = replace(ManagedEnvironment.from_json(document), folder=folder)
    except (OSError, ValueError, InputError):
        return None
    return environment if environment.compiler_name in COMPILERS else None


def read_all(root: Path) -> list[ManagedEnvironment]:
    """Every complete environment below ``root``; none where others could have put an interpreter there."""
    if not (is_trusted(root.parent) and is_trusted(root)):
        return []
    return [environment for marker in sorted(root.glob(f"*/{MARKER}")) if (environment := read(marker.parent))]


def discard(folder: Path) -> None:
    """Remove ``folder``, the marker first, so that a rest of it never counts as complete. Raises OSError."""
    (folder / MARKER).unlink(missing_ok=True)
    if folder.exists():
        shutil.rmtree(folder)


@contextmanager
def locked(folder: Path, waiting: Callable[[], None], deadline: Deadline) -> Iterator[int]:
    """Hold the lock beside ``folder``; yields its descriptor, which a child may inherit to hold it as well.

    ``waiting`` is called once when another process holds it. Raises EnvironmentFault when that takes an hour or
    until ``deadline``, and OSError when the file cannot be made or the file system has no locks.
    """
    descriptor = os.open(f"{folder}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _acquire(descriptor, folder, waiting, deadline)
        # Closing releases the lock, unless an installer still holds it. The file stays: removing it would let
        # two others lock two different files of the same name.
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, folder: Path, waiting: Callable[[], None], deadline: Deadline) -> None:
    limit = time.monotonic() + _LOCK_LIMIT_S
    notified = False
    while True:
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not notified:
            waiting()
            notified = True
        deadline.check(f"waiting for {folder}")
        if time.monotonic() > limit:
            raise EnvironmentFault(
                f"another process has been making {folder} for {_LOCK_LIMIT_S / 60:.0f} minutes; "
                f"end it (`fuser {folder}.lock` names it) and try again"
            )
        time.sleep(_LOCK_POLL_S)
