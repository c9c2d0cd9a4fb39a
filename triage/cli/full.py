"""``triage check --full``: minimize, matrix and report for a case that fails, as those commands do them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from triage.cli import matrix
from triage.harness.engine import Engine
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.matrix import releases
from triage.matrix.runner import Runner
from triage.minimize.result import MinimizeOptions
from triage.minimize.run import minimize
from triage.model.errors import EnvironmentFault, TriageError
from triage.model.progress import Progress
from triage.model.releases import RELEASES
from triage.model.report import Report
from triage.pipeline import Options
from triage.publish import finished, render
from triage.publish.compose.whole import scrubber_for
from triage.publish.formats.terminal import console
from triage.publish.keep import keep
from triage.publish.visible import one_line

_REDUCTION_S = 300.0
"""Time limit of the reduction. Kernels of forty lines take one to two minutes; a report can use any partial result."""
_WRITTEN = (("report.md", render.Format.MARKDOWN), ("report.html", render.Format.HTML))


def complete(
    report: Report, command_line: str, options: Options, folder: Path | None, as_json: bool, single: bool
) -> None:
    """Reduce the case, compile it with the installed releases and the newest, and print the whole report.

    ``folder`` contains the artifacts of the check, and gets the others. A step that fails is named, and the report goes
    on without it.
    """
    with _output_folder(report, folder) as output:
        with console.progress() as progress:
            _step("not reduced", lambda: _minimize(report, options, output / "minimized", progress))
            _step("no other releases", lambda: _matrix(report, options, output / "matrix", progress, command_line))
        triage = replace(finished.read(output), again=command_line)
        if as_json:
            click.echo(json.dumps(render.document(triage, None), indent=2 if single else None))
        else:
            click.echo(render.render(triage, render.Format.TEXT, scrubber_for(triage)), nl=False)
        if folder is not None:
            _write(triage, folder)


@contextmanager
def _output_folder(report: Report, folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory(prefix="triage-full-") as scratch:
        keep(report, Path(scratch))
        yield Path(scratch)


def _step(missing: str, work: Callable[[], None]) -> None:
    try:
        work()
    except TriageError as error:
        click.echo(one_line(f"triage: {missing}: {error}"), err=True)


def _minimize(report: Report, options: Options, folder: Path, progress: Progress) -> None:
    reduction = MinimizeOptions(
        folder=folder,
        triton=options.triton,
        python=options.python,
        limits=options.limits,
        jobs=options.jobs,
        seconds=_REDUCTION_S,
        resume=options.cache,
    )
    minimize(report.case, reduction, progress)


def _matrix(report: Report, options: Options, folder: Path, progress: Progress, command_line: str) -> None:
    """Compile with the installed releases, and with the newest, which a maintainer asks for first."""
    toolchains = Toolchains(progress=progress.note)
    installed = [toolchain.triton for toolchain in toolchains.installed()]
    selection = releases.select([releases.INSTALLED] * bool(installed) + [RELEASES[-1]], installed)
    builds = releases.builds([f"own={options.python}"] if options.python else [], selection.known)
    store = Store() if options.cache else None
    with Engine(jobs=options.jobs, store=store, spare=toolchains.installed) as engine:
        cases = {str(report.case.target): report.case}
        table = Runner(cases, engine, toolchains, options.limits, options.cache, True, progress).table(
            selection, builds
        )
    matrix.keep_table(folder, table, command_line)


def _write(triage: finished.Finished, folder: Path) -> None:
    for name, format_ in _WRITTEN:
        try:
            (folder / name).write_text(render.render(triage, format_, scrubber_for(triage)), encoding="utf-8")
        except OSError as error:
            raise EnvironmentFault(f"-o {folder}: cannot be written: {error.strerror}") from None
    click.echo(one_line(f"triage: {', '.join(name for name, _ in _WRITTEN)} in {folder}"), err=True)
