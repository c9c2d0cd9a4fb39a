"""The cells of a map as a flat table: one row a cell, for CSV and Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from triage.model.errors import InputError
from triage.model.outcome import Resources
from triage.sweeps.axes import TARGET
from triage.sweeps.document import cells
from triage.sweeps.map import SweepMap

_FACTS: Mapping[str, type] = {
    "state": str,
    "failure": str,
    "probability": float,
    "status": str,
    "stage": str,
    "resource": str,
    "required": int,
    "limit": int,
    "duration_s": float,
    "reason": str,
}
_RESOURCES: Mapping[str, type] = {
    own.name: {"tensor_core": str, "warp_specialized": bool}.get(own.name, int) for own in fields(Resources)
}
_BATCH = 50_000
"""Rows that are in memory at once for Parquet."""


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
    """Raises InputError where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError("--parquet: needs pyarrow; `pip install pyarrow`, or use --csv") from None


def write_parquet(sweep: SweepMap, path: Path) -> None:
    """Write the table as a Parquet file, a batch of rows at a time. Needs pyarrow. Raises OSError."""
    import pyarrow
    from pyarrow import parquet

    types = _types(sweep)
    kinds = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, kinds[type_]) for name, type_ in types.items()])
    every = rows(sweep)
    with parquet.ParquetWriter(path, schema) as writer:
        while batch := list(islice(every, _BATCH)):
            by_column = zip(types.values(), zip(*batch, strict=True), strict=True)
            arrays = [[None if value is None else type_(value) for value in column] for type_, column in by_column]
            writer.write_table(pyarrow.table(arrays, schema=schema))


def _scalar(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | tuple | dict) else value


def _types(sweep: SweepMap) -> dict[str, type]:
    """The type of each column, as Parquet has one for all rows: numbers and texts on the same axis become texts."""
    axes = {axis.name: _type({type(_scalar(value)) for value in axis.values}) for axis in sweep.grid.axes}
    return {**dict.fromkeys(columns(sweep), str), **axes, **_FACTS, **_RESOURCES}


def _type(kinds: set[type]) -> type:
    kinds = kinds - {type(None)}
    if len(kinds) == 1:
        return kinds.pop()
    return float if kinds == {int, float} else str
