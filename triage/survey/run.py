"""Compiles the kernels of a project and fills their table, one answer after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from triage.drafts.drafting import Settled
from triage.drafts.plans import ProjectKernels, SurveySettings, plans
from triage.drafts.plans import columns as plan_columns
from triage.model.errors import TriageError
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Session
from triage.survey.table import KernelTable, SurveyCell, SurveyColumn, SurveyRow

_NOTED_S = 30.0
"""A log gets a line as often; what waits for one for longer is taken to hang."""
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
    progress: Progress,
    answered: Answer,
) -> None:
    """Compile every kernel for every column. ``answered`` is called with each answer as it comes, and nothing else is
    kept of it. After an interrupt the table has what was compiled until then, and KeyboardInterrupt is raised."""
    functions = project.kernels
    estimate = _Estimate(len(functions) * max(1, len(settings.targets)) * len(settings.toolchains))
    for settled in session.settle(plans(functions, settings)):
        for each in settled:
            row, column = _position(project, each)
            if column not in table.columns:
                table.columns += (column,)  # Its source does not tell the GPU, and it was found for another one.
            answer = session.answer(each)
            table.cells[row, column] = SurveyCell.of(answer, each.unclear)
            answered(row, column, each, answer)
        line = estimate.line(settled)
        progress.step(line)
        if estimate.is_due():
            progress.note(line)


def _position(project: ProjectKernels, settled: Settled) -> tuple[SurveyRow, SurveyColumn]:
    plan, function = settled.plan, settled.plan.function
    configuration = settled.draft.configuration if settled.draft is not None and not plan.which.is_first else ""
    row = SurveyRow(project.file(function), function.line, function.name, configuration)
    return row, SurveyColumn(str(settled.case.target), plan.toolchain.release)


class _Estimate:
    """How far a survey is, and how long it still takes at the speed until now."""

    def __init__(self, expected: int) -> None:
        self._expected, self._done = expected, 0
        self._began = self._noted = time.monotonic()

    def line(self, settled: Sequence[Settled]) -> str:
        """After one more kernel was compiled for a target."""
        self._done += 1
        left_s = (time.monotonic() - self._began) / self._done * (self._expected - self._done)
        left = f"{left_s / 60:.0f} min" if left_s > 90 else f"{left_s:.0f} s"
        plan = settled[0].plan
        return f"{self._done} of {self._expected}, {left} left: {plan.function.name} for {plan.base.target}"

    def is_due(self) -> bool:
        """Whether it is time for another line in a log."""
        now = time.monotonic()
        if now - self._noted < _NOTED_S:
            return False
        self._noted = now
        return True
