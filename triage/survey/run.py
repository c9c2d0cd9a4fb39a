"""Compiles the kernels of a project and fills their table, one answer after the other."""

from __future__ import annotations

from collections.abc import Callable

from triage.drafts.drafting import Settled
from triage.drafts.plans import ProjectKernels, SurveySettings
from triage.drafts.plans import columns as plan_columns
from triage.model.errors import TriageError
from triage.model.report import Report
from triage.pipeline import Session
from triage.survey.table import KernelTable, SurveyCell, SurveyColumn, SurveyRow

Answer = Callable[[SurveyRow, SurveyColumn, Settled, Report | TriageError], None]


def new_table(project: ProjectKernels, settings: SurveySettings) -> KernelTable:
    """The empty table of a project."""
    columns = [
        SurveyColumn(str(target), tool.release)
        for tool in settings.toolchains
        for target in plan_columns(
            [each for each in project.kernels if each.language.compiler == tool.compiler], settings.targets
        )
    ]
    return KernelTable(project.name, tuple(columns), len(project.devices))


def fill(
    table: KernelTable,
    project: ProjectKernels,
    settings: SurveySettings,
    session: Session,
    answered: Answer,
) -> None:
    """Compile every kernel for every column. ``answered`` is called with each answer as it comes, and nothing else is
    kept of it. After an interrupt the table has what was compiled until then, and KeyboardInterrupt is raised."""
    for settled in session.settle(project.kernels, settings):
        for each in settled:
            row, column = _position(project, each)
            if column not in table.columns:
                table.columns += (column,)  # Its source does not tell the GPU, and it was found for another one.
            answer = session.answer(each)
            table.cells[row, column] = SurveyCell.of(answer, each.unclear)
            answered(row, column, each, answer)


def _position(project: ProjectKernels, settled: Settled) -> tuple[SurveyRow, SurveyColumn]:
    plan, function = settled.plan, settled.plan.function
    configuration = settled.draft.configuration if settled.draft is not None and not plan.which.is_first else ""
    row = SurveyRow(project.file(function), function.line, function.name, configuration)
    return row, SurveyColumn(str(settled.case.target), plan.toolchain.release)
