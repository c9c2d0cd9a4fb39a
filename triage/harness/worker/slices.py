"""Modules of a slice: copies of the user's files in which other lines are blank.

They are compiled under the names of the files that they are copies of. So every text that names a line, of Python, of
Triton or of MLIR, names the user's, and what a module reads beside its file is read beside the user's."""

import json
import linecache
import sys
from contextlib import suppress
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, Optional

FILE = "slice.json"
SCHEMA = "triton-triage/slice/1"
_sources: Dict[str, str] = {}
"""The user's files by those of slices."""


def install(root: Path) -> None:
    """Import what lies below ``root`` so, if that is the top of a slice."""
    try:
        document = json.loads((root / FILE).read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            return
        sources = {str(root / name): str(source) for name, source in document["sources"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    _sources.update(sources)
    sys.path_hooks.insert(0, _hook(root))


def spec(name: str, path: Path) -> Optional[ModuleSpec]:
    """How to import a file under a name of its own."""
    loader = _Loader(name, str(path)) if str(path) in _sources else None
    return spec_from_file_location(name, str(path), loader=loader)


class _Loader(SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        return super().source_to_code(data, _sources.get(path, path), _optimize=_optimize)

    def exec_module(self, module: ModuleType) -> None:
        source = _sources.get(self.path)
        if source is not None:
            module.__file__ = source
            with suppress(ImportError, SyntaxError):  # What cannot be decoded fails below, as anywhere.
                text = self.get_source(self.name) or ""
                # Python does not compare an entry without a time with the disk, where the file may change meanwhile.
                linecache.cache[source] = (len(text), None, text.splitlines(True), source)
        super().exec_module(module)


def _hook(root: Path) -> Callable[[str], Any]:
    plain = FileFinder.path_hook((_Loader, [".py"]))

    def hook(folder: str) -> Any:
        if folder != str(root) and root not in Path(folder).parents:
            raise ImportError(folder)
        return plain(folder)

    return hook
