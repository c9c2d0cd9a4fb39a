"""The cells of a map as a flat table: one row a cell, for CSV and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TextIO

from triage.model.errors import InputError
from triage.model.outcome import Resources
from triage.sweeps.axes import TARGET
from triage.sweeps.document import cells
from triage.sweeps.map import SweepMap

_FACTS = ("state", "failure", "probability", "status", "stage", "resource", "required", "limit", "duration_s", "reason")
_RESOURCES = tuple(own.name for own in fields(Resources))


def columns(sweep: SweepMap) -> list[str]:
    """The names of the columns: target, release of the compiler, axes, and what is known of the cell."""
    special = (TARGET, sweep.case.compiler.name)
    axes = [axis.name for axis in sweep.grid.axes if axis.name not in special]
    return [*special, *axes, *_FACTS, *_RESOURCES]


def rows(sweep: SweepMap) -> Iterator[list[Any]]:
    """The rows; None where there is nothing. A value that is a list is JSON text."""
    compiler = sweep.case.compiler.name
    named = {axis.name: axis.values for axis in sweep.grid.axes}
    targets = named.pop(TARGET, (str(sweep.case.target),))
    releases = named.pop(compiler, (sweep.case.release,))
    values = list(named.values())
    for cell in cells(sweep):
        at = [_scalar(of_axis[position]) for of_axis, position in zip(values, cell["at"], strict=True)]
        resources = cell["resources"] or {}
        facts = [*(cell.get(name) for name in _FACTS), *(resources.get(name) for name in _RESOURCES)]
        yield [targets[cell["target"]], releases[cell["release"]], *at, *facts]


def write_csv(sweep: SweepMap, stream: TextIO) -> None:
    """Write the table as CSV, with a head."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns(sweep))
    writer.writerows(rows(sweep))


def check_parquet() -> None:
    """Raises InputError where there is no pyarrow."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError("--parquet: needs pyarrow; `pip install pyarrow`, or use --csv") from None


def write_parquet(sweep: SweepMap, path: Path) -> None:
    """Write the table as a Parquet file. Needs pyarrow. Raises OSError."""
    import pyarrow
    from pyarrow import parquet

    by_column = list(zip(*rows(sweep), strict=True)) or [()] * len(columns(sweep))
    arrays = {name: _column(list(column)) for name, column in zip(columns(sweep), by_column, strict=True)}
    parquet.write_table(pyarrow.table(arrays), path)


def _scalar(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | tuple | dict) else value


def _column(values: list[Any]) -> list[Any]:
    """Values of one type, as Parquet has it: numbers and texts on the same axis become texts."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float}:
        return [None if value is None else str(value) for value in values]
    return values
