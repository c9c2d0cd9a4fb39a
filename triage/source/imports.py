"""The user's own files that a file imports, listed or written out in place of the import."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from triage.filesystem.files import MOST_SOURCE, LeavesFolder, read_file
from triage.model.case import Case, python_text
from triage.model.errors import InputError, unreadable
from triage.source.module import Edit, Module
from triage.source.package_copy import package

_MOST_BYTES = 64 << 20
"""Of all imported files together."""
_FUTURE = re.compile(r"^from __future__ import .*\n?", re.MULTILINE)


def with_imports_inlined(text: str, case: Case) -> str:
    """The text of the case's file as one file; unchanged where it imports none of the user's own.

    The result may behave differently: modules that use one name for two things cannot share a file. Raises InputError
    as ``imported_files``."""
    inliner = _Inliner.of(case)
    inlined = inliner.inline(text, case.location.parent)
    if not inliner.done:
        return text
    future = dict.fromkeys(line.strip() for line in _FUTURE.findall(f"{text}\n{inlined}"))
    return "\n".join([*future, _FUTURE.sub("", inlined)])


def imported_files(case: Case) -> dict[Path, bytes]:
    """The user's own files that the case's file imports, directly or not, and their contents; of a slice all of its
    other files, also those that make packages of its folders. Raises InputError where a link leads out of the case's
    boundary."""
    if (folder := _folder_of_slice(case)) is not None:
        return _sources(case, folder)
    inliner = _Inliner.of(case)
    try:
        inliner.inline(case.text(), case.location.parent)
    except OSError as error:
        raise unreadable(case.path, error) from None
    except RecursionError:
        raise InputError(f"{case.path}: its imports are nested too deep to be read") from None
    return dict(sorted(inliner.done.items()))


def _folder_of_slice(case: Case) -> Path | None:
    """The folder that holds nothing but a slice, in the cache or as the package of a case folder."""
    if case.slice is not None:
        return case.top
    root, chain = package(case)
    return root / chain[0] if case.is_sliced and len(chain) > 1 and root == case.top else None


def _sources(case: Case, folder: Path) -> dict[Path, bytes]:
    sources: dict[Path, bytes] = {}
    try:
        for path in sorted(path for path in folder.rglob("*.py") if path != case.location):
            sources[path] = read_file(path, case.top, MOST_SOURCE)
            _check_size(path, sources)
    except OSError as error:
        raise unreadable(case.path, error) from None
    return sources


def _check_size(path: Path, sources: dict[Path, bytes]) -> None:
    if sum(map(len, sources.values())) > _MOST_BYTES:
        raise InputError(f"{path}: with it, the imported sources have over {_MOST_BYTES >> 20} MiB")


@dataclass(slots=True)
class _Inliner:
    """``root``: where absolute imports begin. ``boundary``: other files are not the user's own. ``done``: the files
    that are part of the text already."""

    root: Path
    boundary: Path
    done: dict[Path, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case) -> _Inliner:
        return cls(package(case)[0], case.top)

    def inline(self, text: str, folder: Path) -> str:
        """The text of a file in ``folder`` with its imports of the user's own files written out."""
        module = Module.parse(text)
        if module is None:
            return text
        edits: list[Edit] = []
        for node in module.tree.body:
            match node:
                case ast.ImportFrom():
                    edits += self._from(module, node, folder)
                case ast.Import(names=[ast.alias(name=name, asname=alias)]):
                    if path := self._file(self.root, name):
                        edits.append(module.replace(node, self._once(path)))
                        edits += self._unqualified(module, alias or name, path)
        return module.edited(edits) or text

    def _from(self, module: Module, node: ast.ImportFrom, folder: Path) -> list[Edit]:
        base = self.root if not node.level else folder.joinpath(*[".."] * (node.level - 1))
        path = self._file(base, node.module) if node.module else None
        lines, edits = [], list[Edit]()
        for alias in node.names:
            inner = self._file(base, f"{node.module}.{alias.name}" if node.module else alias.name)
            if inner is not None:
                lines.append(self._once(inner))
                edits += self._unqualified(module, alias.asname or alias.name, inner)
            elif path is None:
                return []
            elif alias.asname:
                lines.append(f"{alias.asname} = {alias.name}")
        if path is not None:
            lines.insert(0, self._once(path))
        return [module.replace(node, "\n".join(line for line in lines if line)), *edits]

    def _once(self, path: Path) -> str:
        if path in self.done:
            return ""
        self.done[path] = self._read(path)
        _check_size(path, self.done)
        return self.inline(python_text(self.done[path]).strip("\n"), path.parent)

    def _unqualified(self, module: Module, name: str, path: Path) -> list[Edit]:
        """``name.function`` becomes ``function``; ``name.NUMBER`` becomes the number, as a kernel may read a global
        number of another module but not one of its own file."""
        imported = Module.parse(python_text(self._read(path)))
        numbers = {
            node.targets[0].id: ast.unparse(node.value)
            for node in (imported.tree.body if imported else [])
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        return [
            module.replace(node, numbers.get(node.attr, node.attr))
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == name
        ]

    def _read(self, path: Path) -> bytes:
        try:
            return read_file(path, self.boundary, MOST_SOURCE)
        except LeavesFolder as error:
            raise InputError(f"{path}: {error.strerror}") from None
        except OSError:
            return b""

    def _file(self, base: Path, name: str) -> Path | None:
        """The file of a dotted name below a folder: a module, or a package's ``__init__.py``."""
        path = Path(os.path.normpath(base.joinpath(*name.split("."))))
        # Relative imports may lead above the package, and those of a received folder that claims to be one above that.
        if not path.is_relative_to(self.root) or not path.is_relative_to(self.boundary):
            return None
        return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
