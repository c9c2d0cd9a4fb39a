"""``triage bench-model``."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from triage.cases.locate import locate
from triage.cli.options import FILE, case_options, compile_options, limits, print_json
from triage.filesystem.files import ANYWHERE, MOST_DOCUMENT, read_file, replace_file, writing
from triage.frontends.documents import checked
from triage.harness.engine import Engine
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.errors import InputError, unreadable
from triage.performance.agreement import ModelTable, ModelTables
from triage.publish.formats.terminal import console
from triage.publish.formats.terminal import model_bench as render
from triage.suggest.model_bench import Axes, ModelBench

_MOST = 24


@click.command("bench-model")
@click.argument("names", nargs=-1, metavar="CASE...")
@case_options
@compile_options
@click.option("--set", "axes", multiple=True, metavar="NAME=V,V,…", help="Values of a constexpr or an option.")
@click.option(
    "--most", type=click.IntRange(min=3), default=_MOST, metavar="N", help=f"Configurations of a case. [{_MOST}]"
)
@click.option(
    "--table",
    type=FILE,
    metavar="FILE",
    help="Take the times of a saved table; needs no GPU.",
)
@click.option("--save", type=FILE, metavar="FILE", help="Keep the table in this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as a document, and nothing else.")
def command(
    names: tuple[str, ...],
    axes: tuple[str, ...],
    most: int,
    table: Path | None,
    save: Path | None,
    as_json: bool,
    **values: Any,
) -> int:
    """Compare the static model with times on this machine's GPU, for configurations of each CASE.

    A sample of the configurations around the case, or of --set, is compiled and launched; outputs are compared before a
    time counts. The environment that compiles needs torch, and the case must state its inputs (`triage help bench`).

    With --table, times come from a file that --save wrote, and the model is evaluated anew: CASE names its kernels, if
    they are elsewhere now.
    """
    if table is None and not names:
        raise InputError("bench-model: name a CASE, or a table with --table")
    if table is not None and axes:
        raise InputError("--set and --table exclude each other: the table has its configurations")
    with _Running.started(values) as running:
        if table is None:
            tables = running.measured(names, values, _axes(axes), most)
        else:
            tables = running.evaluated(_read(table), table, names)
    if save is not None:
        with writing(f"--save {save}"):
            replace_file(save, json.dumps(tables.to_json(), indent=1) + "\n")
    if as_json:
        print_json(tables.to_json())
    else:
        render.tables(console.output(), tables)
    return 0


@dataclass(frozen=True, slots=True)
class _Running:
    """The engine and the toolchains of one command."""

    bench: ModelBench
    toolchains: Toolchains
    triton: str | None
    python: str | None

    @classmethod
    @contextmanager
    def started(cls, values: dict[str, Any]) -> Iterator[_Running]:
        with console.progress() as progress:
            toolchains = Toolchains(progress=progress.note)
            use_cache = not values["no_cache"]
            store = Store(note=progress.warn) if use_cache else None
            with Engine(values["jobs"], store, toolchains.installed, keep=True) as engine:
                bench = ModelBench(
                    engine,
                    limits(values),
                    use_cache,
                    lambda done, of: progress.step(f"compiled {done} of {of} configurations"),
                    progress.timing,
                )
                yield cls(bench, toolchains, values["triton"], values["python"])

    def measured(self, names: tuple[str, ...], values: dict[str, Any], axes: Axes, most: int) -> ModelTables:
        tables, device, releases = [], "", []
        for name in names:
            case = locate(name, values)
            toolchain = self._toolchain(case.triton)
            table, device = self.bench.measure(name, case, toolchain, axes, most)
            tables.append(table)
            releases.append(toolchain.release)
        return ModelTables(device, ", ".join(dict.fromkeys(releases)), tuple(tables))

    def evaluated(self, saved: ModelTables, file: Path, names: tuple[str, ...]) -> ModelTables:
        if names and len(names) != len(saved.kernels):
            raise InputError(f"{file}: has {len(saved.kernels)} kernels; name a CASE for each, or none")
        kernels = []
        for table, name in zip(saved.kernels, names or [table.case for table in saved.kernels], strict=True):
            case = _case(table, name, file)
            kernels.append(self.bench.evaluate(table, case, self._toolchain(saved.triton)))
        return ModelTables(saved.device, saved.triton, tuple(kernels))

    def _toolchain(self, triton: str | None) -> Toolchain:
        return self.toolchains.resolve(self.triton or (None if self.python else triton), self.python)


def _case(table: ModelTable, name: str, file: Path) -> Case:
    """The case as it was measured: the kernel's file is where ``name`` is, all else is in the table."""
    located = locate(name)
    return checked(dict(table.document), located.folder, f"{file}: {table.case}", located.boundary)


def _read(file: Path) -> ModelTables:
    try:
        document = json.loads(read_file(file, ANYWHERE, MOST_DOCUMENT))
    except OSError as error:
        raise unreadable(str(file), error) from None
    except ValueError:
        raise InputError(f"{file}: not a JSON document; give a file that --save wrote") from None
    if not isinstance(document, dict):
        raise InputError(f"{file}: expected an object; give a file that --save wrote")
    return ModelTables.from_json(document, str(file))


def _axes(texts: tuple[str, ...]) -> Axes:
    """The values of ``--set``. Raises InputError."""
    axes: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.isidentifier() or not values:
            raise InputError(f"--set {text}: write NAME=VALUE,VALUE, as in --set BLOCK_M=64,128")
        axes[name] = [_value(value.strip()) for value in values.split(",")]
    return axes


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
