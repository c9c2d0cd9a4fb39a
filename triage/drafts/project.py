"""The Python files of a project, and what a name in one of them stands for."""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from triage.drafts.project_file import External, LocatedNode, ProjectFile, Scope
from triage.filesystem.files import ANYWHERE, MOST_SOURCE, read_file
from triage.model.errors import InputError, unreadable
from triage.source.module import called

MOST_BYTES = 256 << 20
"""Of all sources of a project; those of torch have 90 MB."""
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "build", "dist", "site-packages"})
"""Folders below the named one that hold no sources, copies of them, or those of other projects."""
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_MOST_STEPS = 8
"""Imports to follow from a name to its definition; packages re-export through two or three."""


class Project:
    """The files among which names are looked up: the package that a file belongs to, or a folder."""

    def __init__(self, files: Iterable[ProjectFile]) -> None:
        self.files = {file.path: file for file in files}
        self._by_stem: dict[str, list[ProjectFile]] = defaultdict(list)
        self._looked_up: dict[tuple[ProjectFile, str], list[LocatedNode] | External | None] = {}
        for path, file in self.files.items():
            self._by_stem[path.parent.name if path.stem == "__init__" else path.stem].append(file)

    @classmethod
    def around(cls, path: Path) -> Project:
        """The project of a file or a folder: the outermost package around it, or the folder itself."""
        folder = path if path.is_dir() else path.parent
        top = folder
        while (top / "__init__.py").is_file() and top.parent != top:
            top, below = top.parent, top
            folder = below
        # A file of no package may import what lies beside it.
        deep = path.is_dir() or (folder / "__init__.py").is_file()
        files = sources(folder) if deep else [*sorted(folder.glob("*.py"))]
        return cls(_read(files, path))

    @cached_property
    def _mentions(self) -> dict[bytes, list[ProjectFile]]:
        mentions: dict[bytes, list[ProjectFile]] = defaultdict(list)
        for file in self.files.values():
            for word in set(_IDENTIFIER.findall(file.data)):
                mentions[word].append(file)
        return mentions

    def mentioning(self, name: str) -> list[ProjectFile]:
        """The files in which a name stands."""
        return self._mentions.get(name.encode(), [])

    @cached_property
    def half(self) -> str:
        """The 16-bit float that the sources name most: what the project is made for, and tested with."""
        counts = {
            type_: sum(len(re.findall(rb"\b%s\b" % word, file.data)) for file in self.files.values())
            for type_, word in (("fp16", b"float16"), ("bf16", b"bfloat16"))
        }
        return max(counts, key=lambda type_: counts[type_])

    @cached_property
    def _calls(self) -> dict[str, list[tuple[Scope, ast.Call]]]:
        return {}

    def calls(self, name: str) -> list[tuple[Scope, ast.Call]]:
        """Calls of a function or a method of that name, by its last component, with the scope that they are in."""
        if name not in self._calls:
            self._calls[name] = [
                (scope, call)
                for file in self.mentioning(name)
                for scope in file.scopes
                for call in scope.calls
                if called(call) == name
            ]
        return self._calls[name]

    def lookup(self, file: ProjectFile, dotted: str, steps: int = _MOST_STEPS) -> list[LocatedNode] | External | None:
        """What a name that is read in a file stands for: definitions of the project, best last; something external;
        None for a name that the file does not bind."""
        key = (file, dotted)
        if key not in self._looked_up:
            self._looked_up[key] = self._lookup(file, dotted, steps)
        return self._looked_up[key]

    def _lookup(self, file: ProjectFile, dotted: str, steps: int) -> list[LocatedNode] | External | None:
        if steps == 0:
            return None
        first, _, rest = dotted.partition(".")
        if first in file.definitions:
            if not rest:
                return [LocatedNode(file, node) for node in file.definitions[first]]
            return None
        if first in file.imports:
            target = f"{file.imports[first]}.{rest}" if rest else file.imports[first]
            return self._imported(file, target, steps - 1)
        for module in file.star_imports:
            for source in self.modules(file, module):
                if result := self.lookup(source, dotted, steps - 1):
                    return result
        return None

    def _imported(self, file: ProjectFile, target: str, steps: int) -> list[LocatedNode] | External | None:
        for module, rest in _splits(target):
            for source in self.modules(file, module):
                if not rest:
                    return External(target)
                if source is not file and (result := self.lookup(source, rest, steps)):
                    return result
        return External(target.lstrip("."))

    def modules(self, file: ProjectFile, dotted: str) -> Iterator[ProjectFile]:
        """Files that an import in ``file`` may mean; of those with a common end of their name, the nearest."""
        if dotted.startswith("."):
            name = dotted.lstrip(".")
            base = file.path.parent.joinpath(*[".."] * (len(dotted) - len(name) - 1), *name.split("."))
            path = Path(os.path.normpath(base))
            candidates = (path.with_name(f"{path.name}.py"), path / "__init__.py")
            yield from (self.files[each] for each in candidates if each in self.files)
            return
        parts = dotted.split(".")
        matching = [source for source in self._by_stem.get(parts[-1], []) if source.module[-len(parts) :] == parts]
        # Only what is imported from the top of this project: another project may have a module of the same end.
        yield from sorted(matching, key=lambda source: -_common(source.module, file.module))


def sources(folder: Path) -> list[Path]:
    """The Python files below a folder, sorted; folders that Python does not import from are left out, and case folders,
    which hold copies."""
    files: list[Path] = []
    for root, names, leaves in os.walk(folder):
        if "case.json" in leaves and Path(root) != folder:
            names.clear()
            continue
        names[:] = sorted(name for name in names if name not in _LEFT_OUT and not name.startswith("."))
        files += [Path(root, leaf) for leaf in sorted(leaves) if leaf.endswith(".py")]
    return files


def _read(files: Iterable[Path], named: Path) -> Iterator[ProjectFile]:
    total = 0
    for path in files:
        try:
            data = read_file(path, ANYWHERE, MOST_SOURCE)
        except OSError as error:
            if path == named:
                raise unreadable(path, error) from None
            continue  # Others' faults are none of the named file.
        total += len(data)
        if total > MOST_BYTES:
            raise InputError(f"{named}: over {MOST_BYTES >> 20} MiB of Python sources; name a folder in it")
        yield ProjectFile(path, data)


def _splits(dotted: str) -> Iterator[tuple[str, str]]:
    """Ways to part ``a.b.c`` into a module and a name in it, the longest module first."""
    dots = len(dotted) - len(dotted.lstrip("."))
    parts = dotted[dots:].split(".")
    for count in range(len(parts), 0, -1):
        yield "." * dots + ".".join(parts[:count]), ".".join(parts[count:])
    if dots:
        yield "." * dots, ".".join(parts)


def _common(left: list[str], right: list[str]) -> int:
    return next((index for index, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), len(left))
