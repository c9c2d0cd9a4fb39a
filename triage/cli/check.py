"""``triage check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from triage import knowledge
from triage.cli import console, render
from triage.cli.options import case_options, compile_options, repeating
from triage.cli.text import one_line
from triage.errors import TriageError
from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes, parse_size
from triage.locate import locate
from triage.report import Report
from triage.session import Options, Session, keep_artifacts
from triage.suggest.budget import Budget


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
def command(cases: tuple[str, ...], as_json: bool, folder: Path | None, **given: Any) -> int:
    """Compile each CASE in isolation; if it fails, diagnose it and name what compiles instead.

    CASE is kernel.py::function (with --arg and --const), a case folder, its case.json, or a reproducer's name.
    """
    found = [locate(text, given) for text in cases]
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
    for line in knowledge.problems(options.knowledge):
        click.echo(one_line(f"triage: {line}"), err=True)
    with console.progress() as progress, Session(options, progress) as session:
        for number, (text, answer) in enumerate(zip(cases, session.check_all(found), strict=True)):
            if isinstance(answer, TriageError):
                click.echo(one_line(f"triage: {answer}"), err=True)
                codes.append(answer.exit_code)
                continue
            report = _kept(answer, folder, number if len(cases) > 1 else None)
            _print(report, repeating("check", text, given), as_json, single=len(cases) == 1)
            codes.append(int(report.outcome.failed))
    return max(codes)


def _kept(report: Report, folder: Path | None, number: int | None) -> Report:
    if folder is None:
        return report
    place = folder if number is None else folder / f"{number + 1:03d}-{report.case.name}"
    kept = keep_artifacts(report, place)
    (place / "report.json").write_text(json.dumps(kept.to_json(), indent=2) + "\n")
    return kept


def _print(report: Report, again: str, as_json: bool, single: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.to_json(), indent=2 if single else None))
    else:
        render.report(console.output(), report, again)
