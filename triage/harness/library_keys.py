"""Cache of Triton's hash of its own files, by toolchain: a process that receives it starts half a second sooner."""

from contextlib import suppress

from triage.filesystem.cache import cache_folder
from triage.filesystem.files import replace_file
from triage.harness.toolchains import Toolchain


class LibraryKeys:
    """One small file per toolchain, named by its identity, which changes with every file that Triton hashes. Faults of
    the disk cost time and nothing else."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def get(self, toolchain: Toolchain) -> str | None:
        """The key, if a process has computed it before."""
        name = toolchain.identity
        if name not in self._known:
            with suppress(OSError, UnicodeDecodeError):
                self._known[name] = (cache_folder("library-keys") / name).read_text(encoding="ascii")
        return self._known.get(name) or None

    def put(self, toolchain: Toolchain, key: str) -> None:
        """Remember what a process of that toolchain computed."""
        name = toolchain.identity
        if self._known.get(name) == key:
            return
        self._known[name] = key
        with suppress(OSError):
            replace_file(cache_folder("library-keys") / name, key)
