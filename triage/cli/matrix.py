"""``triage matrix``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import kernel_options, limit_options, repeating
from triage.harness.engine import Engine
from triage.harness.limits import DEFAULT_TIMEOUT_S, Limits, default_memory_bytes, parse_size
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.matrix import releases
from triage.matrix.runner import Runner
from triage.matrix.table import Table
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import matrix as render_matrix


@click.command("matrix")
@click.argument("text", metavar="CASE")
@kernel_options
@click.option("--target", "targets", multiple=True, metavar="TARGET,...", help="A column each. [the case's own]")
@click.option(
    "--triton",
    "tritons",
    multiple=True,
    metavar="RELEASES",
    help="A row each: 3.0..3.9, 3.2,3.6.0, installed, all. [installed]",
)
@click.option("--python", "pythons", multiple=True, metavar="[LABEL=]PATH", help="One more row: somebody's own build.")
@click.option("--bisect", is_flag=True, help="Find the edges only: at most log2 of the releases + 2 compiles a target.")
@limit_options
@click.option("--json", "as_json", is_flag=True, help="Print the table as a document.")
@click.option("--markdown", is_flag=True, help="Print the table for an issue.")
@click.option("-o", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Keep table and artifacts there.")
def command(
    text: str,
    targets: tuple[str, ...],
    tritons: tuple[str, ...],
    pythons: tuple[str, ...],
    bisect: bool,
    as_json: bool,
    markdown: bool,
    folder: Path | None,
    **given: Any,
) -> int:
    """Compile CASE with many Triton releases, for one or several targets: where it started, where it was fixed.

    A range takes the newest patch release of each series (all of them where an end has a patch number), and then
    those between two rows of which one fails. Releases that are not installed are made while others compile.

    Exit codes: 1 when any cell fails, 0 when none does, 3 when none could be told.
    """
    if as_json and markdown:
        raise InputError("--json and --markdown exclude each other; -o DIR writes both")
    cases = _cases(text, targets, given)
    limits = Limits(
        given["timeout"] or DEFAULT_TIMEOUT_S,
        parse_size(given["memory"]) if given["memory"] else default_memory_bytes(),
    )
    with console.progress() as progress:
        toolchains = Toolchains(progress=progress.note)
        selection, builds = _rows(tritons, pythons, toolchains)
        store = None if given["no_cache"] else Store()
        with Engine(jobs=given["jobs"], store=store, spare=toolchains.installed) as engine:
            keep = folder is not None
            runner = Runner(cases, engine, toolchains, limits, not given["no_cache"], keep, progress)
            table = runner.bisect(selection, builds) if bisect else runner.table(selection, builds)
    again = repeating(
        "matrix", text, {"target": targets, "triton": tritons, "python": pythons, "bisect": bisect, **given}
    )
    if folder is not None:
        keep_table(folder, table, again)
    if as_json:
        click.echo(json.dumps(table.to_json(), indent=2))
    elif markdown:
        click.echo(render_matrix.markdown(table, again), nl=False)
    else:
        render_matrix.table(console.output(), table, again)
    return int(table.failed)


def _cases(text: str, targets: Iterable[str], given: dict[str, Any]) -> dict[str, Case]:
    """The case by target, in the order in which they were named."""
    named = [word.strip() for target in targets for word in target.split(",")]
    found = [locate(text, {**given, "target": target}) for target in named] or [locate(text, given)]
    return {str(case.target): case for case in found}


def _rows(
    tritons: tuple[str, ...], pythons: tuple[str, ...], toolchains: Toolchains
) -> tuple[releases.Selection, list[releases.Row]]:
    if pythons and not tritons:
        selection = releases.Selection((), ())
    else:
        installed = [toolchain.triton for toolchain in toolchains.installed()]
        selection = releases.select(tritons or (releases.INSTALLED,), installed)
    builds = releases.builds(pythons, selection.known)
    for row in builds:
        # A path that is wrong is the command line's fault, not a release that could not be told.
        toolchains.from_python(row.python or "")
    return selection, builds


def keep_table(folder: Path, table: Table, again: str) -> None:
    """``matrix.json``, ``matrix.md``, and a folder for each failing cell with what the compiler left."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "matrix.json").write_text(json.dumps(table.to_json(), indent=2) + "\n", encoding="utf-8")
        (folder / "matrix.md").write_text(render_matrix.markdown(table, again), encoding="utf-8")
        for (name, target), cell in table.cells.items():
            place = folder / f"{name}-{target}".replace("/", "_").replace(":", "-")
            for path in cell.artifacts.values():
                place.mkdir(exist_ok=True)
                shutil.copyfile(path, place / path.name)
    except OSError as error:
        raise EnvironmentFault(f"-o {folder}: cannot be written: {error.strerror}") from None
