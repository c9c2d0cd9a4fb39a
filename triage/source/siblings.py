"""What a kernel's file imports from the user's other files, written out in its place."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from triage.minimize.specimen import Specimen
from triage.source.module import Edit, Module
from triage.source.package_copy import package

_FUTURE = re.compile(r"^from __future__ import .*\n?", re.MULTILINE)


def with_siblings(specimen: Specimen) -> Specimen:
    """The text as one file; unchanged where it imports none of the user's own. Whether it still fails alike is for the
    oracle to say: modules that use one name for two things cannot share a file."""
    root, _ = package(specimen.case.path)
    files = _Files(root)
    text = files.joined(specimen.text, specimen.case.path.parent)
    if not files.done:
        return specimen
    future = dict.fromkeys(line.strip() for line in _FUTURE.findall("\n".join([specimen.text, text])))
    return Specimen("\n".join([*future, _FUTURE.sub("", text)]), specimen.case, specimen.loose)


def imported(path: Path) -> list[Path]:
    """The user's own files that a file imports, directly or not; they lie in its folder or below."""
    files = _Files(package(path)[0])
    files.joined(_read(path), path.parent)
    return sorted(files.done)


@dataclass(slots=True)
class _Files:
    """``root``: where absolute imports begin. ``done``: the files that stand in the text already."""

    root: Path
    done: set[Path] = field(default_factory=set)

    def joined(self, text: str, folder: Path) -> str:
        """The text of a file in ``folder`` with its imports of the user's own files written out."""
        module = Module.parse(text)
        if module is None:
            return text
        edits: list[Edit] = []
        for node in module.tree.body:
            match node:
                case ast.ImportFrom():
                    edits += self._from(module, node, folder)
                case ast.Import(names=[ast.alias(name=name, asname=asname)]):
                    if path := _file(self.root, name):
                        edits.append(module.replace(node, self._once(path)))
                        edits += self._bare(module, asname or name, path)
        return module.edited(edits) or text

    def _from(self, module: Module, node: ast.ImportFrom, folder: Path) -> list[Edit]:
        base = self.root if not node.level else [folder, *folder.parents][node.level - 1]
        path = _file(base, node.module) if node.module else None
        lines, edits = [], list[Edit]()
        for alias in node.names:
            inner = _file(base, f"{node.module}.{alias.name}" if node.module else alias.name)
            if inner is not None:
                lines.append(self._once(inner))
                edits += self._bare(module, alias.asname or alias.name, inner)
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
        return self.joined(_read(path).strip("\n"), path.parent)

    def _bare(self, module: Module, held: str, path: Path) -> list[Edit]:
        """``module.function`` is ``function`` now; ``module.NUMBER`` is the number, as a kernel may read a module's
        numbers, but none of its own file's."""
        other = Module.parse(_read(path))
        numbers = {
            node.targets[0].id: ast.unparse(node.value)
            for node in (other.tree.body if other else [])
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        return [
            module.replace(node, numbers.get(node.attr, node.attr))
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == held
        ]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _file(base: Path, name: str) -> Path | None:
    """The file that a dotted name below a folder is: a module, or the first file of a package."""
    place = base.joinpath(*name.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
