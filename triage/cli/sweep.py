"""``triage sweep``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triage.cli import sweep_list
from triage.cli.ci import with_outputs
from triage.cli.options import (
    DIRECTORY,
    FILE,
    kb_option,
    kernel_options,
    limit_options,
    limits,
)
from triage.cli.sweep_space import described, repeated, stated_options, stated_targets, tuned
from triage.filesystem import scratch
from triage.filesystem.files import usable_file, usable_folder, writing
from triage.model.errors import InputError
from triage.publish.compose.sweep import SweepView
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import replacements as render_replacements
from triage.publish.formats.terminal import sweep as render
from triage.publish.sweep_folder import for_issue, keep_sweep
from triage.sweeps import document, tables
from triage.sweeps.commands import SweepCommands
from triage.sweeps.dask_address import DaskAddress
from triage.sweeps.dask_engine import dask_executor
from triage.sweeps.map import SweepMap
from triage.sweeps.merging import merge
from triage.sweeps.observation import CellState
from triage.sweeps.plan import SweepPlan
from triage.sweeps.shards import Shard
from triage.sweeps.space import ListSpace, Space
from triage.sweeps.stored import StoredSweep, keep_replacements
from triage.sweeps.sweep import SweepOptions, run

if TYPE_CHECKING:
    from triage.publish.ci.record import CiRecord
    from triage.sweeps.lists.cases import TunedList


@click.command("sweep")
@click.argument("names", nargs=-1, metavar="CASE|FILE.py|PACKAGE|merge DIR...")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="An axis: BM=32,64 or BK=16..128*2. a,b=fp16,bf16 ties names.",
)
@click.option(
    "--where", "wheres", multiple=True, metavar="CONDITION", help="Compile only these cells: 'BM * BN <= 16384'."
)
@kernel_options
@click.option("--target", "targets", multiple=True, metavar="TARGET,...", help="An axis, where it is more than one.")
@click.option("--triton", "tritons", multiple=True, metavar="RELEASES", help="The same: 3.6..3.9, installed, all.")
@click.option("--cute", "cutes", multiple=True, metavar="RELEASES", help="The same for CuTe DSL: 4.0..4.8.")
@click.option("--python", metavar="PATH", help="Compile with the Triton or CuTe DSL of this interpreter.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compile at most N cells, with --resume in all; predict the others.",
)
@click.option("--exhaustive", is_flag=True, help="Compile every cell, however many. [up to 2,000 cells]")
@click.option("--shard", metavar="I/N", help="Compile only part I of N; merge the folders afterwards.")
@click.option("--resume", type=DIRECTORY, metavar="DIR", help="Go on with the sweep of this -o folder.")
@click.option("--kernel", metavar="CASE", help="The kernel of a list, where its files do not name one.")
@click.option(
    "--write-fixed", type=DIRECTORY, metavar="DIR", help="Write the JSON files of a list again, with replacements."
)
@limit_options
@click.option("--dask", metavar="CLUSTER", help="Compile on tcp://HOST:8786, local:N, ssh:HOST,HOST, slurm:N, pbs:N, …")
@kb_option
@click.option("--fail-on", type=click.Choice(["any", "never"]), help="Exit with 1 if any cell fails. [of a list: any]")
@click.option("--json", "as_json", is_flag=True, help="Print the map as a document.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the cells as a table.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the map for an issue.")
@click.option("--parquet", type=FILE, metavar="FILE", help="Write the cells to it; needs pyarrow.")
@click.option("-o", "folder", type=DIRECTORY, metavar="DIR", help="Keep the map, its rules and its ledger here.")
@with_outputs("sweep")
def command(
    names: tuple[str, ...],
    shard: str | None,
    resume: Path | None,
    budget: int | None,
    exhaustive: bool,
    fail_on: str | None,
    folder: Path | None,
    record: CiRecord | None,
    kernel: str | None,
    write_fixed: Path | None,
    dask: str | None,
    **values: Any,
) -> int:
    """Compile CASE with every combination of values, targets and releases, and tell which are legal, and why not.

    CASE is as in triage check; of a kernel.py::function with --set, what is not stated is drafted. A Python file, a
    folder, a package, or a kernel.py::function without --set, is the list of its autotuners' configurations; a folder
    of JSON files, as vLLM and SGLang have them, a list of tuned configurations.
    `triage sweep merge DIR... -o DIR` makes one map of the folders of parts (--shard).

    Exit codes: 0 for a map, whatever it shows, or 1 with --fail-on any if a cell fails; 1 if a configuration of a list
    fails; 3 if no cell could be decided.
    """
    end = _SweepEnd(folder or resume, fail_on, record, **{name: values.pop(name) for name in _FORMS})
    end.check()
    ends = {"budget": budget, "exhaustive": exhaustive, "shard": shard, "kernel": kernel, "dask": dask}
    if names[:1] == ("merge",):
        stated = stated_options(values, {**ends, "resume": resume})
        return _merged(names, folder, write_fixed, stated, end)
    if resume is not None and (names or folder is not None):
        raise InputError(f"--resume {resume}: goes on with what is there; leave out the case and -o")
    if resume is not None and (stated := stated_options(values, {"kernel": kernel})):
        raise InputError(f"--resume {resume}: goes on with what is there; leave out {stated[0]}")
    if resume is None and len(names) != 1:
        raise InputError("name one case, as in triage sweep kernel.py::matmul --set BLOCK_M=32,64,128")
    part = Shard.parse(shard) if shard else None
    cluster = DaskAddress.parse(dask) if dask else None
    plan = SweepPlan(budget, exhaustive)
    plan.check()
    with console.progress() as progress, scratch.folder("sweep") as sources:
        listed: TunedList | None = None
        if resume is not None:
            stored = StoredSweep.read(resume, sources)
            usable_folder("--resume", resume)
            space, part, listed = stored.space, part or stored.shard, stored.listed
            plan = plan if plan != SweepPlan() else stored.plan
            values["python"] = values["python"] or stored.python
            commands = stored.commands(("triage", "sweep", "--resume", str(resume)))
        else:
            progress.step(f"reading {names[0]}")
            if end.folder is not None:
                usable_folder("-o", end.folder)
            others = {"fail_on": fail_on, "write_fixed": write_fixed and str(write_fixed)}
            if sweep_list.is_list(names[0]):
                listed = sweep_list.read(names[0], kernel, stated_targets(values), values, progress)
            elif kernel is not None or write_fixed is not None:
                raise InputError("--kernel and --write-fixed are for a list: a folder of JSON files, or one of them")
            sweep_of = described(names[0], values, progress) if listed is None else tuned(listed, values)
            space = sweep_of.space
            commands = SweepCommands(
                sweep_of.check, repeated(names[0], values, ends | others, folder), sweep_of.members
            )
        if write_fixed is not None:
            sweep_list.check_writable(listed, write_fixed)
        options = SweepOptions(
            folder=end.folder,
            python=values["python"],
            limits=limits(values),
            jobs=values["jobs"],
            cache=not values["no_cache"],
            shard=part,
            plan=plan,
            knowledge=values["kb"],
            commands=commands,
            listed=listed,
        )
        with dask_executor(cluster, progress) if cluster else nullcontext() as executor:
            sweep = run(space, replace(options, executor=executor), progress)
        if listed is not None and isinstance(space, ListSpace) and not sweep.interrupted:
            sweep = sweep_list.replace_failing(listed, space, sweep, values, progress)
            if end.folder is not None:
                keep_replacements(end.folder, sweep.replacements)
    return _finished(sweep, space, commands, listed, write_fixed, end)


def _merged(
    names: tuple[str, ...], folder: Path | None, write_fixed: Path | None, stated: list[str], end: _SweepEnd
) -> int:
    """``triage sweep merge``."""
    if len(names) < 2 or folder is None:
        raise InputError("triage sweep merge DIR... -o DIR: name the folders of the parts, and one for the whole")
    if stated:
        raise InputError(f"triage sweep merge: compiles nothing; leave out {stated[0]}")
    usable_folder("-o", folder)
    with scratch.folder("sweep") as copies:
        sweep, stored = merge([Path(name) for name in names[1:]], folder, copies)
        if write_fixed is not None:
            sweep_list.check_writable(stored.listed, write_fixed)
        commands = stored.commands(("triage", "sweep", *names, "-o", str(folder)))
        return _finished(sweep, stored.space, commands, stored.listed, write_fixed, end)


def _finished(
    sweep: SweepMap,
    space: Space,
    commands: SweepCommands,
    listed: TunedList | None,
    write_fixed: Path | None,
    end: _SweepEnd,
) -> int:
    """The exit code of a map; of a list, its replacements are printed and written."""
    code = end.finish(sweep, space, commands, listed)
    if listed is not None and end.is_for_people:
        render_replacements.show(console.output(), listed.unused, sweep.replacements)
    if listed is not None and write_fixed is not None and not sweep.interrupted:
        sweep_list.write(listed, sweep.replacements, write_fixed)
    return code


_FORMS = ("as_json", "as_csv", "as_markdown", "parquet")


@dataclass(frozen=True, slots=True)
class _SweepEnd:
    """Output of a map: its folder, one printed form, the record for continuous integration, the exit code."""

    folder: Path | None
    fail_on: str | None
    record: CiRecord | None
    as_json: bool
    as_csv: bool
    as_markdown: bool
    parquet: Path | None

    @property
    def is_for_people(self) -> bool:
        """Whether the map is printed as text for a terminal."""
        return not (self.as_json or self.as_csv or self.as_markdown)

    def check(self) -> None:
        """Raises InputError for output that cannot be written."""
        if self.as_json + self.as_csv + self.as_markdown > 1:
            raise InputError("--json, --csv and --markdown exclude each other; -o DIR keeps what they print")
        if self.parquet is not None:
            tables.check_parquet()
            usable_file("--parquet", self.parquet)

    def finish(self, sweep: SweepMap, space: Space, commands: SweepCommands, listed: TunedList | None) -> int:
        """Write and print the map; the exit code."""
        if self.folder is not None:
            keep_sweep(self.folder, sweep, commands)
        if self.parquet is not None:
            with writing(f"--parquet {self.parquet}"):
                tables.write_parquet(sweep, self.parquet)
        if self.record is not None:
            # Imported here because it loads the report formats, which other runs do not need.
            from triage.cli.sweep_ci import record_cells

            record_cells(self.record, sweep, space, listed)
        self._print(sweep, commands)
        fails = self.fail_on == "any" or (space.is_list and self.fail_on is None)
        return int(fails and sweep.cells_in(CellState.FAILED) != 0)

    def _print(self, sweep: SweepMap, commands: SweepCommands) -> None:
        if self.as_json:
            for text in document.json_text(sweep):
                click.echo(text, nl=False)
        elif self.as_csv:
            tables.write_csv(sweep, sys.stdout)
        elif self.as_markdown:
            click.echo(for_issue(sweep, commands), nl=False)
        else:
            render.show(console.output(), SweepView(sweep, commands))
