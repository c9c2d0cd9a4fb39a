"""The user's own files that a file imports, listed or written out in place of the import."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from triage.source.module import Edit, Module
from triage.source.package_copy import package

_FUTURE = re.compile(r"^from __future__ import .*\n?", re.MULTILINE)


def with_imports_inlined(text: str, path: Path) -> str:
    """The text of the file at ``path`` as one file; unchanged where it imports none of the user's own.

    The result may behave differently: modules that use one name for two things cannot share a file."""
    inliner = _Inliner(package(path)[0])
    inlined = inliner.inline(text, path.parent)
    if not inliner.done:
        return text
    future = dict.fromkeys(line.strip() for line in _FUTURE.findall(f"{text}\n{inlined}"))
    return "\n".join([*future, _FUTURE.sub("", inlined)])


def imported_files(path: Path) -> list[Path]:
    """The user's own files that a file imports, directly or not; they lie in its folder or below."""
    inliner = _Inliner(package(path)[0])
    inliner.inline(_read(path), path.parent)
    return sorted(inliner.done)


@dataclass(slots=True)
class _Inliner:
    """``root``: where absolute imports begin. ``done``: the files that are part of the text already."""

    root: Path
    done: set[Path] = field(default_factory=set)

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
                    if path := _file(self.root, name):
                        edits.append(module.replace(node, self._once(path)))
                        edits += self._unqualified(module, alias or name, path)
        return module.edited(edits) or text

    def _from(self, module: Module, node: ast.ImportFrom, folder: Path) -> list[Edit]:
        base = self.root if not node.level else [folder, *folder.parents][node.level - 1]
        path = _file(base, node.module) if node.module else None
        lines, edits = [], list[Edit]()
        for alias in node.names:
            inner = _file(base, f"{node.module}.{alias.name}" if node.module else alias.name)
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
        self.done.add(path)
        return self.inline(_read(path).strip("\n"), path.parent)

    def _unqualified(self, module: Module, name: str, path: Path) -> list[Edit]:
        """``name.function`` becomes ``function``; ``name.NUMBER`` becomes the number, as a kernel may read a global
        number of another module but not one of its own file."""
        imported = Module.parse(_read(path))
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


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _file(base: Path, name: str) -> Path | None:
    """The file of a dotted name below a folder: a module, or a package's ``__init__.py``."""
    path = base.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
