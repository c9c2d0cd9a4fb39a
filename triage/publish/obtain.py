"""A finished triage of a folder or a case: read, or made now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from triage.matrix.cell import Cell
from triage.matrix.history import History
from triage.matrix.table import Table
from triage.minimize import run as minimizing
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.publish.finished import Finished, case_of, of_report, read


def obtain(
    place: Path | Case, options: Options, progress: Progress | None = None, again: str | None = None
) -> Finished:
    """What a folder holds, checked first where there is only its reduction; a case is checked. ``again`` is the command
    that repeats the check of a case. Raises what ``read`` and a session raise."""
    if isinstance(place, Case):
        return _checked(place, options, progress, again)
    stored = read(place)
    reduced = case_of(place)
    if stored.report or stored.matrix or reduced is None:
        return stored
    # The reduced kernel is shown as such.
    checked = _checked(reduced, options, progress, None)
    return replace(stored, report=checked.report, texts=checked.texts, folders=(*stored.folders, *checked.folders))


def anonymous(place: Path | Case, options: Options, progress: Progress | None = None) -> Finished:
    """The same from the anonymous reduction alone: of the original's texts nothing is in it. A case is reduced first.
    Raises InputError where there is none, or where the failure needs the names."""
    if isinstance(place, Case):
        with TemporaryDirectory(prefix="triage-anonymous-") as scratch:
            folder = Path(scratch) / "reduced"
            wanted = minimizing.Options(
                folder=folder,
                triton=options.triton,
                python=options.python,
                limits=options.limits,
                jobs=options.jobs,
                anonymize=True,
            )
            minimizing.minimize(place, wanted, progress)
            return anonymous(folder, options, progress)
    stored = read(place)
    reduced = case_of(place)
    if stored.reduction is None or reduced is None:
        raise InputError(f"{place}: holds no reduction; triage minimize CASE --anonymize -o DIR makes one")
    folder = stored.reduction.folder
    if stored.reduction.result.anonymous is not True:
        raise InputError(
            f"{folder}: is not anonymous; triage minimize CASE --anonymize -o DIR with a new folder "
            "renames, where the failure does not need the names"
        )
    checked = _checked(reduced, options, progress, None)
    report, table = checked.report, stored.matrix
    return Finished(
        report=report,
        texts=checked.texts,
        reduction=stored.reduction,
        matrix=nameless(table, report) if table and report else None,
        folders=(folder, *checked.folders),
    )


def _checked(case: Case, options: Options, progress: Progress | None, again: str | None) -> Finished:
    with Session(options, progress) as session:
        return of_report(session.check(case), again)


def nameless(table: Table, report: Report) -> Table:
    """The table without what the original's texts may have put into it: its case, reasons, and all other failures."""
    mine = report.diagnosis.signature if report.diagnosis else None
    others = {
        failure.signature: f"not shown ({failure.label})"
        for failure in table.failures().values()
        if failure.signature != mine
    }

    def cell(one: Cell) -> Cell:
        headline = report.diagnosis.headline if report.diagnosis and one.signature == mine else "another failure"
        signature = others.get(one.signature or "", one.signature)
        return replace(one, reason=None, headline=headline, signature=signature)

    def history(one: History) -> History:
        runs = (replace(run, signature=others.get(run.signature or "", run.signature)) for run in one.runs)
        return replace(one, runs=tuple(runs))

    return replace(
        table,
        case=report.case,
        cells={place: cell(one) for place, one in table.cells.items()},
        histories=tuple(history(one) for one in table.histories),
    )
