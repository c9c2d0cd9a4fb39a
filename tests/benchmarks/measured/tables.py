"""The timed configurations, as cases: the input of benchmarks that judge a model of cost without a GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measured.launches import LAUNCHES
from measured.launches.launch import Configuration, Launch

from triage.frontends.documents import checked
from triage.model.case import Case

HERE = Path(__file__).parent
KERNELS = HERE / "kernels"
FILES = tuple(sorted(HERE.glob("*.json")))


@dataclass(frozen=True, slots=True)
class Row:
    """One configuration. ``ms``: median time of a launch; None where there is an ``error`` instead. ``spills``: 4-byte
    words of local memory per thread, as Triton counts them. ``registers`` and ``spills`` are None where the kernel was
    not loaded, ``shared`` (bytes) where it was not compiled either. ``base`` is a case of the same kernel."""

    base: Case
    configuration: Configuration
    ms: float | None
    registers: int | None
    spills: int | None
    shared: int | None
    error: str

    @property
    def case(self) -> Case:
        """The kernel in this configuration; made on demand, for there are thousands of rows."""
        return self.base.with_changes(self.configuration)


@dataclass(frozen=True, slots=True)
class Table:
    """All rows of a kernel on a device. ``held_out``: not for the development of a model, only to judge it.
    ``whole``: there is a row for every configuration of the space."""

    kernel: str
    held_out: bool
    whole: bool
    device: str
    triton: str
    torch: str
    rows: tuple[Row, ...]

    @property
    def timed(self) -> list[Row]:
        """The rows that ran, the fastest first."""
        return sorted((row for row in self.rows if row.ms is not None), key=lambda row: row.ms or 0.0)


def base_case(launch: Launch) -> Case:
    """The kernel's first configuration, checked as a case folder is."""
    return checked(launch.case(launch.configurations()[0]), KERNELS, launch.name)


def tables(files: tuple[Path, ...] = FILES) -> Iterator[Table]:
    """Every table of the files, one for each device and kernel."""
    launches = {launch.name: launch for launch in LAUNCHES}
    for file in files:
        document = json.loads(file.read_text())
        about = {name: document[name] for name in ("device", "triton", "torch")}
        for kernel, table in document["kernels"].items():
            launch = launches[kernel]
            case = base_case(launch)
            rows = tuple(_row(case, table["dimensions"], values) for values in table["rows"])
            whole = launch.whole and len(rows) == len(launch.configurations())
            yield Table(kernel=kernel, held_out=launch.held_out, whole=whole, rows=rows, **about)


def _row(case: Case, dimensions: list[str], values: list[int | float | str | None]) -> Row:
    configuration = dict(zip(dimensions, values, strict=False))
    ms, registers, spills, shared, *error = values[len(dimensions) :]
    return Row(case, configuration, ms, registers, spills, shared, *error or [""])  # type: ignore[arg-type]
