"""A finished triage of a folder or a case: read, or produced now."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.filesystem import scratch
from triage.matrix.cell import MatrixCell
from triage.matrix.history import History
from triage.matrix.table import MatrixTable
from triage.minimize.problem import INTERRUPTED
from triage.minimize.result import MinimizeOptions
from triage.minimize.run import minimize
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.publish.finished import FinishedTriage, case_of, of_report, read


def obtain(
    asked: Path | Case, options: Options, progress: Progress | None = None, again: str | None = None
) -> FinishedTriage:
    """The triage in a folder; a case, and a folder with a reduction alone, is checked first. ``again`` is the command
    that repeats the check of a case. Raises what ``read`` and a session raise."""
    if isinstance(asked, Case):
        return _checked(asked, options, progress, again)
    stored = read(asked)
    reduced = case_of(asked)
    if stored.report or stored.matrix or reduced is None:
        return stored
    # The reduced kernel is shown as such.
    checked = _checked(reduced, options, progress, None)
    return replace(stored, report=checked.report, texts=checked.texts, folders=(*stored.folders, *checked.folders))


def anonymous(asked: Path | Case, options: Options, progress: Progress | None = None) -> FinishedTriage:
    """The same from the anonymous reduction alone, without any text of the original. A case is reduced first. Raises
    InputError where there is no such reduction, or the failure needs the names."""
    if isinstance(asked, Case):
        with scratch.folder("anonymous") as work:
            folder = work / "reduced"
            reduce(asked, options, folder, progress, anonymize=True)
            return anonymous(folder, options, progress)
    stored = read(asked)
    reduced = case_of(asked)
    if stored.reduction is None or reduced is None:
        raise InputError(f"{asked}: holds no reduction; triage minimize CASE --anonymize -o DIR makes one")
    folder = stored.reduction.folder
    if stored.reduction.result.anonymous is not True:
        raise InputError(
            f"{folder}: is not anonymous; triage minimize CASE --anonymize -o DIR with a new folder "
            "renames, where the failure does not need the names"
        )
    checked = _checked(reduced, options, progress, None)
    report, table = checked.report, stored.matrix
    return FinishedTriage(
        report=report,
        texts=checked.texts,
        reduction=stored.reduction,
        matrix=nameless(table, report) if table and report else None,
        folders=(folder, *checked.folders),
    )


def reduce(case: Case, options: Options, folder: Path, progress: Progress | None, **wanted: Any) -> None:
    """Minimize a case with the toolchain and the limits of a check; ``wanted`` are further options of the search.
    Raises KeyboardInterrupt with the best so far in the folder."""
    shared = {name: getattr(options, name) for name in ("triton", "cute", "python", "limits", "jobs")}
    result = minimize(case, MinimizeOptions(folder=folder, **shared, **wanted), progress)
    if result.ended == INTERRUPTED:
        raise KeyboardInterrupt


def _checked(case: Case, options: Options, progress: Progress | None, again: str | None) -> FinishedTriage:
    with Session(options, progress) as session:
        return of_report(session.check(case), again)


def nameless(table: MatrixTable, report: Report) -> MatrixTable:
    """The table without what the original's texts may have put into it: its case, reasons, and all other failures."""
    mine = report.diagnosis.signature if report.diagnosis else None
    others = {
        failure.signature: f"not shown ({failure.label})"
        for failure in table.failures().values()
        if failure.signature != mine
    }

    def cell(seen: MatrixCell) -> MatrixCell:
        headline = report.diagnosis.headline if report.diagnosis and seen.signature == mine else "another failure"
        signature = others.get(seen.signature or "", seen.signature)
        return replace(seen, reason=None, headline=headline, signature=signature)

    def history(column: History) -> History:
        runs = (replace(run, signature=others.get(run.signature or "", run.signature)) for run in column.runs)
        return replace(column, runs=tuple(runs))

    return replace(
        table,
        case=report.case,
        cells={position: cell(seen) for position, seen in table.cells.items()},
        histories=tuple(map(history, table.histories)),
    )
