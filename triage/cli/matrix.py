"""``triage matrix``."""

import json
from pathlib import Path
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import DIRECTORY, kernel_options, limit_options, limits, print_json, repeating
from triage.filesystem.files import read_file, replace_file, usable_folder, writing
from triage.harness.artifacts import MOST_BYTES, give_up
from triage.harness.engine import Engine
from triage.harness.store import Store
from triage.harness.toolchains import Toolchains
from triage.matrix import releases
from triage.matrix.runner import Runner
from triage.matrix.table import MatrixTable
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON, Compiler
from triage.model.errors import InputError
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import matrix as render_matrix


@click.command("matrix")
@click.argument("name", metavar="CASE")
@kernel_options
@click.option(
    "--target", "targets", multiple=True, metavar="TARGET,...", help="Add a column for each. [that of the case]"
)
@click.option(
    "--triton",
    "tritons",
    multiple=True,
    metavar="RELEASES",
    help="Add rows: 3.0..3.9, 3.2,3.6.0, installed, all. [installed]",
)
@click.option("--cute", "cutes", multiple=True, metavar="RELEASES", help="The same for CuTe DSL: 4.0..4.8.")
@click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="[LABEL=]PATH",
    help="Add a row: the Triton or CuTe DSL of this interpreter.",
)
@click.option(
    "--bisect",
    is_flag=True,
    help="Find only the edges, with at most log2 of the releases + 2 compiles for each target.",
)
@limit_options
@click.option("--json", "as_json", is_flag=True, help="Print the table as a document.")
@click.option("--markdown", is_flag=True, help="Print the table for an issue.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Keep the table and artifacts in this folder.")
def command(
    name: str,
    targets: tuple[str, ...],
    tritons: tuple[str, ...],
    cutes: tuple[str, ...],
    pythons: tuple[str, ...],
    bisect: bool,
    as_json: bool,
    markdown: bool,
    folder: Path | None,
    **values: Any,
) -> int:
    """Compile CASE with many releases of its compiler, for one or several targets: find where it started and was fixed.

    A range takes the newest patch release of each series (every release if an end has a patch number), and then those
    between two rows of which one fails. Releases that are not installed are installed while others compile.

    Exit codes: 1 if any cell fails, 0 if none does, 3 if no cell could be decided.
    """
    if as_json and markdown:
        raise InputError("--json and --markdown exclude each other; -o DIR writes both")
    wanted = [word.strip() for target in targets for word in target.split(",")]
    located = [locate(name, {**values, "target": target}) for target in wanted] or [locate(name, values)]
    cases = {str(case.target): case for case in located}
    compiler, texts = _releases(located[0], {TRITON: tritons, CUTE: cutes})
    if folder is not None:
        usable_folder("-o", folder)
    with console.progress() as progress:
        toolchains = Toolchains(progress=progress.note)
        selection, builds = _rows(compiler, texts, pythons, toolchains)
        store = None if values["no_cache"] else Store(note=progress.warn)
        keep = folder is not None
        with Engine(values["jobs"], store, toolchains.installed, keep=keep) as engine:
            runner = Runner(cases, engine, toolchains, limits(values), not values["no_cache"], keep, progress)
            table = runner.bisect(selection, builds) if bisect else runner.table(selection, builds)
    rows = {"target": targets, "triton": tritons, "cute": cutes, "python": pythons, "bisect": bisect}
    command_line = repeating("matrix", name, {**rows, **values})
    if folder is not None:
        keep_table(folder, table, command_line, folder)
    if as_json:
        print_json(table.to_json())
    elif markdown:
        click.echo(render_matrix.markdown(table, command_line), nl=False)
    else:
        render_matrix.table(console.output(), table, command_line)
    return int(table.failed)


def _releases(case: Case, texts: dict[Compiler, tuple[str, ...]]) -> tuple[Compiler, tuple[str, ...]]:
    """The case's compiler, and what its option asks for. Raises InputError where another's is used."""
    compiler = case.compiler
    for other, stated in texts.items():
        if stated and other != compiler:
            raise InputError(
                f"{other.option} {stated[0]}: {case.name} is compiled by {compiler.title}; use {compiler.option}"
            )
    return compiler, texts[compiler]


def _rows(
    compiler: Compiler, texts: tuple[str, ...], pythons: tuple[str, ...], toolchains: Toolchains
) -> tuple[releases.Selection, list[releases.Row]]:
    if pythons and not texts:
        selection = releases.Selection((), ())
    else:
        installed = [toolchain.release for toolchain in toolchains.installed(compiler)]
        selection = releases.select(texts or (releases.INSTALLED,), installed, compiler)
    builds = releases.builds(pythons, selection.known)
    for row in builds:
        # A wrong path is an error of the command line, not a release that could not be decided.
        toolchains.from_python(row.python or "", compiler)
    return selection, builds


def keep_table(folder: Path, table: MatrixTable, command_line: str, top: Path) -> None:
    """Write ``matrix.json``, ``matrix.md``, and a folder with the artifacts of each failing cell. No link below ``top``
    is followed."""
    with writing(f"-o {folder}"):
        replace_file(folder / "matrix.json", json.dumps(table.to_json(), indent=2) + "\n", top)
        replace_file(folder / "matrix.md", render_matrix.markdown(table, command_line), top)
        for (row, target), cell in table.cells.items():
            cell_folder = folder / f"{row}-{target}".replace("/", "_").replace(":", "-")
            for path in cell.artifacts.values():
                replace_file(cell_folder / path.name, read_file(path, path.parent, MOST_BYTES), top)
            give_up(cell.artifacts.values())
