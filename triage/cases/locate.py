"""Finds the case of a CASE argument: ``kernel.py::function``, a case folder, a reproducer, another tool's files."""

import difflib
import glob
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.cases import reproducers
from triage.cases.artifacts import ir_text, mlir, resolve
from triage.cases.artifacts.resolve import Located
from triage.cases.from_source import from_source
from triage.cases.packages import find_package
from triage.cases.stated import read_constexprs, read_divisors, read_options, read_signature, read_target
from triage.filesystem.files import ANYWHERE
from triage.frontends import documents
from triage.frontends.frontend import frontend
from triage.model import case as cases
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import DEFAULT_TARGET, Target
from triage.source.imports import imported_files


def locate(text: str, options: Mapping[str, Any] | None = None) -> Case:
    """The single case that ``text`` names. Raises InputError.

    ``options`` are the command line's ``arg``, ``const``, ``divisible``, ``option`` (lists of ``NAME=VALUE``),
    ``num_warps``, ``num_stages``, ``num_ctas`` and ``target``. They describe a kernel in a source file, and change a
    stored case.
    """
    located = locate_all(text, options)
    if len(located.cases) != 1:
        names = ", ".join(str(case.path) for case in located.cases[:4])
        raise InputError(f"{text}: contains {len(located.cases)} cases, expected one; name {names or 'another'}")
    return located.cases[0]


def locate_all(text: str, options: Mapping[str, Any] | None = None) -> Located:
    """All cases that ``text`` names; a folder of Triton's cache, for example, may contain several."""
    options = {name: value for name, value in (options or {}).items() if value not in (None, (), [])}
    if "::" in text:
        return Located((from_source(text, source_file(text.rpartition("::")[0]), options),))
    path = Path(text)
    if not _exists(path) and (folder := reproducers.folder(text)) is not None:
        path = folder
    if text and not _exists(path) and (mlir_files := _mlir_reproducers(path)):
        path = mlir.crashed(mlir_files, path.parent)[0]
    if not text or not _exists(path):
        near = difflib.get_close_matches(text, reproducers.names(), n=1)
        fix = (
            "give kernel.py::function, a case folder, its case.json or a reproducer's name; "
            "check and draft take a Python file, a folder or a package too"
        )
        if near:
            fix = f"did you mean the reproducer {near[0]}?"
        raise InputError(f"{text or 'an empty name'}: no such case; {fix}")
    if problem := _is_notebook(text):
        raise InputError(f"{text}: {problem}")
    if path.suffix == ".py" and not resolve.is_generated(path, ANYWHERE):
        raise InputError(f"{text}: name the kernel as well: {text}::FUNCTION --arg NAME=TYPE --const NAME=VALUE")
    if path.suffix == ".json" or (path.is_dir() and _exists(path / "case.json")):
        case = _changed(documents.load(path), options)
        if not case.is_ir:
            imported_files(case)  # Refuses a case folder with links that lead out of it.
        return Located((case,))
    if path.is_dir() and (folders := _case_folders(path)):
        return Located(tuple(case for folder in folders for case in locate_all(str(folder), options).cases))
    located = resolve.find(path, Target.parse(DEFAULT_TARGET))
    changed = [_changed(case, options) for case in located.cases]
    if len(changed) == 1 and (incomplete := resolve.incomplete(changed[0])):
        raise InputError(f"{text}: {incomplete}")
    assumptions = [line for case in changed if (line := resolve.assumptions(case, options))]
    return Located(tuple(changed), (*located.notes, *dict.fromkeys(assumptions)))


def sources(text: str, search: Callable[[], Iterable[str]]) -> Path | None:
    """The Python file or the folder of sources that ``text`` names by its path, or as a package in a folder of
    ``search``; None where it names a case. A package is not imported."""
    path = Path(text)
    if not text or "::" in text:
        return None
    if not _exists(path):
        is_case = reproducers.folder(text) is not None or bool(_mlir_reproducers(path))
        return None if is_case else find_package(text, search())
    if path.is_file():
        return path if path.suffix == ".py" and not resolve.is_generated(path, ANYWHERE) else None
    # Cases may be written beside the sources that they were drafted of.
    if _exists(path / "case.json") or (_case_folders(path) and next(path.glob("*.py"), None) is None):
        return None
    if next(path.rglob("*.py"), None) is None:
        return None
    if not any(_exists(path / name) for name in _PROJECT):
        with suppress(InputError):
            resolve.find(path, Target.parse(DEFAULT_TARGET))
            return None
    return path


_PROJECT = ("__init__.py", "pyproject.toml", "setup.py", "setup.cfg", ".git")
"""A folder that has one of these was written by people, and not left by a tool."""


def no_sources(text: str) -> InputError:
    """The error where ``sources`` answers None, and sources are wanted."""
    problem = _is_notebook(text) or "neither a Python file, a folder of sources nor an installed package"
    return InputError(f"{text}: {problem}")


def source_file(text: str) -> Path:
    """The file of ``FILE.py::NAME``. Raises InputError."""
    if not text or not _exists(Path(text)) or not Path(text).is_file():
        raise InputError(f"{text}: no such file; before '::' comes the kernel's source file")
    if problem := _is_notebook(text):
        raise InputError(f"{text}: {problem}")
    return Path(text)


def _is_notebook(text: str) -> str | None:
    return (
        "a notebook; make a Python file of it (jupyter nbconvert --to script), or see `triage help notebook`"
        if text.endswith(".ipynb")
        else None
    )


def _case_folders(path: Path) -> list[Path]:
    """The case folders in a folder, in the order of their names."""
    try:
        return [folder for folder in sorted(path.iterdir()) if (folder / "case.json").is_file()]
    except OSError:
        return []


def _exists(path: Path) -> bool:
    """Whether a path exists; False too for text that cannot be a path: too long, or with a null byte."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _mlir_reproducers(path: Path) -> list[Path]:
    """The files of ``TRITON_REPRODUCER_PATH``, which from 3.6 on is a prefix: each stage writes its own file."""
    try:
        return [file for file in path.parent.glob(f"{glob.escape(path.name)}.*.repro.mlir") if file.is_file()]
    except (OSError, ValueError):
        return []


def _changed(case: Case, options: Mapping[str, Any]) -> Case:
    """A stored case with its values replaced by those of the command line."""
    reader = frontend(case.language)
    arguments, constants = (
        read_signature(options.get("arg", ()), reader),
        read_constexprs(options.get("const", ()), reader),
    )
    construct = {name: constants.pop(name) for name in case.construct if name in constants}
    signature = {name: type_ for name, type_ in {**case.signature, **arguments}.items() if name not in constants}
    constexprs = {name: value for name, value in {**case.constexprs, **constants}.items() if name not in arguments}
    divisors = read_divisors(options.get("divisible", ()), reader)
    if unknown := sorted(set(divisors) - set(signature)):
        raise InputError(f"--divisible {unknown[0]}: not an argument given with --arg")
    divisible = {**case.divisible, **divisors}
    if case.is_ir and (both := sorted({*signature, *constexprs})):
        raise InputError(f"{case.path}: {both[0]}: IR has no named arguments and constexprs any more; leave it out")
    changed = case.replaced(
        signature=signature,
        constexprs=constexprs,
        divisible={name: value for name, value in divisible.items() if name in signature},
        options={**case.options, **read_options(options, reader)},
        target=read_target(options, case.target, reader),
    )
    changed = replace(changed, construct=cases.frozen({**case.construct, **construct}))
    return ir_text.completed(changed) if case.is_ir else changed
