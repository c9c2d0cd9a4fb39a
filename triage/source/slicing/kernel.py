"""A kernel cut out of its file and package: which files the slice consists of, and their texts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triage.filesystem.files import ANYWHERE, MOST_SOURCE, read_file, resolved
from triage.model.case import check_source
from triage.model.errors import InputError, unreadable
from triage.source.slicing.closure import Closure, Unsliceable
from triage.source.slicing.files import ParsedFile, parsed
from triage.source.slicing.modules import ImportRoots
from triage.source.slicing.sliced_file import NAMESPACE


@dataclass(frozen=True, slots=True)
class Assumption:
    """A condition that is not evaluated in the slice, as the kernel exists only where it has that value."""

    file: Path
    line: int
    condition: str
    value: bool


@dataclass(frozen=True, slots=True)
class Slice:
    """The texts of the files of a slice, and the user's files that they are of, by their paths in it. ``file``: the
    path of the kernel's. All its imports begin at the top of the slice."""

    file: Path
    texts: Mapping[Path, bytes]
    sources: Mapping[Path, Path]
    assumptions: tuple[Assumption, ...]


def slice_kernel(file: Path, name: str) -> Slice:
    """Cut the kernel ``name`` out of its file and package. Raises InputError where the file cannot be read or has no
    such function; Unsliceable where it is defined inside a function that takes part in it."""
    path = resolved(file) if ".." in file.parts else file.absolute()
    try:
        source = parsed(path)
    except OSError as error:
        raise unreadable(file, error) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        check_source(read_file(path, ANYWHERE, MOST_SOURCE), file, name)  # Raises, where the file is still the same.
        raise InputError(f"{file}: {type(error).__name__}: {error}") from None
    if name not in source.bindings and not source.stars:
        source = _opened(source, file, name)
    roots, module = ImportRoots.of(source, path)
    closure = Closure(roots)
    closure.begin(module, source, name)
    return _slice(closure, module.path)


def _opened(source: ParsedFile, file: Path, name: str) -> ParsedFile:
    """The file with the body of the function or class around the kernel as a part of the module."""
    nested = source.nested(name)
    if not nested:
        check_source(source.text.encode(), file, name)
        raise InputError(f"{file}: {name!r} is not bound when the file is imported")
    if len(nested) > 1:
        lines = ", ".join(str(node.lineno) for node, _ in nested)
        raise Unsliceable(f"{file}: {name!r} is defined inside {len(nested)} functions, in lines {lines}")
    return ParsedFile(source.path, source.text, source.tree, frozenset(nested[0][1]))


def _slice(closure: Closure, file: Path) -> Slice:
    texts: dict[Path, bytes] = {}
    sources: dict[Path, Path] = {}
    assumptions = []
    for sliced in closure.files.values():
        module = sliced.module
        for parent in list(module.relative.parents)[:-1]:
            package = closure.roots.module(".".join(parent.parts))
            is_namespace = package is None or package.file is None
            texts.setdefault(parent / "__init__.py", NAMESPACE if is_namespace else b"")
            if package is not None and package.file is not None:
                sources[package.path] = package.file
        if module.file is None:
            texts[module.path] = NAMESPACE
            continue
        sources[module.path] = module.file
        # What cannot be parsed fails when it is imported, as it does for the user.
        unparsed = b"" if sliced.source is not None else read_file(module.file, ANYWHERE, MOST_SOURCE)
        texts[module.path] = sliced.text().encode() if sliced.source is not None else unparsed
        assumptions += [
            Assumption(module.file, node.lineno, ast.unparse(node.test), value)
            for compound, value in sliced.assumed.items()
            if isinstance(node := compound.node, ast.If) and value is not None and compound in sliced.compounds
        ]
    assumptions.sort(key=lambda assumption: (assumption.file, assumption.line))
    return Slice(file, texts, sources, tuple(assumptions))
