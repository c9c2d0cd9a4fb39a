"""The structure of the package: no import circles, layers that import only what is below them, unique class names."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "triage"
FOREIGN = ("harness/worker", "capture/program", "capture/inject")
"""Folders whose modules run in other interpreters, and import nothing of triage."""

# A folder, and all that it may import of triage.
LAYERS = {
    "model": {"model"},
    "ir": {"ir", "model"},
    "source": {"source", "model"},
}

# Names that classes of different modules share.
SHARED_NAMES = {"Budget", "Clock", "Operand", "Options", "Proposal", "Runner"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    name_of(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.relative_to(PACKAGE).as_posix().startswith(FOREIGN)
}


def statements(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported: not those for type checkers, nor those in functions."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                yield statement
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from statements(statement.orelse)
            case ast.If() | ast.Try():
                yield from statements([*statement.body, *statement.orelse])


def imports(module: str, path: Path) -> set[str]:
    """The modules of triage that a module imports when it is imported."""
    names: set[str] = set()
    for statement in statements(ast.parse(path.read_text()).body):
        match statement:
            case ast.ImportFrom(module=base, names=aliases, level=0) if base:
                names |= {full if (full := f"{base}.{alias.name}") in MODULES else base for alias in aliases}
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
    return {name for name in names if name in MODULES} - {module}


IMPORTS = {module: imports(module, path) for module, path in MODULES.items()}


def test_no_import_circle() -> None:
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_what_is_below_it(layer: str) -> None:
    for module, imported in IMPORTS.items():
        if module.startswith(f"triage.{layer}."):
            parts = {name.split(".")[1] for name in imported if name != "triage"}
            assert parts <= LAYERS[layer], f"{module} imports {sorted(imported)}"


def test_two_classes_have_two_names() -> None:
    modules = defaultdict(set)
    for module, path in MODULES.items():
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.ClassDef):
                modules[statement.name].add(module)
    shared = {name: found for name, found in modules.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in SHARED_NAMES} == {}
