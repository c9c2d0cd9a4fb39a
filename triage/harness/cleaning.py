"""Removes files that triage has written to this machine.

Only names that follow triage's own patterns count, so no other file is lost where the cache is a folder of the user's;
links are not followed. While another triage runs, files used within a day stay: its reports may name them.
"""

import fcntl
import os
import re
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import ClassVar

from triage.filesystem import scratch
from triage.filesystem.cache import cache_root, is_at_work, is_trusted
from triage.filesystem.files import remove_tree
from triage.harness.store import Store
from triage.harness.toolchains import managed
from triage.model.document import Documented
from triage.model.errors import EnvironmentFault

_RECENT_S = 86400.0
"""Longer than a triage takes from a compile to the end of its report."""
_CASES = ("cases", "guarded", "slices")
_CASE = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"[0-9a-f]{20}")
_PARSED = re.compile(r"entries-[0-9a-f]{16}\.json")
_TOOLCHAIN = re.compile(r"\d[\w.+]*-py3\.\d+")


class Part(str, Enum):
    """A part of the files that can be removed separately."""

    OUTCOMES = "outcomes"
    CASES = "cases"
    SCRATCH = "scratch"
    TOOLCHAINS = "toolchains"


@dataclass(frozen=True, slots=True)
class CleanedPart(Documented):
    """What was removed of one part, or would be. ``in_use``: entries that stay because a process uses them, or may."""

    part: Part
    path: Path
    removed: int = 0
    size_bytes: int = 0
    in_use: int = 0


@dataclass(frozen=True, slots=True)
class Cleaning(Documented):
    """What was removed; with ``dry_run`` what would be. ``failed``: paths that could not be removed."""

    schema_name: ClassVar[str] = "triton-triage/clean/1"

    dry_run: bool
    parts: tuple[CleanedPart, ...]
    failed: tuple[Path, ...] = ()


def clean(parts: Collection[Part], older_than_s: float, dry_run: bool) -> Cleaning:
    """Remove what has not been used for ``older_than_s`` seconds and is not in use. Raises EnvironmentFault where the
    cache is not the user's own."""
    root = cache_root()
    if not is_trusted(root):
        raise EnvironmentFault(f"{root}: it is another user's, or others may write to it; nothing there is triage's")
    cleaner = _Cleaner(root, older_than_s, dry_run)
    methods = {
        Part.OUTCOMES: cleaner.outcomes,
        Part.CASES: cleaner.cases,
        Part.SCRATCH: cleaner.scratch,
        Part.TOOLCHAINS: cleaner.toolchains,
    }
    cleaned = tuple(method() for part, method in methods.items() if part in parts)
    return Cleaning(dry_run, cleaned, tuple(cleaner.failed))


class _Cleaner:
    def __init__(self, root: Path, older_than_s: float, dry_run: bool) -> None:
        self._root, self._older_than_s, self._dry_run = root, older_than_s, dry_run
        at_work = root.exists() and is_at_work(root)
        self._least_s = max(older_than_s, _RECENT_S) if at_work else older_than_s
        self.failed: list[Path] = []

    def outcomes(self) -> CleanedPart:
        folder = self._root / "outcomes"
        rows = size = in_use = 0
        caches = [*_entries(self._root / "library-keys", _KEY), *_entries(self._root / "knowledge", _PARSED)]
        stale = [path for path in caches if _age_s(path) >= self._least_s]
        if _is_own(folder) and any(folder.glob("outcomes-*.sqlite*")):
            outcomes = Store(folder)
            rows, size = outcomes.unused(self._least_s)
            in_use = outcomes.unused(self._older_than_s)[0] - rows
            stale += outcomes.unowned(self._least_s)
            if not self._dry_run:
                outcomes.forget_unused(self._least_s)
            outcomes.close()
        for path in stale:
            size += _size(path)
            self._remove(path)
        return CleanedPart(Part.OUTCOMES, folder, rows, size, in_use)

    def cases(self) -> CleanedPart:
        removed = size = in_use = 0
        for path in [path for folder in _CASES for path in _entries(self._root / folder, _CASE)]:
            age_s = _age_s(path)
            if age_s >= self._least_s:
                removed += 1
                size += _size(path)
                self._remove(path)
            elif age_s >= self._older_than_s:
                in_use += 1
        return CleanedPart(Part.CASES, self._root / "cases", removed, size, in_use)

    def scratch(self) -> CleanedPart:
        removed = size = 0
        for path in scratch.leftovers(self._older_than_s, retained=True):
            removed += 1
            size += _size(path)
            self._remove(path)
        return CleanedPart(Part.SCRATCH, scratch.root(), removed, size, scratch.held())

    def toolchains(self) -> CleanedPart:
        folder = self._root / "toolchains"
        removed = size = in_use = 0
        for path in _entries(folder, _TOOLCHAIN):
            if not path.is_dir() or _age_s(path / managed.MARKER) < self._older_than_s:
                continue
            try:
                with _locked(path):
                    own_size = _size(path)
                    if not self._dry_run:
                        managed.discard(path)
                        path.with_name(f"{path.name}.log").unlink(missing_ok=True)
                    removed += 1
                    size += own_size
            except BlockingIOError:
                in_use += 1
            except OSError:
                self.failed.append(path)
        return CleanedPart(Part.TOOLCHAINS, folder, removed, size, in_use)

    def _remove(self, path: Path) -> None:
        if not self._dry_run:
            remove_tree(path)
            if path.exists():
                self.failed.append(path)


def _entries(folder: Path, name: re.Pattern[str]) -> list[Path]:
    """Entries of a folder of triage's own whose names match, without links."""
    if not _is_own(folder):
        return []
    return [path for path in sorted(folder.iterdir()) if name.fullmatch(path.name) and not path.is_symlink()]


def _is_own(folder: Path) -> bool:
    try:
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def _age_s(path: Path) -> float:
    """Seconds since it was last used or changed; of a toolchain without a marker since a killed process created it."""
    for existing in (path, path.parent):
        with suppress(OSError):
            return time.time() - existing.lstat().st_mtime
    return 0.0


def _size(path: Path) -> int:
    files = [path] if not path.is_dir() else [Path(root) / name for root, _, names in os.walk(path) for name in names]
    size = 0
    for file in files:
        with suppress(OSError):
            size += file.lstat().st_size
    return size


@contextmanager
def _locked(toolchain: Path) -> Iterator[None]:
    """Hold the lock of a toolchain's builder. Raises BlockingIOError where a process builds it, or runs from it, and
    OSError."""
    descriptor = os.open(f"{toolchain}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _runs_from(toolchain):
            raise BlockingIOError
        yield
    finally:
        os.close(descriptor)


def _runs_from(toolchain: Path) -> bool:
    """Whether the command line of a process names a program of the toolchain, as that of every server does."""
    prefixes = {os.fsencode(path) + b"/" for path in (toolchain, toolchain.resolve())}
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit():
                command = (process / "cmdline").read_bytes()
                if any(prefix in command for prefix in prefixes):
                    return True
    return False
