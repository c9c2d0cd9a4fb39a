"""``triage check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage import knowledge
from triage.cases.artifacts.stages import UNFINISHED
from triage.cases.locate import locate_all
from triage.cli.ci import with_outputs
from triage.cli.options import (
    DIRECTORY,
    budget_option,
    case_options,
    compile_options,
    kb_option,
    note,
    pipeline_options,
    print_json,
    repeating,
)
from triage.model.case import Case
from triage.model.errors import TriageError
from triage.model.report import Report
from triage.pipeline import Session
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import report as render

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord


@click.command("check")
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@case_options
@compile_options
@click.option("--no-suggest", is_flag=True, help="Do not search for neighbours that compile.")
@budget_option
@click.option("--bench", is_flag=True, help="Time the suggestions on this machine's GPU; list the fastest first.")
@kb_option
@click.option("--json", "as_json", is_flag=True, help="Print report documents, and nothing else, on standard output.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Keep all artifacts in this folder.")
@click.option("--full", is_flag=True, help="Also reduce a failure, and compile it with other releases.")
@with_outputs("check")
def command(
    cases: tuple[str, ...], as_json: bool, folder: Path | None, full: bool, record: CiRecord | None, **values: Any
) -> int:
    """Compile each CASE in isolation; if it fails, diagnose it and suggest what compiles instead.

    CASE is kernel.py::function (with --arg and --const), a case folder, its case.json, a reproducer's name, or what
    another tool left: IR (kernel.ttgir), a folder of Triton's cache or dump, an MLIR reproducer.
    """
    located = [named_case for text in cases for named_case in _located(text, values)]
    options = pipeline_options(values)
    codes = []
    incomplete: list[tuple[Report, str, Path | None]] = []
    single = len(located) == 1
    for line in knowledge.problems(options.knowledge):
        note(line)
    with console.progress() as progress, Session(options, progress) as session:
        answers = session.check_all(case for _, case in located)
        for number, ((text, _), answer) in enumerate(zip(located, answers, strict=True), start=1):
            if isinstance(answer, TriageError):
                note(answer)
                if record is not None:
                    record.error(text, answer)
                codes.append(answer.exit_code)
                continue
            report_folder = folder if folder is None or single else folder / f"{number:03d}-{answer.case.name}"
            report = answer
            if report_folder is not None:
                from triage.publish.keep import keep

                report = keep(answer, report_folder)
            command_line = repeating("check", text, values)
            if full and report.outcome.failed:
                incomplete.append((report, command_line, report_folder))
            else:
                _print(report, command_line, as_json, single)
            if record is not None:
                record.report(text, report)
            codes.append(int(report.outcome.failed))
    if incomplete:
        from triage.cli.full import complete

        for report, command_line, report_folder in incomplete:
            complete(report, command_line, options, report_folder, as_json, single)
    return max(codes, default=0)


def _located(text: str, values: dict[str, Any]) -> list[tuple[str, Case]]:
    """The cases that one CASE names, each with a name of its own."""
    located = locate_all(text, values)
    for line in located.notes:
        note(line)
    return [(text if len(located.cases) == 1 else str(case.folder), case) for case in located.cases]


def _print(report: Report, command_line: str, as_json: bool, single: bool) -> None:
    if as_json:
        print_json(report.to_json(), single)
    else:
        render.report(console.output(), report, command_line)
    if report.case.origin.get(UNFINISHED) and not report.outcome.failed:
        reasons = "it was killed from outside, had other options, or is still running"
        click.echo(f"triage: {report.case.name} did not finish then, but compiles now: {reasons}", err=True)
