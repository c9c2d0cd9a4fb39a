"""``triage check`` of a project: a table of kernels, targets and releases."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.capture.program.labels import label
from triage.cli.drafts import stated_for, which
from triage.cli.options import note, note_error, pipeline_options, print_json
from triage.drafts import plans
from triage.drafts.drafting import FIRST, Settled
from triage.filesystem.files import replace_file, writing
from triage.matrix import releases
from triage.model.compilers import COMPILERS, CUTE, Compiler
from triage.model.errors import TriageError, fault
from triage.model.report import Report
from triage.model.target import Target
from triage.pipeline import Session
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import survey as render
from triage.survey.run import fill, new_table
from triage.survey.table import SurveyColumn, SurveyRow

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord


def survey(
    text: str,
    path: Path,
    columns: list[Target],
    as_json: bool,
    folder: Path | None,
    record: CiRecord | None,
    values: dict[str, Any],
) -> int:
    """Compile every kernel of a project for all targets and releases; print the table, or with ``--json`` a document a
    cell. The exit code."""
    chosen = {compiler: _releases(values[compiler.name], compiler) for compiler in COMPILERS.values()}
    first_releases = {compiler.name: chosen[compiler][0] for compiler in chosen}
    options = replace(pipeline_options({**values, **first_releases}), suggest=False)
    with console.progress() as progress, Session(options, replace(progress, problem=note_error)) as session:
        progress.step(f"reading the kernels of {text}")
        project = plans.read(path, text)
        stated = stated_for(project.chosen(), values)
        plans.check_names(stated, project.chosen())
        if (unread := project.unread()) is not None:
            note(f"{text}: {unread}")
        names = [function.name for function in project.kernels]
        progress.caveats(plans.columns(project.kernels, columns))
        settings = plans.SurveySettings(
            stated=stated,
            targets=columns,
            toolchains=session.toolchains(project.kernels, chosen),
            limits=options.limits,
            action=session.compiling(keep=folder is not None),
            which=which(values, FIRST),
        )
        table = new_table(project, settings)

        def answered(row: SurveyRow, column: SurveyColumn, settled: Settled, answer: Report | TriageError) -> None:
            compiler = settled.plan.toolchain.compiler
            name = f"{row.file}::{row.label} for {column.target}, {compiler.label(column.triton)}"
            if as_json:
                if isinstance(answer, TriageError):
                    document = {"case": name, "could_not_tell": str(answer), "exit_code": answer.exit_code}
                else:
                    document = answer.to_json()
                print_json(document, indented=False)
            if record is not None:
                if isinstance(answer, TriageError):
                    record.error(name, answer)
                else:
                    record.report(name, answer)
            if folder is not None and isinstance(answer, Report) and answer.outcome.failed:
                ambiguous = names.count(row.kernel) > 1
                _keep(answer, folder, row, column, ambiguous)

        try:
            fill(table, project, settings, session, answered)
        finally:
            if folder is not None:
                with writing(f"-o {folder}"):
                    replace_file(folder / "survey.json", render.document(table), folder)
            if as_json:
                note(render.summary(table))
            else:
                render.table(console.output(), table, lambda row, column: _again(path, row, column, values))
    return table.exit_code


def _releases(text: str | None, compiler: Compiler) -> list[str | None]:
    """The releases that the option of a compiler names; None for the default one."""
    if not releases.is_several(text):
        return [text]
    from triage.harness.toolchains import Toolchains

    installed = [tool.release for tool in Toolchains().installed() if tool.compiler == compiler]
    return list(releases.select([text or ""], installed, compiler).chosen)


def _keep(report: Report, folder: Path, row: SurveyRow, column: SurveyColumn, ambiguous: bool) -> None:
    """Keep a failure in a folder named by kernel, target and release; ``ambiguous``: and by the kernel's file."""
    from triage.publish.keep import keep

    case = report.case
    name = f"{label(case.name, case.constexprs, case.options)}-{column.target}-{column.triton}".replace(":", "-")
    if ambiguous:
        name = f"{row.file.removesuffix('.py').replace(os.sep, '.')}-{name}"
    try:
        keep(report, folder / name, folder)
    except Exception as error:
        note_error(fault(error))


def _again(path: Path, row: SurveyRow, column: SurveyColumn, values: dict[str, Any]) -> str:
    """The command that triages a cell."""
    file = path / row.file if path.is_dir() else path
    shown = os.path.relpath(file)
    words = ["triage", "check", f"{shown if not shown.startswith('..') else file}::{row.kernel}"]
    words += ["--target", column.target, "--config", "first"]
    if values["python"]:
        words += ["--python", values["python"]]
    elif values["triton"] or values["cute"]:
        words += [CUTE.option if column.triton in CUTE.releases else "--triton", column.triton]
    return shlex.join(words)
