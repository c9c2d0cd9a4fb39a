"""The Python files of a project, parsed once each: what they define, import and call, and what a name stands for.

A file is parsed when a name in it is asked for, so that of a large package only the part that concerns a kernel is.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from triage.filesystem.files import ANYWHERE, MOST_SOURCE, read_file
from triage.model.case import python_text
from triage.model.errors import InputError, unreadable
from triage.source.module import Module, called

MOST_BYTES = 256 << 20
"""Of all sources of a project; those of torch have 90 MB."""
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "build", "dist", "site-packages"})
"""Folders below the named one that hold no sources, copies of them, or those of other projects."""
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_MOST_STEPS = 8
"""Imports to follow from a name to its definition; packages re-export through two or three."""

Block = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


@dataclass(eq=False)
class Scope:
    """A function, with the class and the function that it is defined in; or a file's own statements (a Module).

    ``calls``: those in it, not in functions that it defines.
    """

    file: ProjectFile
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
    outer: Scope | None = None
    owner: ast.ClassDef | None = None
    calls: list[ast.Call] = field(default_factory=list)

    @cached_property
    def statements(self) -> int:
        """How many statements it has, with those in others."""
        return sum(1 for node in ast.walk(self.node) if isinstance(node, ast.stmt))

    @cached_property
    def attributes(self) -> list[ast.Attribute]:
        """All attributes that it names, such as ``x.shape``."""
        return [node for node in ast.walk(self.node) if isinstance(node, ast.Attribute)]

    @cached_property
    def last_strides(self) -> dict[str, int]:
        """The last dimension of each tensor whose stride it asks for."""
        last: dict[str, int] = {}
        for call in self.calls:
            match call:
                case ast.Call(func=ast.Attribute(value=value, attr="stride"), args=[ast.Constant(value=int(index))]):
                    name = ast.unparse(value)
                    last[name] = max(last.get(name, 0), index)
        return last

    @cached_property
    def stored(self) -> set[str]:
        """The attributes that it assigns to, of whatever object."""
        return {node.attr for node in self.attributes if isinstance(node.ctx, ast.Store)}

    @property
    def name(self) -> str:
        return "" if isinstance(self.node, ast.Module) else self.node.name

    @property
    def top_level(self) -> bool:
        """Whether a name of the file stands for it."""
        return self.owner is None and self.outer is not None and isinstance(self.outer.node, ast.Module)


@dataclass(frozen=True, slots=True)
class External:
    """Something of another project, by its dotted name: ``torch.empty``."""

    name: str


Definition = Scope | ast.ClassDef | ast.expr
"""What a name is bound to: a function, a class, the value of an assignment."""


@dataclass(frozen=True, eq=False, slots=True)
class LocatedNode:
    """A definition, and the file that it is in."""

    file: ProjectFile
    node: Definition


@dataclass(eq=False)
class ProjectFile:
    """One file. What does not parse has no definitions."""

    path: Path
    data: bytes

    @cached_property
    def text(self) -> str:
        return python_text(self.data)

    @cached_property
    def tree(self) -> ast.Module:
        module = Module.parse(self.text)
        return module.tree if module else ast.Module([], [])

    @cached_property
    def problem(self) -> str | None:
        """The line, and why Python cannot parse it; None for a file that it can."""
        if self.tree.body:
            return None
        try:
            ast.parse(self.text)
        except SyntaxError as error:
            return f"{error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"1: {error}"
        return None

    @cached_property
    def _parts(self) -> _Parts:
        return _Parts(self)

    @cached_property
    def module(self) -> list[str]:
        """The parts of the path as those of a module."""
        parts = list(self.path.with_suffix("").parts)
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def scopes(self) -> list[Scope]:
        """The file's own statements, and each function in it."""
        return self._parts.scopes

    @property
    def definitions(self) -> dict[str, list[Definition]]:
        """Functions, classes and assignments of the file, also those below ``if`` and ``try``, in the file's order."""
        return self._parts.definitions

    @property
    def imports(self) -> dict[str, str]:
        """Local names to dotted names, those of imports in functions too. Relative ones begin with a dot."""
        return self._parts.imports

    @property
    def star_imports(self) -> list[str]:
        return self._parts.star_imports


class _Parts:
    """One walk over a file."""

    def __init__(self, file: ProjectFile) -> None:
        self.scopes: list[Scope] = []
        self.definitions: dict[str, list[Definition]] = {}
        self.imports: dict[str, str] = {}
        self.star_imports: list[str] = []
        top = Scope(file, file.tree)
        self.scopes.append(top)
        # A stack, as sources may nest deeper than Python recurses.
        waiting: list[tuple[ast.AST, Scope, ast.ClassDef | None]] = [(node, top, None) for node in file.tree.body[::-1]]
        while waiting:
            node, scope, owner = waiting.pop()
            inner, inner_owner = scope, owner
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    inner, inner_owner = Scope(file, node, scope, owner), None
                    self.scopes.append(inner)
                    if scope is top and owner is None:
                        self.definitions.setdefault(node.name, []).append(inner)
                case ast.ClassDef():
                    if scope is top and owner is None:
                        self.definitions.setdefault(node.name, []).append(node)
                    inner_owner = node
                case ast.Assign(targets=targets, value=value) if scope is top and owner is None:
                    for target in targets:
                        self._assigned(target, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if scope is top and not owner:
                    self.definitions.setdefault(name, []).append(value)
                case ast.Import(names=names):
                    for alias in names:
                        bound = alias.asname or alias.name.partition(".")[0]
                        self.imports.setdefault(bound, alias.name if alias.asname else bound)
                case ast.ImportFrom(module=module, names=names, level=level):
                    base = "." * level + (module or "")
                    for alias in names:
                        if alias.name == "*":
                            self.star_imports.append(base)
                        else:
                            dot = "" if base.endswith(".") else "."
                            self.imports.setdefault(alias.asname or alias.name, f"{base}{dot}{alias.name}")
                case ast.Call():
                    scope.calls.append(node)
            waiting += [(child, inner, inner_owner) for child in _children(node)[::-1]]

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self.definitions.setdefault(name, []).append(value)
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                for name_, value_ in zip(names, values, strict=True):
                    self._assigned(name_, value_)


def _children(node: ast.AST) -> list[ast.AST]:
    """Children that may hold a call or a statement: three quarters of all nodes are names and constants."""
    children: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            children += [each for each in value if isinstance(each, ast.AST) and not isinstance(each, _LEAVES)]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            children.append(value)
    return children


_LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


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
