"""``triage sweep``."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from triage import scratch
from triage.cases.locate import locate
from triage.cli import sweep_list
from triage.cli.options import (
    DIRECTORY,
    kb_option,
    kernel_options,
    limit_options,
    limits,
    note,
    repeating,
)
from triage.files import usable_file, usable_folder, writing
from triage.frontends.frontend import frontend
from triage.harness.toolchains import Toolchains
from triage.matrix import releases
from triage.model.case import Case
from triage.model.compilers import CUTE, TRITON
from triage.model.errors import InputError
from triage.model.target import Target
from triage.publish.compose.sweep import SweepView
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import replacements as render_replacements
from triage.publish.formats.terminal import sweep as render
from triage.publish.sweep_folder import for_issue, keep_sweep
from triage.sweeps import document, tables
from triage.sweeps.axes import TARGET, case_space, set_axes
from triage.sweeps.commands import SweepCommands
from triage.sweeps.grid import SweepAxis
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellState
from triage.sweeps.plan import SweepPlan
from triage.sweeps.shards import Shard
from triage.sweeps.space import CONFIGURATION, ListSpace, Space
from triage.sweeps.sweep import StoredSweep, SweepOptions, merge, run


@click.command("sweep")
@click.argument("names", nargs=-1, metavar="CASE")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE,...", help="An axis: BM=32,64,128, BK=16..128*2.")
@click.option("--where", "wheres", multiple=True, metavar="CONDITION", help="Leave out the rest: 'BM * BN <= 16384'.")
@kernel_options
@click.option("--target", "targets", multiple=True, metavar="TARGET,...", help="An axis, where it is more than one.")
@click.option("--triton", "tritons", multiple=True, metavar="RELEASES", help="The same: 3.6..3.9, installed, all.")
@click.option("--cute", "cutes", multiple=True, metavar="RELEASES", help="The same for CuTe DSL: 4.0..4.8.")
@click.option("--python", metavar="PATH", help="Compile with the Triton or CuTe DSL of this interpreter.")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Compile at most N cells; predict the others.")
@click.option("--exhaustive", is_flag=True, help="Compile every cell, however many. [up to 2,000 cells]")
@click.option("--shard", metavar="I/N", help="Compile only part I of N; merge the folders afterwards.")
@click.option("--resume", type=DIRECTORY, metavar="DIR", help="Go on with the sweep of this -o folder.")
@click.option("--kernel", metavar="CASE", help="The kernel of a list, where its files do not name one.")
@click.option("--write-fixed", type=DIRECTORY, metavar="DIR", help="Write a list again, with replacements.")
@limit_options
@kb_option
@click.option("--fail-on", type=click.Choice(["any", "never"]), help="Exit with 1 if any cell fails. [of a list: any]")
@click.option("--json", "as_json", is_flag=True, help="Print the map as a document.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the cells as a table.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the map for an issue.")
@click.option(
    "--parquet", type=click.Path(path_type=Path), metavar="FILE", help="Write the cells to it; needs pyarrow."
)
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Keep the map, its rules and its ledger here.")
def command(
    names: tuple[str, ...],
    shard: str | None,
    resume: Path | None,
    budget: int | None,
    exhaustive: bool,
    fail_on: str | None,
    folder: Path | None,
    kernel: str | None,
    write_fixed: Path | None,
    **values: Any,
) -> int:
    """Compile CASE with every combination of values, targets and releases, and tell which are legal, and why not.

    Exit codes: 0 for a map, whatever it shows, or 1 with --fail-on any if a cell fails; 3 if no cell could be decided.
    """
    forms = {name: values.pop(name) for name in ("as_json", "as_csv", "as_markdown", "parquet")}
    if sum(map(bool, (forms["as_json"], forms["as_csv"], forms["as_markdown"]))) > 1:
        raise InputError("--json, --csv and --markdown exclude each other; -o DIR keeps what they print")
    if forms["parquet"]:
        tables.check_parquet()
        usable_file("--parquet", forms["parquet"])
    if names[:1] == ("merge",):
        return _merged(names, folder, forms, fail_on)
    if resume is not None and (names or folder is not None):
        raise InputError(f"--resume {resume}: goes on with what is there; leave out the case and -o")
    if resume is None and len(names) != 1:
        raise InputError("name one case, as in triage sweep kernel.py::matmul --set BLOCK_M=32,64,128")
    kept = resume or folder
    part = Shard.parse(shard) if shard else None
    plan = SweepPlan(budget, exhaustive)
    plan.check()
    listed = None
    if resume is None and sweep_list.is_list(names[0]):
        listed = sweep_list.read(names[0], kernel, _stated_targets(values), values)
    elif kernel is not None or write_fixed is not None:
        raise InputError("--kernel and --write-fixed are for a list: a folder of JSON files, or one of them")
    with console.progress() as progress, scratch.folder("sweep") as sources:
        if resume is not None:
            stored = StoredSweep.read(resume, sources)
            space, part = stored.space, part or stored.shard
            commands = SweepCommands(stored.check, ("triage", "sweep", "--resume", str(resume)))
        else:
            space = _space(names[0], values) if listed is None else listed.space(_others(listed.cases[0], values))
            ends = {"budget": budget, "exhaustive": exhaustive, "shard": shard, "fail_on": fail_on, "kernel": kernel}
            commands = _commands(names[0], space, values, ends, folder)
            if listed is not None:
                commands = replace(commands, check=("triage", "check"), members=listed.words)
        if kept is not None:
            usable_folder("-o", kept)
        options = SweepOptions(
            folder=kept,
            python=values["python"],
            limits=limits(values),
            jobs=values["jobs"],
            cache=not values["no_cache"],
            shard=part,
            plan=plan,
            knowledge=values["kb"],
            commands=commands,
        )
        sweep = run(space, options, progress)
        if listed is not None and isinstance(space, ListSpace):
            sweep = sweep_list.replace_failing(listed, space, sweep, values, progress)
    code = _end(sweep, commands, kept, forms, fail_on)
    if listed is not None and not any(forms.values()):
        render_replacements.show(console.output(), listed.unused, sweep.replacements)
    if listed is not None and write_fixed is not None:
        sweep_list.write(listed, sweep.replacements, write_fixed)
    return code


def _merged(names: tuple[str, ...], folder: Path | None, forms: dict[str, Any], fail_on: str | None) -> int:
    """``triage sweep merge``."""
    if len(names) < 2 or folder is None:
        raise InputError("triage sweep merge DIR... -o DIR: name the folders of the parts, and one for the whole")
    usable_folder("-o", folder)
    folders = [Path(name) for name in names[1:]]
    with scratch.folder("sweep") as sources:
        check = StoredSweep.read(folders[0], sources / "first").check
        merged = merge(folders, folder, sources / "merged")
    again = ("triage", "sweep", *names, "-o", str(folder))
    return _end(merged, SweepCommands(check, again), folder, forms, fail_on)


def _end(
    sweep: SweepMap, commands: SweepCommands, folder: Path | None, forms: dict[str, Any], fail_on: str | None
) -> int:
    """Keep and print the map; the exit code."""
    if folder is not None:
        keep_sweep(folder, sweep, commands)
    if forms["parquet"]:
        with writing(f"--parquet {forms['parquet']}"):
            tables.write_parquet(sweep, forms["parquet"])
    if forms["as_json"]:
        for text in document.json_text(sweep):
            click.echo(text, nl=False)
    elif forms["as_csv"]:
        tables.write_csv(sweep, sys.stdout)
    elif forms["as_markdown"]:
        click.echo(for_issue(sweep, commands), nl=False)
    else:
        render.show(console.output(), SweepView(sweep, commands))
    failed = sweep.cells_in(CellState.FAILED) != 0
    return int(failed and (fail_on == "any" or (CONFIGURATION in sweep.grid.positions and fail_on is None)))


def _space(name: str, values: dict[str, Any]) -> Space:
    """The space that the command line describes."""
    case = locate(name, values)
    axes = [_releases(case, values), *_targets(case, values)]
    own = set_axes(values["sets"], case)
    if twice := {axis.name for axis in own} & {axis.name for axis in axes}:
        raise InputError(f"--set {min(twice)}: also given as --{min(twice)}")
    return case_space(case, [*axes, *own], values["wheres"])


def _others(case: Case, values: dict[str, Any]) -> list[SweepAxis]:
    """The axes of a list beside its configurations: targets and releases, where there are several."""
    return [axis for axis in (_releases(case, values), *_targets(case, values)) if len(axis.values) > 1]


def _stated_targets(values: dict[str, Any]) -> list[Target]:
    return [Target.parse(word.strip()) for text in values["targets"] for word in text.split(",")]


def _targets(case: Case, values: dict[str, Any]) -> list[SweepAxis]:
    words = [word.strip() for text in values["targets"] for word in text.split(",")]
    chosen = []
    for word in words:
        try:
            target = Target.parse(word)
        except InputError as error:
            raise InputError(f"--{error}") from None
        language = frontend(case.language)
        language.check_target(target, lambda problem, word=word: InputError(f"--target {word}: {problem}"))
        chosen.append(str(target))
    return [SweepAxis(TARGET, tuple(dict.fromkeys(chosen)))] if chosen else []


def _releases(case: Case, values: dict[str, Any]) -> SweepAxis:
    """The releases; the one that compiles the case where none is named."""
    compiler = case.compiler
    texts = {TRITON: values["tritons"], CUTE: values["cutes"]}
    for other, stated in texts.items():
        if stated and other != compiler:
            raise InputError(
                f"{other.option} {stated[0]}: {case.name} is compiled by {compiler.title}; use {compiler.option}"
            )
    toolchains = Toolchains(progress=note)
    if values["python"] and texts[compiler]:
        raise InputError(f"{compiler.option} and --python exclude each other")
    if not texts[compiler]:
        toolchain = toolchains.resolve(None if values["python"] else case.release, values["python"], compiler)
        return SweepAxis(compiler.name, (toolchain.release,))
    installed = [toolchain.release for toolchain in toolchains.installed(compiler)]
    return SweepAxis(compiler.name, releases.select(texts[compiler], installed, compiler).chosen)


def _commands(
    name: str, space: Space, values: dict[str, Any], ends: dict[str, Any], folder: Path | None
) -> SweepCommands:
    """The command lines of a cell, without the options that the axes give, and of the sweep."""
    axes = space.grid.positions
    words = {"set": values["sets"], "where": values["wheres"]}
    words |= {"target": values["targets"], "triton": values["tritons"], "cute": values["cutes"]}
    others = {
        key: value for key, value in values.items() if key not in ("sets", "wheres", "targets", "tritons", "cutes")
    }
    again = repeating("sweep", name, {**words, **others, **ends})

    def fixed(option: str, value: Any) -> Any:
        if option in axes:
            return None
        if isinstance(value, tuple):
            return tuple(text for text in value if str(text).partition("=")[0] not in axes)
        return value

    of_cell = {**{option: words[option] for option in ("target", "triton", "cute")}, **others}
    check = repeating("check", name, {option: fixed(option, value) for option, value in of_cell.items()})
    return SweepCommands(tuple(shlex.split(check)), (*shlex.split(again), *(("-o", str(folder)) if folder else ())))
