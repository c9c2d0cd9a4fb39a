"""The structure of the package: no import circles, layers that import only what is below them, unique class names."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parent.parent / "triage"
FOREIGN = ("harness/worker", "capture/program", "capture/inject")
"""Folders whose modules run in other interpreters, and import nothing of triage."""

# A folder, and all that it may import of triage.
LAYERS = {
    "filesystem": {"filesystem", "model"},
    "model": {"model", "filesystem"},
    "ir": {"ir", "model"},
    "source": {"source", "model", "filesystem"},
}

# Modules that read files without triage.filesystem.files.open_file, and why these are nobody else's.
READS_ITSELF = {
    "triage.filesystem.files": "is the check",
    "triage.api": "the log that the user named, which may be a pipe",
    "triage.cli.log": "the log that the user named, which may be a pipe",
    "triage.cli.help": "triage's own files",
    "triage.logs.lists": "triage's own files",
    "triage.logs.statement.weights": "triage's own files",
    "triage.logs.statement.learning": "the texts that the developer named",
    "triage.knowledge.stored": "triage's own entries and its own cache",
    "triage.filesystem.compiled_patterns": "triage's own cache",
    "triage.harness.processes": "the kernel's /proc",
    "triage.harness.machine.system": "the kernel's /proc and /sys",
    "triage.harness.machine.gpus": "the kernel's /sys",
    "triage.capture.captured": "the kernel's /proc",
    "triage.harness.library_keys": "triage's own cache",
    "triage.harness.toolchains.managed": "triage's own environments",
    "triage.harness.toolchains.probe": "the package of a chosen interpreter, which is run next",
    "triage.harness.store": "triage's own files",
    "triage.suggest.releases": "the package of an installed release",
    "triage.minimize.launcher": "the log that triage itself opened in its scratch folder",
    "triage.pipeline.suggester": "artifacts in triage's own cache",
    "triage.capture.service.cases": "triage's own cache",
    "triage.capture.service.start": "the locks beside the service's own sockets",
    "triage.harness.cleaning": "the kernel's /proc",
    "triage.capture.service.server": "the lock beside the service's own socket",
    "triage.harness.judgement": "the answer of its own process, in memory",
    "triage.harness.answers": "a cache entry of the worker, moved to where the guard's service reads it",
    "triage.integrations.compile_matrix": "a case that triage itself wrote",
}

# Names that classes of different modules share, and why.
SHARED_NAMES = {
    "Stream": "torch's class, and the type of CuTe's grammar",
    "Tensor": "the type of CuTe's grammar, and what a hook of Triton's sees",
    "_Loader": "importlib's word; two loaders of the worker",
    "compiling": "the same guard, of Triton's and of CuTe's compiler",
}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    name_of(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.relative_to(PACKAGE).as_posix().startswith(FOREIGN)
}


class Outline(NamedTuple):
    """Of a module: the imports that run with its own, its classes, and its calls that read a file by its name."""

    imports: list[ast.Import | ast.ImportFrom]
    classes: list[str]
    reading: list[str]


@cache
def outline(path: Path) -> Outline:
    """The tree is not kept, nor is garbage collected meanwhile, which there is none of: with those of all modules that
    takes as long as parsing them."""
    text = path.read_text()
    gc.disable()
    try:
        tree = ast.parse(text)
        # Most have none of the words, and need not be looked through.
        nodes = ast.walk(tree) if any(word in text for word in _READING) else ()
        calls = [(node, source) for node in nodes if isinstance(node, ast.Call) and (source := _reading(node))]
        return Outline(
            list(statements(tree.body)),
            [statement.name for statement in tree.body if isinstance(statement, ast.ClassDef)],
            [f"{path}:{node.lineno}: {source}" for node, source in calls],
        )
    finally:
        gc.enable()


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
    for statement in outline(path).imports:
        match statement:
            case ast.ImportFrom(module=base, names=aliases, level=0) if base:
                names |= {full if (full := f"{base}.{alias.name}") in MODULES else base for alias in aliases}
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
    return {name for name in names if name in MODULES} - {module}


@cache
def import_graph() -> dict[str, set[str]]:
    """What each module of triage imports of it."""
    return {module: imports(module, path) for module, path in MODULES.items()}


def test_no_import_circle() -> None:
    try:
        TopologicalSorter(import_graph()).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_no_circle_of_folders() -> None:
    """``model`` and ``filesystem`` count as one: errors are values, and a case reads its files."""
    folders = defaultdict(set)
    for module, imported in import_graph().items():
        folders[_folder(module)] |= {_folder(name) for name in imported} - {_folder(module), "triage"}
    try:
        TopologicalSorter(folders).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def _folder(module: str) -> str:
    name = module.split(".")[1] if "." in module else module
    return "model" if name == "filesystem" else name


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_what_is_below_it(layer: str) -> None:
    for module, imported in import_graph().items():
        if module.startswith(f"triage.{layer}."):
            parts = {name.split(".")[1] for name in imported if name != "triage"}
            assert parts <= LAYERS[layer], f"{module} imports {sorted(imported)}"


def test_files_of_others_are_read_with_the_check() -> None:
    """A file that somebody else may have made is opened by ``triage.filesystem.files`` alone (links, pipes, size)."""
    calls: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        if lines := outline(path).reading:
            calls[module] = lines
    unchecked = [call for module, lines in calls.items() if module not in READS_ITSELF for call in lines]
    assert unchecked == [], "use triage.filesystem.files, or add the module to READS_ITSELF with the reason"
    assert set(READS_ITSELF) <= set(calls), "modules of READS_ITSELF that read nothing any more"


_COPIES = {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move"}


_READING = ("read_text", "read_bytes", "open(", "shutil.")
"""One of these is in each call that :func:`_reading` takes."""


def _reading(call: ast.Call) -> str | None:
    """The source of a call that reads or copies a file by its name, whatever the receiver; None for other calls."""
    match call.func:
        case ast.Attribute(attr="read_text" | "read_bytes" | "fdopen"):
            text = ast.unparse(call)
            return None if text.startswith("resources.files(") else text  # triage's own files
        case ast.Attribute(attr="open", value=ast.Name(id="os")):
            return None  # A lock or a folder: what reads from a descriptor is fdopen.
        case ast.Attribute(attr="open") | ast.Name(id="open"):
            words = {word.value for word in ast.walk(call) if isinstance(word, ast.Constant)}
            # To write.
            return None if words & {"w", "a", "wb", "ab"} else ast.unparse(call)
        case ast.Attribute(attr=name, value=ast.Name(id="shutil")) if name in _COPIES:
            return ast.unparse(call)
        case _:
            return None


def test_two_classes_have_two_names() -> None:
    modules = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for name in outline(path).classes:
            modules[name].add(name_of(path))
    assert {name: where for name, where in modules.items() if len(where) > 1}.keys() == SHARED_NAMES.keys()


def test_each_module_is_in_a_folder() -> None:
    """At the top of the package is only what Python or the API asks for there."""
    assert {path.stem for path in PACKAGE.glob("*.py")} == {"__init__", "__main__", "_version", "api"}
