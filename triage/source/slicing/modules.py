"""Which modules are the user's own, and in which files they lie: as Python's import would find them."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from triage.source.slicing.files import ParsedFile

_NEVER_OWN = sys.stdlib_module_names | {"triton", "torch"}
"""Packages that a folder of the user's may be named after, and that no import finds there."""
_PROJECT = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_SOURCES = ("", "src", "python")
"""Folders of a checkout that packages lie in."""
_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<name>[\w.]*)|import[ \t]+(?P<module>[\w.]+))", re.MULTILINE
)
"""Imports in a text, inside functions too; a syntax tree takes 100 times as long to search."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True)
class OwnModule:
    """A module of the user's. ``file``: None for a folder without ``__init__.py``. ``relative``: where it lies in a
    slice; of a package, the folder."""

    name: str
    file: Path | None
    relative: Path
    is_package: bool

    @property
    def path(self) -> Path:
        """The path of its file in a slice."""
        inside, beside = self.relative / "__init__.py", self.relative.with_name(f"{self.relative.name}.py")
        return inside if self.is_package else beside

    def absolute(self, node: ast.ImportFrom) -> str:
        """The name of the module that a statement in this one imports from; "" where it leads above the top."""
        if not node.level:
            return node.module or ""
        steps = self.name.split(".")
        package = steps if self.is_package else steps[:-1]
        if node.level > len(package):
            return ""
        return ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])


@dataclass(slots=True)
class ImportRoots:
    """Folders that imports begin at, first to last. ``package``: of folders of installed packages, the only one that
    is the user's."""

    folders: tuple[Path, ...]
    package: str
    known: dict[str, OwnModule | None] = field(default_factory=dict)

    @classmethod
    def of(cls, source: ParsedFile, path: Path) -> tuple[ImportRoots, OwnModule]:
        """The roots for what a file imports, and the file as a module. ``path``: absolute."""
        root = _root(source, path)
        parts = path.relative_to(root).with_suffix("").parts
        own = OwnModule(".".join(parts), path, path.relative_to(root).with_suffix(""), is_package=False)
        if path.name == "__init__.py" and len(parts) > 1:
            own = OwnModule(".".join(parts[:-1]), path, path.parent.relative_to(root), is_package=True)
        others = [path.parent, *_search_path(), *_checkout(path)]
        return cls(tuple(dict.fromkeys([root, *others])), parts[0]), own

    def module(self, name: str) -> OwnModule | None:
        """The user's module of that dotted name; None where it is not the user's."""
        if name not in self.known:
            self.known[name] = self._find(name)
        return self.known[name]

    def _find(self, name: str) -> OwnModule | None:
        steps = name.split(".")
        if not all(steps) or (steps[0] in _NEVER_OWN and steps[0] != self.package):
            return None
        for root in self.folders:
            if root.name in _INSTALLED and steps[0] != self.package:
                continue
            path, relative = root.joinpath(*steps), Path(*steps)
            if (file := path / "__init__.py").is_file():
                return OwnModule(name, file, relative, is_package=True)
            if (file := path.with_name(f"{path.name}.py")).is_file():
                return OwnModule(name, file, relative, is_package=False)
        # Folders without __init__.py count last, whatever the order of the roots, and only on the way to the file.
        if steps[0] == self.package and self.folders[0].joinpath(*steps).is_dir():
            return OwnModule(name, None, Path(*steps), is_package=True)
        return None


def _root(source: ParsedFile, path: Path) -> Path:
    """The folder that the name of a file's module begins below: above its packages, and above the folders without
    ``__init__.py`` that its own imports name."""
    root = path.parent
    while (root / "__init__.py").is_file() and root.parent != root:
        root = root.parent
    return [root, *_above(source, path, root)][-1]


def _above(source: ParsedFile, path: Path, root: Path) -> Iterator[Path]:
    """Folders at or above ``root`` below which the file's own imports find a file, the nearest first."""
    imports = [(match["dots"] or "", match["name"] or match["module"]) for match in _IMPORTS.finditer(source.text)]
    if levels := max((len(dots) for dots, _ in imports), default=0):
        # ``from . import x`` makes the folder a package.
        folder = path.parents[min(levels, len(path.parents) - 1)]
        if root.is_relative_to(folder):
            yield folder
    names = {tuple(name.split(".")) for dots, name in imports if name and not dots}
    for folder in path.parents:
        below = path.relative_to(folder).parts
        may_begin = len(below) > 1 and root.is_relative_to(folder) and below[0] not in _NEVER_OWN
        if may_begin and any(steps[0] == below[0] and _is_module(folder, steps) for steps in names):
            yield folder


def _is_module(folder: Path, steps: tuple[str, ...]) -> bool:
    """Whether there is a file for a module, or, of one inside a package, a folder."""
    path = folder.joinpath(*steps)
    is_folder = path.is_dir() if len(steps) > 1 else (path / "__init__.py").is_file()
    return is_folder or path.with_name(f"{path.name}.py").is_file()


def _search_path() -> list[Path]:
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [Path(entry).absolute() for entry in entries if entry]


def _checkout(path: Path) -> list[Path]:
    """The folders of the file's checkout that packages lie in; none where it is in no checkout."""
    top = next((folder for folder in path.parents if any((folder / name).exists() for name in _PROJECT)), None)
    return [folder for name in _SOURCES if (folder := top / name).is_dir()] if top is not None else []
