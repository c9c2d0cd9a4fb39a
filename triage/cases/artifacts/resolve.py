"""From a path that is no case folder to the cases that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from triage.cases.artifacts import generated, helion, inductor, ir_text, pass_dump, reading, reproducer, stages
from triage.model.case import IR_ENDINGS, Case
from triage.model.errors import InputError
from triage.model.target import Target

_MOST_CASES = 64
"""Compiles taken from one folder, the newest ones."""
_MOST_DEPTH = 4
"""Of folders of generated modules: ``torch_compile_debug/run_…/torchinductor/model__0`` is the deepest seen."""

_MOST_MODULES = 1000
"""Generated modules looked into; a large model's are hundreds."""


@dataclass(frozen=True, slots=True)
class Found:
    """``said``: what there is to say of what was found, a line each. No cases: there is nothing to compile again."""

    cases: tuple[Case, ...]
    said: tuple[str, ...] = ()


def find(path: Path, otherwise: Target) -> Found:
    """What another tool left at ``path``. ``otherwise`` is the target of what names none. Raises InputError."""
    if path.is_dir():
        return _in_folder(path, otherwise)
    if path.suffix == ".py":
        return Found(tuple(_generated(path, reading.text(path), otherwise)))
    text = reading.tail(path)
    if pass_dump.is_dump(text):
        case, said = pass_dump.case(path, text, otherwise)
        return Found((case,), (said,))
    if path.suffix in IR_ENDINGS:
        return Found((ir_text.read(path, otherwise),))
    raise InputError(f"{path}: no case.json, IR ({', '.join(sorted(IR_ENDINGS))}) or dump of passes")


def is_generated(path: Path) -> bool:
    """Whether a Python file is a code generator's, which says itself what its kernels are compiled with."""
    text = reading.head(path)
    return helion.is_helions(text) or inductor.is_inductors(text)


def unsaid(case: Case, given: Mapping[str, Any]) -> str | None:
    """In a line, what neither the case's file nor the command line says. ``case`` is as the command line changed it."""
    if case.is_ir:
        return ir_text.assumed(case, given)
    said = [incomplete(case)]
    if case.origin.get("tool") == helion.TOOL and "target" not in given:
        said.append(f"{case.name}: Helion's file names no target; compiled for {case.target}, see --target")
    return "; ".join(filter(None, said)) or None


def incomplete(case: Case) -> str | None:
    """In a line, what a generated module does not say of its kernel's arguments."""
    return generated.missing(case) if case.origin.get("tool") in (helion.TOOL, inductor.TOOL) else None


def _generated(path: Path, text: str, otherwise: Target) -> list[Case]:
    cases = helion.found_cases(path, text, otherwise) if helion.is_helions(text) else inductor.found_cases(path, text)
    try:
        # Configurations without end are cut.
        found = list(islice(cases, _MOST_CASES))
    except RecursionError:
        raise InputError(f"{path}: nested too deep to be read") from None
    if not found:
        raise InputError(f"{path}: no kernel of Inductor's or Helion's in it")
    return found


def _in_folder(path: Path, otherwise: Target) -> Found:
    one = stages.left_in(path)
    if one is not None:
        return Found((stages.case(one, otherwise),), (_left(one),))
    if every := stages.all_in(path):
        return _unfinished(path, every, otherwise)
    if reproducers := [one for one in reading.entries(path) if one.suffix == ".mlir" and one.is_file()]:
        chosen, said = reproducer.crashed(reproducers)
        return Found((ir_text.read(chosen, otherwise),), (said,))
    if modules := list(islice(_modules(path, _MOST_DEPTH), _MOST_MODULES)):
        return _of_modules(path, modules, otherwise)
    where = path / "case.json"
    raise InputError(
        f"{where}: no such file; a case folder holds case.json and the kernel, and nothing that a compile left is here"
    )


def _died_below(path: Path) -> list[stages.Left]:
    """Compiles that did not end in Inductor's own caches of Triton, one a device (torch/_inductor/runtime/
    cache_dir_utils.py, ``triton_cache_dir``)."""
    folder = path / "triton"
    if not folder.is_dir() or folder.is_symlink():
        return []
    caches = [entry for entry in reading.entries(folder) if entry.is_dir()]
    return [left for cache in caches for left in stages.all_in(cache) if not left.finished]


def _modules(folder: Path, depth: int) -> Iterator[Path]:
    """Files of code generators, in the folders of this one as well."""
    for entry in reading.entries(folder):
        if entry.is_dir() and depth:
            yield from _modules(entry, depth - 1)
        elif entry.suffix == ".py" and entry.is_file() and is_generated(entry):
            yield entry


def _of_modules(path: Path, modules: list[Path], otherwise: Target) -> Found:
    every: dict[str, Case] = {}
    wrong = []
    for module in modules:
        try:
            every |= {case.identity(): case for case in _generated(module, reading.text(module), otherwise)}
        except InputError as error:
            wrong.append(str(error))
    # A graph's code holds the kernels that have files of their own as well, without what was chosen for those.
    complete = {key: case for key, case in every.items() if not generated.missing(case)}
    texts = {(case.name, case.path.read_bytes()) for case in complete.values()}
    cases = [case for key, case in every.items() if key in complete or (case.name, case.path.read_bytes()) not in texts]
    said = f"{path}: {len(modules)} generated modules with {len(cases)} kernels and configurations"
    if died := _died_below(path):
        every_case, cases = cases, []
        for left in died:
            try:
                cases += _died(left, list(complete.values()), every_case, otherwise)
            except InputError as error:
                wrong.append(str(error))
        said += f"; {len(died)} of their compiles did not end, and those are taken"
    if len(cases) > _MOST_CASES:
        said += f"; the first {_MOST_CASES} are taken"
    return Found(tuple(cases[:_MOST_CASES]), (said, *wrong))


def _died(left: stages.Left, complete: list[Case], every: list[Case], otherwise: Target) -> list[Case]:
    """A module that says all knows more than the text that a stage left, and that more than one that does not."""
    if known := [case for case in complete if case.name == left.kernel]:
        return known
    target = next((case.target for case in every if case.name == left.kernel), otherwise)
    return [stages.case(left, target)]


def _left(left: stages.Left) -> str:
    if left.finished:
        return f"{left.folder}: a finished compile of {left.kernel}; compiled again from {_name(left, 0)}"
    return f"{left.folder}: a compile of {left.kernel} that did not end; compiled from {_name(left, -1)} on"


def _name(left: stages.Left, place: int) -> str:
    return [path.name for path in left.texts.values()][place] if left.texts else "nothing"


def _unfinished(path: Path, every: list[stages.Left], otherwise: Target) -> Found:
    unfinished = [left for left in every if not left.finished]
    many = f"{len(every)} compile{'' if len(every) == 1 else 's'}"
    if not unfinished:
        return Found((), (f"{path}: {many}, all finished; name one of its folders to compile that again",))
    said = [f"{path}: {many}, {len(unfinished)} of them did not end"]
    cases = []
    for left in unfinished[-_MOST_CASES:]:
        try:
            cases.append(stages.case(left, otherwise))
        except InputError as error:
            said.append(str(error))
            continue
        said.append(_left(left))
    if len(unfinished) > _MOST_CASES:
        said.append(f"{path}: only the newest {_MOST_CASES} are taken")
    return Found(tuple(cases), tuple(said))
