"""``triage run``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage.capture.captured import RunFolder
from triage.capture.run import ProgramRun, run
from triage.capture.service.settings import DEFAULT_TIMEOUT_S, Settings
from triage.cli.options import machine_options, timeout_option
from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.publish.visible import one_line
from triage.suggest.budget import Budget

if TYPE_CHECKING:
    from triage.capture.compile_only import CompileOnly


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
@timeout_option("End the program when one of its compiles takes longer. [never]")
@click.option(
    "--guard",
    is_flag=True,
    help="Try each compile in isolation first: what would kill the program, or with --timeout not end, raises in it "
    "what an autotuner passes over.",
)
@click.option(
    "--compile-only",
    is_flag=True,
    help="Compile COMMAND's kernels for --target, which need not be here, and launch nothing; torch's device tensors "
    "are fake. The exit code is 1 where a kernel failed.",
)
@click.option("--target", metavar="cuda:90|hip:gfx942", help="Of --compile-only.")
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
    if given["compile_only"] != bool(given["target"]):
        raise InputError("--compile-only and --target go together: --target cuda:90 --compile-only")
    place = _folder(folder)
    left = False
    only = None
    guard = _settings(memory, given) if given["guard"] else None
    try:
        only = _compile_only(given["target"], place) if given["target"] else None
        more = only.variables() if only else {}
        # With a guard a compile has its time in the guard's worker.
        ran = run(command, place, None if guard else given["timeout"], keep_all, guard, more)
        left = bool(ran.capture.compiles or ran.capture.notes or ran.capture.helion or as_json)
        try:
            _report(ran, place, only, command, as_json, folder is not None, memory, budget, given)
        except TriageError as error:
            # The program has done its work, whatever becomes of triage's own.
            click.echo(one_line(f"triage: {error}"), err=True)
    finally:
        if folder is None and not left:
            place.discard()
        else:
            place.tidy()
            if only:
                only.tidy()
    return 1 if only and not ran.code and ran.capture.failed else ran.code


def _compile_only(target: str, place: RunFolder) -> CompileOnly:
    from triage.capture.compile_only import CompileOnly

    return CompileOnly.parse(target, place.path)


def _settings(memory: int | None, given: dict[str, Any]) -> Settings:
    return Settings(
        timeout_s=given["timeout"] or DEFAULT_TIMEOUT_S,
        memory_bytes=memory,
        jobs=given["jobs"],
        cache=not given["no_cache"],
        knowledge=tuple(str(one.absolute()) for one in given["kb"]),
    )


def _size(text: str | None) -> int | None:
    if not text:
        return None
    from triage.harness.limits import parse_size

    return parse_size(text)


def _report(
    ran: ProgramRun,
    place: RunFolder,
    only: CompileOnly | None,
    asked: tuple[str, ...],
    as_json: bool,
    kept: bool,
    memory: int | None,
    budget: Budget,
    given: dict[str, Any],
) -> None:
    """Say what was found. A program that compiles well does not wait for what only a report needs."""
    reached = only.reached(ran.capture) if only else None
    if reached and not as_json:
        for line in reached.lines():
            click.echo(f"triage: {one_line(line)}", err=True)
    if not ran.capture.failed_cases and not as_json:
        click.echo(f"triage: {ran.capture.summary()}", err=True)
        return
    from triage.capture.document import document, keep
    from triage.capture.findings import triage_captures
    from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes
    from triage.model.progress import Progress
    from triage.pipeline import Options
    from triage.publish.formats.terminal import console
    from triage.publish.formats.terminal import run as render_run

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
        findings = triage_captures(ran.capture.compiles, options, Progress())
        path = document(ran, keep(findings), asked, place.path, reached)
        click.echo(f"triage: {path}", err=True)
        return
    render_run.ended(output, ran, asked)
    with console.progress() as progress:
        findings = triage_captures(ran.capture.compiles, options, progress)
    if kept:
        findings = keep(findings)
    render_run.findings(output, findings)
    render_run.summary(output, ran, findings)


def _folder(folder: Path | None) -> RunFolder:
    try:
        return RunFolder(folder or Path(tempfile.mkdtemp(prefix="triage-run-")))
    except OSError as error:
        raise EnvironmentFault(f"{folder or tempfile.gettempdir()}: cannot be written: {error.strerror}") from None
