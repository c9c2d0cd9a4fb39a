"""``triage run``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from triage.capture.captured import RunFolder
from triage.capture.run import Ran, run
from triage.cli.options import machine_options, timeout_option
from triage.cli.text import one_line
from triage.errors import EnvironmentFault, InputError, TriageError
from triage.suggest.budget import Budget


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
@timeout_option("End the program when one of its compiles takes longer. [never]")
@machine_options
@click.option("--no-suggest", is_flag=True, help="Do not search for neighbours that compile.")
@click.option(
    "--budget",
    metavar="N|SECONDSs",
    help=f"Compile at most N neighbours, or for that long: 20, 30s. [{Budget().compiles}, {Budget().seconds:g}s]",
)
@click.option("--kb", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Entries of your own.")
@click.option("--json", "as_json", is_flag=True, help="Write run.json beside the cases, and say where, instead.")
@click.option("--keep-all", is_flag=True, help="Keep the cases of the compiles that went well, too.")
@click.option("-o", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Keep cases and artifacts there.")
def command(command: tuple[str, ...], folder: Path | None, as_json: bool, keep_all: bool, **given: Any) -> int:
    """Run COMMAND unchanged; triage what fails to compile in it.

    A compile that raises, or ends its process, or, with --timeout, does not end, is captured as a case and reported
    on as `check` does, on standard error, when the program has ended. Its exit code is passed through.
    """
    # What is wrong with these is said before the program runs, not when it has.
    memory = _size(given["memory"])
    budget = Budget.parse(given["budget"]) if given["budget"] else Budget()
    if keep_all and folder is None:
        raise InputError("--keep-all: say where, with -o DIR")
    place = _folder(folder)
    left = False
    try:
        ran = run(command, place, given["timeout"], keep_all)
        left = bool(ran.capture.found or ran.capture.notes or as_json)
        try:
            _report(ran, place, command, as_json, folder is not None, memory, budget, given)
        except TriageError as error:
            # The program has done its work, whatever becomes of triage's own.
            click.echo(one_line(f"triage: {error}"), err=True)
    finally:
        if folder is None and not left:
            place.discard()
        else:
            place.tidy()
    return ran.code


def _size(text: str | None) -> int | None:
    if not text:
        return None
    from triage.harness.limits import parse_size

    return parse_size(text)


def _report(
    ran: Ran,
    place: RunFolder,
    asked: tuple[str, ...],
    as_json: bool,
    kept: bool,
    memory: int | None,
    budget: Budget,
    given: dict[str, Any],
) -> None:
    """Say what was found. A program that compiles well does not wait for what only a report needs."""
    if not ran.capture.failed_cases and not as_json:
        click.echo(f"triage: {ran.capture.summary()}", err=True)
        return
    from triage.capture.document import document, keep
    from triage.capture.findings import look_into
    from triage.cli import console, render_run
    from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes
    from triage.progress import Progress
    from triage.session import Options

    options = Options(
        limits=Limits(given["timeout"] or DEFAULT_TIMEOUT_S, memory or default_memory_bytes()),
        jobs=given["jobs"],
        cache=not given["no_cache"],
        suggest=not given["no_suggest"],
        budget=budget,
        knowledge=given["kb"],
    )
    output = console.output(stderr=True)
    if as_json:
        findings = look_into(ran.capture.found, options, Progress())
        path = document(ran, keep(findings), asked, place.path)
        click.echo(f"triage: {path}", err=True)
        return
    render_run.ended(output, ran, asked)
    with console.progress() as progress:
        findings = look_into(ran.capture.found, options, progress)
    if kept:
        findings = keep(findings)
    render_run.findings(output, findings)
    render_run.summary(output, ran, findings)


def _folder(folder: Path | None) -> RunFolder:
    try:
        return RunFolder(folder or Path(tempfile.mkdtemp(prefix="triage-run-")))
    except OSError as error:
        raise EnvironmentFault(f"{folder or tempfile.gettempdir()}: cannot be written: {error.strerror}") from None
