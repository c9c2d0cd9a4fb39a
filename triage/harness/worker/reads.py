"""Records what a module reads while it is imported: a stored outcome holds as long as that is unchanged.

Python's audit events tell of every file that Python code opens; a file that is not there counts as well, since it may
be there the next time. Environment variables have no such event, so their mapping is watched.
"""

import hashlib
import os
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List, Optional, Set

_MOST = 20000
"""Files and names; torch with everything around it opens 3,000. A module that reads more is not remembered."""
_IGNORED = ("/proc/", "/sys/", "/dev/")
"""What the machine says of itself; random numbers."""
_COMPILED = (".pyc", ".pyo")
_INSTALLED = ("site-packages", "dist-packages")
"""Below the folder of Python's own modules."""
_WRITES = os.O_WRONLY | os.O_RDWR

_recording: Optional["Reads"] = None
_is_hooked = False


class Reads:
    """What was read between :meth:`begin` and :meth:`end`."""

    def __init__(self) -> None:
        self._began = 0.0
        self._paths: Set[str] = set()
        self._modules: Set[str] = set()
        self._environment: Dict[str, str] = {}
        self._variables: Dict[str, Optional[str]] = {}
        self._is_relative = False

    def begin(self) -> None:
        """Record from now on."""
        global _recording, _is_hooked  # noqa: PLW0603 - a hook cannot be removed
        if not _is_hooked:
            sys.addaudithook(_hear)
            _watch_variables()
            _is_hooked = True
        self._began = time.time()
        self._environment = dict(os.environ)
        _recording = self

    def end(self, path: Path) -> Optional[Dict[str, Any]]:
        """What was read, beside the file ``path`` itself; None where that is too much, or cannot be told. Files are
        given by size, times of their last change and inode, absent ones by None; variables by a hash of their value."""
        global _recording  # noqa: PLW0603
        _recording = None
        try:
            paths = {str(path)} | self._paths | _loaded() | self._absent_modules()
            if len(paths) + len(self._variables) > _MOST:
                return None
            return {
                "began": self._began,
                "folder": os.getcwd() if self._is_relative else None,
                "files": {path: _facts(path) for path in paths if not _is_ignored(path)},
                "variables": {name: value and fingerprint(value) for name, value in self._variables.items()},
            }
        except Exception:  # what the module has put into the standard library raises anything
            return None

    def opened(self, path: Any, flags: Any) -> None:
        """A file is about to be opened."""
        if isinstance(path, (str, bytes, os.PathLike)) and not (isinstance(flags, int) and flags & _WRITES):
            text = os.fsdecode(path)
            self._is_relative = self._is_relative or not os.path.isabs(text)
            self._paths.add(os.path.abspath(text))

    def imported(self, name: Any) -> None:
        """A module is being looked for."""
        if isinstance(name, str):
            self._modules.add(name)

    def looked_up(self, name: Any) -> None:
        """An environment variable was read, set or not. What the module itself has set it to is no input of it."""
        if isinstance(name, str):
            self._variables[name] = self._environment.get(name)

    def _absent_modules(self) -> Set[str]:
        """Paths under which the modules would be that were looked for and not found."""
        paths = set()
        for name in self._modules - set(sys.modules):
            parent, _, last = name.rpartition(".")
            folders = getattr(sys.modules.get(parent), "__path__", []) if parent else sys.path
            for folder in list(folders):
                if isinstance(folder, str) and os.path.isdir(folder):
                    paths |= {os.path.join(folder, last), os.path.join(folder, last + ".py")}
        return {path for path in paths if not os.path.exists(path)}


def fingerprint(value: str) -> str:
    """What is stored in place of a variable's value, which may be a secret."""
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _hear(event: str, arguments: Any) -> None:
    recording = _recording
    if recording is not None and event in ("open", "import"):
        try:
            if event == "open":
                recording.opened(arguments[0], arguments[2])
            else:
                recording.imported(arguments[0])
        except Exception:  # the event is somebody else's call, which must go on
            return


def _watch_variables() -> None:
    kind = type(os.environ)
    plain = kind.__getitem__

    def read(mapping: Any, name: Any) -> Any:
        recording = _recording
        if recording is not None:
            recording.looked_up(name)
        return plain(mapping, name)

    kind.__getitem__ = read  # type: ignore[method-assign]


def _loaded() -> Set[str]:
    """Files of the modules that are imported."""
    files = set()
    for module in list(sys.modules.values()):
        # Anything may stand there, and may do anything when its attributes are read.
        names = vars(module) if issubclass(type(module), ModuleType) else {}
        spec = names.get("__spec__")
        # A module of a slice has the name of another file.
        file = spec.origin if type(spec) is ModuleSpec and spec.has_location else names.get("__file__")
        if isinstance(file, str):
            files.add(os.path.abspath(file))
    return files


def _is_ignored(path: str) -> bool:
    """Whether the toolchain stands for the file (Python's own, Triton's, the worker's), or it is none of anybody."""
    if path.startswith(_IGNORED) or path.endswith(_COMPILED):
        return True
    for module in ("os", "triton", __name__):
        file = getattr(sys.modules.get(module), "__file__", None)
        folder = os.path.join(os.path.dirname(file), "") if file else None
        if folder and path.startswith(folder):
            return not any(name in path[len(folder) :] for name in _INSTALLED)
    return False


def _facts(path: str) -> Optional[List[int]]:
    try:
        facts = os.stat(path)
    except (OSError, ValueError):
        return None
    return [facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_ctime_ns]
