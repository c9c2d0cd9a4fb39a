"""Finds the sources of an importable name as an import would, without importing anything: not its parents either."""

from collections.abc import Iterable
from pathlib import Path


def find_package(name: str, search: Iterable[str]) -> Path | None:
    """The folder of a package or the file of a module. ``search``: where an import looks, in this order. Of a namespace
    package it is the first folder that is part of it; None where there is no such name."""
    folders = [Path(folder) for folder in search if folder]
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for part in parts[:-1]:
        folders = _packages(part, folders)
    last = parts[-1]
    for folder in folders:
        if _is_file(folder / last / "__init__.py"):
            return folder / last
        if _is_file(folder / f"{last}.py"):
            return folder / f"{last}.py"
    return next(iter(_packages(last, folders)), None)


def _packages(name: str, folders: list[Path]) -> list[Path]:
    """The folders that an import takes a package's modules from."""
    namespace = []
    for folder in folders:
        inside = folder / name
        if _is_file(inside / "__init__.py"):
            return [inside]
        if _is_folder(inside):
            namespace.append(inside)
    return namespace


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
