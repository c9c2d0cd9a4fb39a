"""Cache of Triton's hash of its own files, by toolchain: a process that receives it starts half a second sooner."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from triage.files import replace_file
from triage.harness.toolchains import Toolchain, cache_root


class LibraryKeys:
    """One small file per toolchain, named by its identity, which changes with every file that Triton hashes. Faults of
    the disk cost time and nothing else."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_root() / "library-keys"
        self._known: dict[str, str] = {}

    def get(self, toolchain: Toolchain) -> str | None:
        """The key, if a process has computed it before."""
        name = toolchain.identity
        if name not in self._known:
            with suppress(OSError, UnicodeDecodeError):
                self._known[name] = (self._folder / name).read_text(encoding="ascii")
        return self._known.get(name) or None

    def put(self, toolchain: Toolchain, key: str) -> None:
        """Remember what a process of that toolchain computed."""
        name = toolchain.identity
        if self._known.get(name) == key:
            return
        self._known[name] = key
        with suppress(OSError):
            replace_file(self._folder / name, key)
