"""Positions of failures in the user's files, relative to the checkout as code reviews and scanners expect."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triage.model.case import Case
from triage.model.diagnosis import SourceLocation


@dataclass(frozen=True, slots=True)
class FilePosition:
    """``uri`` is a path with slashes, relative to the root if ``inside``; ``line`` and ``column`` count from 1."""

    uri: str
    line: int = 1
    column: int | None = None
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Checkout:
    """Converts positions to be relative to ``root``, the checkout."""

    root: Path

    @classmethod
    def here(cls, environ: Mapping[str, str]) -> Checkout:
        """The checkout of the CI job, else of the current folder, else that folder itself."""
        current = Path.cwd()
        if workspace := environ.get("GITHUB_WORKSPACE") or environ.get("CI_PROJECT_DIR") or environ.get("WORKSPACE"):
            root = Path(workspace).resolve()
            if current.resolve().is_relative_to(root):
                return cls(root)
        checkouts = (folder for folder in (current, *current.parents) if (folder / ".git").exists())
        return cls(next(checkouts, current).resolve())

    def of_case(self, case: Case, source: SourceLocation) -> FilePosition:
        """A line of a case's kernel, or of a file beside it."""
        path, beside = Path(source.file), case.folder / Path(source.file).name
        file = beside if not path.is_absolute() and beside.exists() else path
        return self.position(file, source.line, source.column)

    def of_kernel(self, case: Case) -> FilePosition:
        """The line that defines a case's kernel."""
        try:
            nodes = list(ast.walk(ast.parse(case.read())))
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            nodes = []
        lines = [node.lineno for node in nodes if isinstance(node, ast.FunctionDef) and node.name == case.name]
        return self.position(case.path, lines[0] if lines else 1)

    def position(self, path: Path, line: int, column: int | None = None) -> FilePosition:
        """A line of a file, which may be one of another machine with the same folders."""
        # Scanners want both from 1 on; a compiler writes 0 for an unknown position.
        at, column = max(line, 1), column if column and column > 0 else None
        try:
            relative = path.resolve().relative_to(self.root)
            # A log may come from another machine: a path that does not exist here is not a file of this checkout.
            inside = path.is_file()
        except (OSError, ValueError, RuntimeError):
            return FilePosition(path.as_posix(), at, column)
        return FilePosition(relative.as_posix() if inside else path.as_posix(), at, column, inside)
