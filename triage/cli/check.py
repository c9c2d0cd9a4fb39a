"""``triage check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from triage import knowledge
from triage.cases.artifacts.stages import UNFINISHED
from triage.cases.locate import locate_all
from triage.cli.ci import Outputs, with_outputs
from triage.cli.options import case_options, compile_options, repeating
from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes, parse_size
from triage.model.case import Case
from triage.model.errors import TriageError
from triage.model.report import Report
from triage.pipeline import Options, Session
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import report as render
from triage.publish.visible import one_line
from triage.suggest.budget import Budget

_ENDED_NOW = "did not end then, and compiles now: it was killed from outside, had other options, or is still under way"


@click.command("check")
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@case_options
@compile_options
@click.option("--no-suggest", is_flag=True, help="Do not search for neighbours that compile.")
@click.option(
    "--budget",
    metavar="N|SECONDSs",
    help=f"Compile at most N neighbours, or for that long: 20, 30s. [{Budget().compiles}, {Budget().seconds:g}s]",
)
@click.option("--bench", is_flag=True, help="Time the suggestions on this machine's GPU; the fastest comes first.")
@click.option("--kb", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Entries of your own.")
@click.option("--json", "as_json", is_flag=True, help="Print report documents, and nothing else, on standard output.")
@click.option("-o", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Keep all artifacts there.")
@click.option("--full", is_flag=True, help="Reduce what fails, and try it with other releases, too: the whole report.")
@with_outputs("check")
def command(
    cases: tuple[str, ...], as_json: bool, folder: Path | None, full: bool, outputs: Outputs, **given: Any
) -> int:
    """Compile each CASE in isolation; if it fails, diagnose it and name what compiles instead.

    CASE is kernel.py::function (with --arg and --const), a case folder, its case.json, a reproducer's name, or what
    another tool left: IR (kernel.ttgir), a folder of Triton's cache or dump, an MLIR reproducer.
    """
    found = [one for text in cases for one in _located(text, given)]
    options = Options(
        triton=given["triton"],
        python=given["python"],
        limits=Limits(
            given["timeout"] or DEFAULT_TIMEOUT_S,
            parse_size(given["memory"]) if given["memory"] else default_memory_bytes(),
        ),
        jobs=given["jobs"],
        cache=not given["no_cache"],
        suggest=not given["no_suggest"],
        budget=Budget.parse(given["budget"]) if given["budget"] else Budget(),
        bench=given["bench"],
        knowledge=given["kb"],
    )
    codes = []
    failing: list[tuple[Report, str, Path | None]] = []
    for line in knowledge.problems(options.knowledge):
        click.echo(one_line(f"triage: {line}"), err=True)
    with console.progress() as progress, Session(options, progress) as session:
        answers = session.check_all(case for _, case in found)
        for number, ((text, _), answer) in enumerate(zip(found, answers, strict=True)):
            if isinstance(answer, TriageError):
                click.echo(one_line(f"triage: {answer}"), err=True)
                outputs.error(text, answer)
                codes.append(answer.exit_code)
                continue
            place = _place(folder, answer, number if len(found) > 1 else None)
            report = answer
            if place is not None:
                from triage.publish.keep import keep

                report = keep(answer, place)
            again = repeating("check", text, given)
            if full and report.outcome.failed:
                failing.append((report, again, place))
            else:
                _print(report, again, as_json, single=len(found) == 1)
            outputs.report(text, report)
            codes.append(int(report.outcome.failed))
    for report, again, place in failing:
        from triage.cli.full import complete

        complete(report, again, options, place, as_json, single=len(found) == 1)
    return max(codes, default=0)


def _located(text: str, given: dict[str, Any]) -> list[tuple[str, Case]]:
    """The cases that a CASE names, each with what names it alone."""
    found = locate_all(text, given)
    for line in found.said:
        click.echo(one_line(f"triage: {line}"), err=True)
    return [(text if len(found.cases) == 1 else str(case.folder), case) for case in found.cases]


def _place(folder: Path | None, report: Report, number: int | None) -> Path | None:
    """Where a report is kept: with several, each in a folder of its own."""
    if folder is None or number is None:
        return folder
    return folder / f"{number + 1:03d}-{report.case.name}"


def _print(report: Report, again: str, as_json: bool, single: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2 if single else None))
    else:
        render.report(console.output(), report, again)
    if report.case.origin.get(UNFINISHED) and not report.outcome.failed:
        click.echo(f"triage: {report.case.name} {_ENDED_NOW}", err=True)
