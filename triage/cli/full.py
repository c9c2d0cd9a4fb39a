"""``triage check --full``: minimize, matrix and report for a case that fails, as those commands do them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from triage.cli import matrix
from triage.cli.options import note, print_json
from triage.filesystem import scratch
from triage.filesystem.files import make_folder, replace_file, writing
from triage.harness.deadline import BUDGET_MARGIN, Deadline
from triage.harness.engine import Engine
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.matrix import releases
from triage.matrix.runner import Runner
from triage.model.errors import EnvironmentFault, TriageError
from triage.model.progress import Progress
from triage.model.report import Report
from triage.pipeline import Options
from triage.publish import finished, render
from triage.publish.compose.whole import scrubber_for
from triage.publish.formats.terminal import console
from triage.publish.keep import keep
from triage.publish.obtain import reduce

_REDUCTION_S = 300.0
"""Time limit of the reduction. Kernels of forty lines take one to two minutes; a report can use any partial result."""
_WRITTEN = (("report.md", render.Format.MARKDOWN), ("report.html", render.Format.HTML))


def complete(
    report: Report,
    command_line: str,
    options: Options,
    folder: Path | None,
    as_json: bool,
    single: bool,
) -> None:
    """Reduce the case, compile it with the installed releases and the newest, and print the whole report.

    ``folder`` contains the artifacts of the check, and gets the others. A step that fails is named, and the report goes
    on without it; so it does without what is not done at the end of the time budget, or at an interrupt, which is
    raised again in the end.
    """
    with scratch.folder("full") as work:
        output = folder or work
        if folder is None:
            keep(report, output)
        interrupted = False
        try:
            with console.progress() as progress:
                with _skipped("not reduced"):
                    seconds = min(_REDUCTION_S, _left_s(options))
                    minimized = output / "minimized"
                    with writing(minimized):
                        make_folder(minimized, output)
                    reduce(report.case, options, minimized, progress, seconds=seconds, resume=options.cache)
                with _skipped("no other releases"):
                    deadline = Deadline(time.monotonic() + BUDGET_MARGIN * _left_s(options))
                    _matrix(report, options, output / "matrix", progress, command_line, deadline)
        except KeyboardInterrupt:
            interrupted = True
        triage = replace(finished.read(output), again=command_line)
        if as_json:
            print_json(render.document(triage, None), single)
        else:
            click.echo(render.render(triage, render.Format.TEXT, scrubber_for(triage)), nl=False)
        if folder is not None:
            with writing(f"-o {folder}"):
                for name, format_ in _WRITTEN:
                    replace_file(folder / name, render.render(triage, format_, scrubber_for(triage)), folder)
            note(f"{', '.join(name for name, _ in _WRITTEN)} in {folder}")
        if interrupted:
            raise KeyboardInterrupt


def _left_s(options: Options) -> float:
    """Seconds that are left of the budget. Raises EnvironmentFault when these are none."""
    if (left_s := options.budget.end - time.monotonic()) <= 0:
        raise EnvironmentFault("the time budget is used up; give a larger --budget")
    return left_s


@contextmanager
def _skipped(missing: str) -> Iterator[None]:
    """Print an error of triage, and what is missing in the report for it."""
    try:
        yield
    except TriageError as error:
        note(f"{missing}: {error}")


def _matrix(
    report: Report, options: Options, folder: Path, progress: Progress, command_line: str, deadline: Deadline
) -> None:
    """Compile with the installed releases, and with the newest, which a maintainer asks for first."""
    toolchains = Toolchains(progress=progress.note, deadline=deadline)
    compiler = report.case.compiler
    installed = [toolchain.release for toolchain in toolchains.installed(compiler)]
    words = [releases.INSTALLED] * bool(installed) + [compiler.releases[-1]]
    selection = releases.select(words, installed, compiler)
    builds = releases.builds([f"own={options.python}"] if options.python else [], selection.known)
    store = Store(note=progress.warn) if options.cache else None
    with Engine(options.jobs, store, toolchains.installed, deadline, keep=True) as engine:
        cases = {str(report.case.target): report.case}
        runner = Runner(cases, engine, toolchains, options.limits, options.cache, True, progress)
        table = runner.table(selection, builds)
    matrix.keep_table(folder, table, command_line, folder.parent)
    if runner.interrupted:
        raise KeyboardInterrupt
