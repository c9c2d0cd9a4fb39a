"""A finished triage: what ``check``, ``minimize``, ``matrix`` and ``run`` left in folders, as plain values.

Documents may come from elsewhere: a file that they name is read only where it lies beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from triage.matrix import table as matrices
from triage.minimize import run as minimizing
from triage.model import case as cases
from triage.model import report as reports
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.model.report import POISONED, Report
from triage.publish.fields import Fields, load
from triage.publish.visible import read_bounded
from triage.source.siblings import imported

REPORT, MINIMIZED, MATRIX = "report.json", minimizing.DOCUMENT, "matrix.json"
CASE = "case"
"""The folder below a report with the case that it is of."""
_MOST_DEPTH, _MOST_FOLDERS = 4, 2_000
"""A folder of ``triage run`` has reports at the second level; deeper, or in more folders, nobody meant them."""
_SCRIPTS = ("reproducer.py", "reproducer_launch.py")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file's text; ``tail`` is not empty where the middle was left out. ``size``: bytes of the whole."""

    head: str
    tail: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Minimized:
    """What ``triage minimize`` left. ``document`` is empty where it was ended before it wrote one: then nothing says
    what became of ``script`` when it was run."""

    folder: Path
    case: Mapping[str, Any]
    kernel: Excerpt
    script: Excerpt
    script_name: str
    document: Mapping[str, Any] = field(default_factory=dict)
    ir: Excerpt | None = None
    ir_name: str = ""
    rerun: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The parts that there are. ``report`` and ``matrix`` are documents, ``texts`` the artifacts by name, ``kernel`` is
    the case's own source, ``beside`` the user's own files that it imports, by name. ``again`` is the command that
    repeats the check, where it is known. ``left_out``: what was found beside it and is of another failure."""

    report: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, Excerpt] = field(default_factory=dict)
    kernel: Excerpt | None = None
    beside: Mapping[str, Excerpt] = field(default_factory=dict)
    minimized: Minimized | None = None
    matrix: Mapping[str, Any] = field(default_factory=dict)
    again: str | None = None
    folders: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def signature(self) -> str | None:
        """That of the failure; None where nothing failed."""
        for document in (Fields(self.report, REPORT).inside("diagnosis"), Fields(self._minimized, MINIMIZED)):
            if document and (found := document.maybe("signature")):
                return found
        failures = Fields(self.matrix, MATRIX).each("failures")
        return failures[0].maybe("signature") if failures else None

    @property
    def _minimized(self) -> Mapping[str, Any]:
        return self.minimized.document if self.minimized else {}


def is_finished(folder: Path) -> bool:
    """Whether anything in or beneath a folder is a finished triage."""
    return folder.is_dir() and next(_found(folder), None) is not None


def read(folder: Path) -> Finished:
    """The triage in or beneath a folder. Raises InputError where there is none, where there are several that failed in
    different ways, and where a document is not what it says."""
    by_name: dict[str, list[Path]] = {REPORT: [], MINIMIZED: [], MATRIX: []}
    for path in _found(folder):
        by_name[path.name].append(path)
    found = _report(by_name[REPORT], folder)
    signature = found.signature
    for path in by_name[MINIMIZED]:
        minimized = _minimized(path)
        theirs = Fields(minimized.document, str(path)).maybe("signature") if minimized.document else signature
        if found.minimized is not None or (signature and theirs != signature):
            found = _without(found, path)
            continue
        found, signature = replace(found, minimized=minimized, folders=(*found.folders, path.parent)), theirs
    for path in by_name[MATRIX]:
        document = load(path, matrices.SCHEMA)
        theirs_all = {one.maybe("signature") for one in Fields(document, str(path)).each("failures")}
        if found.matrix or (signature and signature not in theirs_all):
            found = _without(found, path)
            continue
        found = replace(found, matrix=document, folders=(*found.folders, path.parent))
    if not (found.report or found.minimized or found.matrix):
        raise InputError(f"{folder}: holds no finished triage; triage check, minimize or matrix with -o leave one")
    return found


def of_report(report: Report, again: str | None = None) -> Finished:
    """What ``check`` has just found, its artifacts where it put them. Raises EnvironmentFault."""
    paths = {name: path for name, path in report.artifacts.items() if name != POISONED and path.is_file()}
    folders = dict.fromkeys([report.case.folder, *(path.parent for path in paths.values())])
    texts = {name: _excerpt(path) for name, path in paths.items()}
    kernel, beside = _source(report.case)
    return Finished(report.to_json(), texts, kernel, beside, again=again, folders=tuple(folders))


def _found(folder: Path) -> Iterator[Path]:
    """Documents beneath a folder, the nearest first, then by name."""
    level, seen = [folder], 0
    for _ in range(_MOST_DEPTH):
        below: list[Path] = []
        for one in level:
            seen += 1
            if seen > _MOST_FOLDERS:
                return
            try:
                entries = sorted(os.scandir(one), key=lambda entry: entry.name)
            except OSError:
                continue
            names = {entry.name for entry in entries if entry.is_file()}
            yield from (one / name for name in (REPORT, MINIMIZED, MATRIX) if name in names)
            below += [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
        level = below


def _report(paths: list[Path], folder: Path) -> Finished:
    """The one failure of which there are reports; several of the same are taken for one."""
    by_signature: dict[str, Finished] = {}
    places: dict[str, Path] = {}
    for path in paths:
        document = load(path, reports.SCHEMA)
        artifacts = Fields(document, str(path)).inside("artifacts").plain()
        texts = {
            str(name): _excerpt(place)
            for name, stored in artifacts.items()
            if name != POISONED and isinstance(stored, str) and (place := path.parent / Path(stored).name).is_file()
        }
        case = _case_beside(path.parent)
        kernel, beside = _source(case) if case else (None, {})
        again = f"triage check {case.folder}" if case else None
        one = Finished(document, texts, kernel, beside, again=again, folders=(path.parent,))
        places.setdefault(one.signature or "", path)
        by_signature.setdefault(one.signature or "", one)
    failed = [key for key in by_signature if key]
    if len(failed) > 1:
        where = ", ".join(str(places[key].parent) for key in failed[:4])
        raise InputError(f"{folder}: holds {len(failed)} different failures; give one of them: {where}")
    return by_signature[failed[0]] if failed else next(iter(by_signature.values()), Finished())


def _case_beside(folder: Path) -> Case | None:
    """The case that a report is of: ``check -o`` puts it below the report, ``run -o`` has the report below it."""
    for place in (folder / CASE, folder.parent):
        with suppress(TriageError):
            if (place / "case.json").is_file():
                return cases.load(place)
    return None


def _source(case: Case) -> tuple[Excerpt | None, dict[str, Excerpt]]:
    """The kernel's file, and those of the user's that it imports."""
    if not case.path.is_file():
        return None, {}
    others = [] if case.is_ir else imported(case.path)
    return _excerpt(case.path), {path.name: _excerpt(path) for path in others}


def _minimized(path: Path) -> Minimized:
    folder = path.parent
    document = load(path, minimizing.SCHEMA)
    case = cases.load(folder)
    script = next((folder / name for name in _SCRIPTS if (folder / name).is_file()), None)
    if script is None:
        raise InputError(f"{folder}: holds no {_SCRIPTS[0]}; run triage minimize again")
    fields = Fields(document, str(path))
    ir = folder / "ir" / Path(fields.inside("ir").text("file")).name if fields.inside("ir") else None
    rerun = folder / "ir" / "rerun.py"
    return Minimized(
        folder=folder,
        case=case.to_json(),
        kernel=_excerpt(case.path),
        script=_excerpt(script),
        script_name=script.name,
        document=document,
        ir=_excerpt(ir) if ir is not None and ir.is_file() else None,
        ir_name=ir.name if ir is not None else "",
        rerun=_excerpt(rerun) if rerun.is_file() else None,
    )


def case_of(folder: Path) -> Case | None:
    """The reduced case beneath a folder that has no report, which is to be checked; None where there is none."""
    return next((cases.load(path.parent) for path in _found(folder) if path.name == MINIMIZED), None)


def mapped(found: Finished, text: Callable[[str], str], document: Callable[[Any], Any]) -> Finished:
    """The same with every text and document put through a function."""

    def excerpt(one: Excerpt | None) -> Excerpt | None:
        return one and replace(one, head=text(one.head), tail=text(one.tail))

    def surely(one: Excerpt) -> Excerpt:
        return replace(one, head=text(one.head), tail=text(one.tail))

    minimized = found.minimized and replace(
        found.minimized,
        case=document(found.minimized.case),
        kernel=surely(found.minimized.kernel),
        script=surely(found.minimized.script),
        document=document(found.minimized.document),
        ir=excerpt(found.minimized.ir),
        rerun=excerpt(found.minimized.rerun),
    )
    return replace(
        found,
        report=document(found.report),
        texts={name: surely(one) for name, one in found.texts.items()},
        kernel=excerpt(found.kernel),
        beside={name: surely(one) for name, one in found.beside.items()},
        minimized=minimized,
        matrix=document(found.matrix),
        again=text(found.again) if found.again else None,
    )


def _without(found: Finished, path: Path) -> Finished:
    return replace(found, left_out=(*found.left_out, str(path)))


def _excerpt(path: Path) -> Excerpt:
    try:
        head, tail = read_bounded(path)
        return Excerpt(head, tail, path.stat().st_size)
    except OSError as error:
        raise EnvironmentFault(f"{path}: cannot be read: {error.strerror}") from None
