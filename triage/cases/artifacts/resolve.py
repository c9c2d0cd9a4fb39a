"""Finds the cases in files that another tool left: IR, caches, dumps, reproducers, generated modules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from triage.cases.artifacts import generated, helion, inductor, ir_text, mlir, reading, stages
from triage.filesystem.files import ANYWHERE, MOST_SOURCE
from triage.model.case import IR_ENDINGS, Case
from triage.model.errors import InputError
from triage.model.target import Target
from triage.model.words import count

_MOST_CASES = 64
"""Limit on the cases of one folder; the newest are used."""
_MOST_DEPTH = 4
"""Depth of folders with generated modules: ``torch_compile_debug/run_…/torchinductor/model__0`` is the deepest seen."""
_MOST_MODULES = 1000
"""Limit on the generated modules that are read; a large model has hundreds."""


@dataclass(frozen=True, slots=True)
class Located:
    """The cases at a path, and one line for each fact that the user should know about them.

    ``cases`` is empty if there is nothing to compile again.
    """

    cases: tuple[Case, ...]
    notes: tuple[str, ...] = ()


def find(path: Path, default: Target) -> Located:
    """The cases at ``path``. ``default`` is the target of files that name none. Raises InputError."""
    if path.is_dir():
        return _in_folder(path, default)
    if path.suffix == ".py":
        return Located(tuple(_generated(path, ANYWHERE, default)))
    text = reading.tail(path, ANYWHERE)
    if mlir.is_dump(text):
        case, note = mlir.last_pass(path, text, default)
        return Located((case,), (note,))
    if path.suffix in IR_ENDINGS:
        return Located((ir_text.read(path, ANYWHERE, default),))
    raise InputError(f"{path}: not a case.json, IR ({', '.join(sorted(IR_ENDINGS))}) or dump of passes")


def is_generated(path: Path, top: Path) -> bool:
    """Whether a Python file in ``top`` was written by a code generator; such a file says how its kernels are
    compiled."""
    text = reading.head(path, top)
    return helion.is_helions(text) or inductor.is_inductors(text)


def assumptions(case: Case, options: Mapping[str, Any]) -> str | None:
    """One line on the values that neither the case's file nor the command line states; None if all are stated.

    ``case`` already has the changes of the command line.
    """
    if case.is_ir:
        return ir_text.assumed(case, options)
    lines = [incomplete(case)]
    if case.origin.get("tool") == helion.TOOL and "target" not in options:
        lines.append(f"{case.name}: Helion's file names no target; compiled for {case.target}, see --target")
    return "; ".join(filter(None, lines)) or None


def incomplete(case: Case) -> str | None:
    """One line on the arguments that a generated module does not describe; None if it describes all."""
    return generated.missing(case) if case.origin.get("tool") in (helion.TOOL, inductor.TOOL) else None


def _generated(path: Path, top: Path, default: Target) -> list[Case]:
    text = reading.text(path, top, MOST_SOURCE)
    if helion.is_helions(text):
        cases = helion.kernel_cases(path, text, default)
    else:
        cases = inductor.kernel_cases(path, text, top if top != ANYWHERE else path.parent)
    try:
        # A hostile file may list any number of configurations.
        limited = list(islice(cases, _MOST_CASES))
    except RecursionError:
        raise InputError(f"{path}: nested too deep to be read") from None
    if not limited:
        raise InputError(f"{path}: contains no kernel of Inductor or Helion")
    return limited


def _in_folder(path: Path, default: Target) -> Located:
    remains = stages.read(path, path)
    if remains is not None:
        return Located((stages.case(remains, default),), (_description(remains),))
    if compiles := stages.read_all(path, path):
        return _unfinished(path, compiles, default)
    if reproducers := [file for file in reading.entries(path) if file.suffix == ".mlir" and file.is_file()]:
        chosen, note = mlir.crashed(reproducers, path)
        return Located((ir_text.read(chosen, path, default),), (note,))
    if modules := list(islice(_modules(path, path, _MOST_DEPTH), _MOST_MODULES)):
        return _of_modules(path, modules, default)
    raise InputError(
        f"{path / 'case.json'}: no such file; a case folder contains case.json and the kernel, and this one contains "
        "no files of a compile and no Python files either"
    )


def _died_below(path: Path) -> list[stages.Remains]:
    """Unfinished compiles in Inductor's own Triton caches, one for each device. Source:
    torch/_inductor/runtime/cache_dir_utils.py, ``triton_cache_dir``."""
    folder = path / "triton"
    if not folder.is_dir() or folder.is_symlink():
        return []
    caches = [entry for entry in reading.entries(folder) if entry.is_dir()]
    return [remains for cache in caches for remains in stages.read_all(cache, path) if not remains.finished]


def _modules(folder: Path, top: Path, depth: int) -> Iterator[Path]:
    """Files of code generators in a folder and the folders below it; all in ``top``."""
    for entry in reading.entries(folder):
        if entry.is_dir() and depth:
            yield from _modules(entry, top, depth - 1)
        elif entry.suffix == ".py" and entry.is_file() and is_generated(entry, top):
            yield entry


def _of_modules(path: Path, modules: list[Path], default: Target) -> Located:
    all_cases: dict[str, Case] = {}
    errors = []
    for module in modules:
        try:
            all_cases |= {case.identity(): case for case in _generated(module, path, default)}
        except InputError as error:
            errors.append(str(error))
    # The code of a graph repeats kernels that also have files of their own, but without the chosen block sizes.
    complete = {key: case for key, case in all_cases.items() if not generated.missing(case)}
    texts = {(case.name, case.read()) for case in complete.values()}
    cases = [case for key, case in all_cases.items() if key in complete or (case.name, case.read()) not in texts]
    note = f"{path}: {count(len(modules), 'generated module')} with {len(cases)} kernels and configurations"
    if died := _died_below(path):
        distinct, cases = cases, []
        for remains in died:
            # The cases of its module if that is complete, else the last text of a stage.
            if known := [case for case in complete.values() if case.name == remains.kernel]:
                cases += known
                continue
            target = next((case.target for case in distinct if case.name == remains.kernel), default)
            try:
                cases.append(stages.case(remains, target))
            except InputError as error:
                errors.append(str(error))
        note += f"; {len(died)} of their compiles did not end, and those are taken"
    if len(cases) > _MOST_CASES:
        note += f"; the first {_MOST_CASES} are taken"
    return Located(tuple(cases[:_MOST_CASES]), (note, *errors))


def _description(remains: stages.Remains) -> str:
    names = [path.name for path in remains.texts.values()] or ["nothing"]
    if remains.finished:
        return f"{remains.folder}: a finished compile of {remains.kernel}; compiled again from {names[0]}"
    return f"{remains.folder}: a compile of {remains.kernel} that did not end; compiled from {names[-1]} on"


def _unfinished(path: Path, compiles: list[stages.Remains], default: Target) -> Located:
    unfinished = [remains for remains in compiles if not remains.finished]
    compiled = count(len(compiles), "compile")
    if not unfinished:
        return Located((), (f"{path}: {compiled}, all finished; name one of its folders to compile that again",))
    notes = [f"{path}: {compiled}, {len(unfinished)} of them did not end"]
    cases = []
    for remains in unfinished[-_MOST_CASES:]:
        try:
            cases.append(stages.case(remains, default))
        except InputError as error:
            notes.append(str(error))
            continue
        notes.append(_description(remains))
    if len(unfinished) > _MOST_CASES:
        notes.append(f"{path}: only the newest {_MOST_CASES} are taken")
    return Located(tuple(cases), tuple(notes))
