"""``triage run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage.capture.captured import RunFolder
from triage.capture.counts import total
from triage.capture.run import ProgramRun, run
from triage.capture.service.start import DEFAULT_TIMEOUT_S, Settings
from triage.cli.options import (
    DIRECTORY,
    budget,
    budget_option,
    kb_option,
    machine_options,
    memory_bytes,
    note,
    note_error,
    pipeline_options,
    timeout_option,
)
from triage.filesystem import scratch
from triage.filesystem.files import usable_folder, writing
from triage.model.errors import InputError, fault

if TYPE_CHECKING:
    from triage.capture.compile_only import CompileOnly


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
@timeout_option("End the program if one of its compiles takes longer. [never]")
@click.option(
    "--guard",
    is_flag=True,
    help="Try each compile in isolation first. One that would kill the program, or exceed --timeout, raises an "
    "exception that an autotuner skips.",
)
@click.option(
    "--compile-only",
    is_flag=True,
    help="Compile the kernels of COMMAND for --target, which need not be present, and launch nothing. Device tensors "
    "of torch are fake. The exit code is 1 if a kernel failed.",
)
@click.option("--target", metavar="cuda:90|hip:gfx942", help="The target of --compile-only.")
@machine_options
@click.option("--no-suggest", is_flag=True, help="Do not search for neighbours that compile.")
@budget_option
@kb_option
@click.option("--json", "as_json", is_flag=True, help="Write run.json beside the cases, and print only its path.")
@click.option("--keep-all", is_flag=True, help="Also keep the cases that compiled.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Keep cases and artifacts in this folder.")
def command(command: tuple[str, ...], folder: Path | None, as_json: bool, keep_all: bool, **values: Any) -> int:
    """Run COMMAND unchanged; triage the kernels in it that do not compile.

    A compile that raises, ends its process or, with --timeout, does not finish, is captured as a case. After the
    program has ended, it is reported as by `check`, on standard error. The exit code is the program's.
    """
    # Before the program runs, so that a wrong option is not reported hours later.
    memory = memory_bytes(values)
    budget(values)
    if keep_all and folder is None:
        raise InputError("--keep-all: needs a folder; add -o DIR")
    if values["compile_only"] != bool(values["target"]):
        raise InputError("--compile-only and --target go together: --target cuda:90 --compile-only")
    if folder:
        usable_folder("-o", folder)
    home = None if folder else scratch.new("run")
    run_path = home.folder if home else folder
    assert run_path
    with writing(run_path):
        run_folder = RunFolder(run_path)
    has_results = False
    compile_only = guard = None
    if values["guard"]:
        guard = Settings(
            timeout_s=values["timeout"] or DEFAULT_TIMEOUT_S,
            memory_bytes=memory,
            jobs=values["jobs"],
            cache=not values["no_cache"],
            knowledge=tuple(str(kb_folder.absolute()) for kb_folder in values["kb"]),
        )
    try:
        if values["target"]:
            from triage.capture.compile_only import CompileOnly

            compile_only = CompileOnly.parse(values["target"], run_folder.path)
        variables = compile_only.variables() if compile_only else {}
        # With a guard, the limit applies to the compile in the guard's worker.
        timeout = None if guard else values["timeout"]
        finished = run(command, run_folder, timeout, keep_all, guard, variables)
        capture = finished.capture
        has_results = bool(capture.compiles or capture.notes or capture.helion or as_json)
        try:
            _report(finished, run_folder, compile_only, command, as_json, folder is not None, values)
        except Exception as error:
            # The program's exit code is passed through even if triage fails.
            note_error(fault(error))
    finally:
        if home and not has_results:
            home.remove()
        else:
            run_folder.tidy()
            if home:
                home.keep()
            if compile_only:
                compile_only.tidy()
    return 1 if compile_only and not finished.code and total(finished.capture).failed else finished.code


def _report(
    finished: ProgramRun,
    run_folder: RunFolder,
    compile_only: CompileOnly | None,
    program: tuple[str, ...],
    as_json: bool,
    keep_reports: bool,
    values: dict[str, Any],
) -> None:
    """Triage the captured failures and print the results. Without a failure, this loads none of the modules that only a
    report needs."""
    reached = compile_only.reached(finished.capture) if compile_only else None
    if reached and not as_json:
        for line in reached.lines():
            note(line)
    if not finished.capture.failed_cases and not as_json:
        died = [finished.ending(program)] if finished.killed else []
        for line in (*died, *finished.capture.lost(), finished.capture.summary()):
            note(line)
        return
    from triage.capture.document import document, keep
    from triage.capture.findings import triage_captures, untriaged
    from triage.model.progress import Progress
    from triage.publish.formats.terminal import console
    from triage.publish.formats.terminal import run as render_run

    options = pipeline_options(values)
    output = console.output(stderr=True)
    captured = finished.capture.compiles
    if as_json:
        findings = untriaged(captured) if finished.interrupted else triage_captures(captured, options, Progress())
        path = document(finished, keep(findings), program, run_folder.path, reached)
        click.echo(f"triage: {path}", err=True)
        return
    render_run.ended(output, finished, program)
    with console.progress() as progress:
        findings = untriaged(captured) if finished.interrupted else triage_captures(captured, options, progress)
    if keep_reports:
        findings = keep(findings)
    render_run.findings(output, findings)
    render_run.summary(output, finished, findings)
