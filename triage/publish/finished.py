"""A finished triage: what ``check``, ``minimize``, ``matrix`` and ``run`` left in folders, as values.

Documents may come from elsewhere: a file that they name is read only if it is in their own folder.
"""

import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from triage.filesystem.files import MOST_DOCUMENT, open_file, read_file
from triage.frontends import documents
from triage.matrix import table as matrices
from triage.matrix.table import MatrixTable
from triage.minimize import result as minimize_result
from triage.minimize.result import MinimizeResult
from triage.model import report as reports
from triage.model.case import Case
from triage.model.document import encode
from triage.model.errors import InputError, unreadable
from triage.model.report import POISONED, Report
from triage.model.target import Target
from triage.publish.clipping import read_bounded
from triage.source.imports import imported_files

REPORT, MINIMIZED, MATRIX = "report.json", minimize_result.DOCUMENT, "matrix.json"
CASE = "case"
"""The folder below a report with the case that it is of."""
_MOST_DEPTH, _MOST_FOLDERS = 4, 2_000
"""A folder of ``triage run`` has reports at the second level; no command leaves them deeper, or in more folders."""
_MOST_NESTING = 40
"""A document with 150 neighbours tried is eight levels deep."""
_BLANK_LINES = re.compile(rb"\n{4,}")
_SCRIPTS = ("reproducer.py", "reproducer_launch.py")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file's text; ``tail`` is not empty where the middle was left out. ``size``: bytes of the whole."""

    head: str
    tail: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Reduction:
    """The result of ``triage minimize``, with the texts of its files."""

    folder: Path
    result: MinimizeResult
    kernel: Excerpt
    script: Excerpt
    script_name: str
    ir: Excerpt | None = None
    ir_name: str = ""
    rerun: Excerpt | None = None


@dataclass(frozen=True, slots=True)
class FinishedTriage:
    """The parts that there are. ``texts`` are the artifacts by name, ``kernel`` is the case's own source, ``beside``
    the user's own files that it imports, by name. ``again`` is the command that repeats the check, where it is known.
    ``left_out``: documents of other failures in the same folder."""

    report: Report | None = None
    texts: Mapping[str, Excerpt] = field(default_factory=dict)
    kernel: Excerpt | None = None
    beside: Mapping[str, Excerpt] = field(default_factory=dict)
    reduction: Reduction | None = None
    matrix: MatrixTable | None = None
    again: str | None = None
    folders: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def case(self) -> Case | None:
        """The case that was checked, or compiled with other releases."""
        return self.report.case if self.report else self.matrix.case if self.matrix else None

    @property
    def signature(self) -> str | None:
        """That of the failure; None where nothing failed."""
        return next((signature for signature, _ in self._failures() if signature), None)

    @property
    def headline(self) -> str | None:
        """That of the failure; None where nothing failed."""
        return next((headline for _, headline in self._failures() if headline), None)

    def _failures(self) -> Iterator[tuple[str, str]]:
        if self.report and self.report.diagnosis:
            yield self.report.diagnosis.signature, self.report.diagnosis.headline
        if self.reduction:
            yield self.reduction.result.signature, self.reduction.result.headline
        if self.matrix:
            yield from ((failure.signature, failure.headline) for failure in self.matrix.failures().values())


def is_finished(folder: Path) -> bool:
    """Whether anything in or beneath a folder is a finished triage."""
    return folder.is_dir() and next(_documents(folder), None) is not None


def read(folder: Path) -> FinishedTriage:
    """The triage in or beneath a folder. Raises InputError where there is none, where there are several that failed in
    different ways, and where a document is not of its schema."""
    by_name: dict[str, list[Path]] = {REPORT: [], MINIMIZED: [], MATRIX: []}
    for path in _documents(folder):
        by_name[path.name].append(path)
    finished = _report(by_name[REPORT], folder)
    signature = finished.signature
    for path in by_name[MINIMIZED]:
        reduction = _reduction(path, folder)
        theirs = reduction.result.signature
        if finished.reduction is not None or (signature and theirs != signature):
            finished = replace(finished, left_out=(*finished.left_out, str(path)))
            continue
        signature = theirs
        finished = replace(finished, reduction=reduction, folders=(*finished.folders, path.parent))
    for path in by_name[MATRIX]:
        table = _value(MatrixTable.from_json, matrices.SCHEMA, path, folder)
        if finished.matrix or (signature and signature not in table.failures()):
            finished = replace(finished, left_out=(*finished.left_out, str(path)))
            continue
        finished = replace(finished, matrix=table, folders=(*finished.folders, path.parent))
    if not (finished.report or finished.reduction or finished.matrix):
        raise InputError(f"{folder}: holds no finished triage; triage check, minimize or matrix with -o leave one")
    return finished


def of_report(report: Report, again: str | None = None) -> FinishedTriage:
    """A report as ``check`` has just made it, with its artifacts where they are. Raises InputError."""
    paths = {name: path for name, path in report.artifacts.items() if name != POISONED and path.is_file()}
    folders = dict.fromkeys([report.case.folder, *(path.parent for path in paths.values())])
    # They are triage's own.
    texts = {name: _excerpt(path, path.parent) for name, path in paths.items()}
    kernel, beside = _source(report.case)
    return FinishedTriage(report, texts, kernel, beside, again=again, folders=tuple(folders))


def case_of(folder: Path) -> Case | None:
    """The reduced case beneath a folder that has no report, which is to be checked; None where there is none."""
    return next((documents.load(path.parent, folder) for path in _documents(folder) if path.name == MINIMIZED), None)


def mapped(finished: FinishedTriage, text: Callable[[str], str], plain: Callable[[Any], Any]) -> FinishedTriage:
    """The same with each of its texts and paths put through ``text``, and its lists of texts and mappings, which have
    any shape, through ``plain`` as JSON values. Values of closed sets stay."""

    def each(value: Any) -> Any:
        match value:
            case Enum() | Target():
                return value
            case str():
                return text(value)
            case Path():
                return Path(text(str(value)))
            case Mapping() if any(is_dataclass(item) or isinstance(item, Path) for item in value.values()):
                return {each(name): each(item) for name, item in value.items()}
            case Mapping():
                return plain(encode(value))
            case tuple() if value and all(isinstance(item, str) and not isinstance(item, Enum) for item in value):
                return tuple(plain(list(value)))
            case tuple():
                return tuple(each(item) for item in value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{own.name: each(getattr(value, own.name)) for own in fields(value)})
        return value

    parts = ("report", "texts", "kernel", "beside", "reduction", "matrix", "again")
    return replace(finished, **{name: each(getattr(finished, name)) for name in parts})


def _documents(folder: Path) -> Iterator[Path]:
    """Documents beneath a folder, the nearest first, then by name."""
    level, seen = [folder], 0
    for _ in range(_MOST_DEPTH):
        below: list[Path] = []
        for parent in level:
            seen += 1
            if seen > _MOST_FOLDERS:
                return
            try:
                entries = sorted(os.scandir(parent), key=lambda entry: entry.name)
                below += [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            paths = (parent / name for name in (REPORT, MINIMIZED, MATRIX))
            # Unlike that of an entry, this is false of a link to itself, and of what another process removes.
            yield from (path for path in paths if path.is_file())
        level = below


def _report(paths: list[Path], folder: Path) -> FinishedTriage:
    """The failure of which there are reports; several of the same count as one."""
    by_signature: dict[str, Path] = {}
    for path in paths:
        diagnosis = _value(Report.from_json, reports.SCHEMA, path, folder).diagnosis
        by_signature.setdefault(diagnosis.signature if diagnosis else "", path)
    failed = [path for signature, path in by_signature.items() if signature]
    if len(failed) > 1:
        where = ", ".join(str(path.parent) for path in failed[:4])
        raise InputError(f"{folder}: holds {len(failed)} different failures; give one of them: {where}")
    chosen = next(iter([*failed, *by_signature.values()]), None)
    return _checked(chosen, folder) if chosen is not None else FinishedTriage()


def _checked(path: Path, top: Path) -> FinishedTriage:
    """A report with the files beside it: its artifacts, and its case."""
    report = _value(Report.from_json, reports.SCHEMA, path, top)
    files = {name: path.parent / stored.name for name, stored in report.artifacts.items() if name != POISONED}
    texts = {name: _excerpt(file, top) for name, file in files.items() if _exists(file)}
    case = _case_beside(path.parent, top)
    kernel, beside = _source(case) if case else (None, {})
    again = f"triage check {case.folder}" if case else None
    return FinishedTriage(report, texts, kernel, beside, again=again, folders=(path.parent,))


def _case_beside(folder: Path, top: Path) -> Case | None:
    """The case that a report is of: ``check -o`` puts it below the report, ``run -o`` has the report below it. Nothing
    above ``top`` belongs to the triage."""
    for parent in (folder / CASE, *([folder.parent] if folder != top else [])):
        with suppress(InputError):
            return documents.load(parent, top)
    return None


def _source(case: Case) -> tuple[Excerpt | None, dict[str, Excerpt]]:
    """The kernel's file, and those of the user's that it imports."""
    if not _exists(case.location):
        return None, {}
    others = {} if case.is_ir else imported_files(case)
    beside = {path.name: _of_source(content) for path, content in others.items() if content.strip()}
    if case.is_ir:
        return _excerpt(case.path, case.top), beside
    try:
        return _of_source(case.read()), beside
    except OSError as error:
        raise unreadable(case.path, error) from None


def _of_source(content: bytes) -> Excerpt:
    """A source without the many blank lines of a slice."""
    return Excerpt(*read_bounded(io.BytesIO(_BLANK_LINES.sub(b"\n\n\n", content))))


def _reduction(path: Path, top: Path) -> Reduction:
    folder = path.parent
    result = _value(MinimizeResult.from_json, minimize_result.SCHEMA, path, top)
    kernel = documents.load(folder, top).path
    script = next((folder / name for name in _SCRIPTS if _exists(folder / name)), None)
    if script is None:
        raise InputError(f"{folder}: holds no {_SCRIPTS[0]}; run triage minimize again")
    ir = folder / "ir" / result.ir.file.name if result.ir else None
    rerun = folder / "ir" / "rerun.py"
    return Reduction(
        folder=folder,
        result=result,
        kernel=_excerpt(kernel, top),
        script=_excerpt(script, top),
        script_name=script.name,
        ir=_excerpt(ir, top) if ir is not None and _exists(ir) else None,
        ir_name=ir.name if ir is not None else "",
        rerun=_excerpt(rerun, top) if _exists(rerun) else None,
    )


def _exists(path: Path) -> bool:
    """Whether anything has this name; what has it and is not a file of the triage is an error, not nothing."""
    return os.path.lexists(path)


def _excerpt(path: Path, top: Path) -> Excerpt:
    try:
        with open_file(path, top) as stream:
            return Excerpt(*read_bounded(stream))
    except OSError as error:
        raise unreadable(path, error) from None


def _value(from_json: Callable[[Any, str], T], schema: str, path: Path, top: Path) -> T:
    """The value of the document in a file in ``top``. Raises InputError where it is not of that schema."""
    try:
        data = read_file(path, top, MOST_DOCUMENT)
        document = json.loads(data.decode("utf-8"), parse_constant=_not_finite)
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read: {problem}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}; run the triage again") from None
    if not isinstance(document, dict) or document.get("schema") != schema:
        actual = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise InputError(f"{path}: schema: expected {schema!r}, found {actual!r}")
    if _is_deep(document):
        raise InputError(f"{path}: nested deeper than {_MOST_NESTING}; not a document of triage")
    try:
        return from_json(document, str(path))
    except InputError as error:
        raise InputError(f"{error}; run the triage again") from None


def _not_finite(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON can hold")


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(_MOST_NESTING):
        containers = [value for value in level if isinstance(value, dict | list)]
        level = [item for value in containers for item in (value.values() if isinstance(value, dict) else value)]
    return bool(level)
