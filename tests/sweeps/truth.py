"""Grids whose every cell was compiled (``grids/NAME.json.gz``, made by ``record.py``)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from triage.model.gpus import TensorCore
from triage.model.outcome import Resources
from triage.model.target import Target
from triage.sweeps.grid import Cell, CellSet, Grid, SweepAxis, set_of
from triage.sweeps.observation import CellObservation, CellState

GRIDS = Path(__file__).parent / "grids"


@dataclass(frozen=True)
class Truth:
    """A grid, the target of its case, and what every cell shows."""

    name: str
    grid: Grid
    target: Target
    cells: Mapping[Cell, CellObservation]

    @property
    def illegal(self) -> CellSet:
        """The cells that fail."""
        return set_of(cell for cell, seen in self.cells.items() if seen.is_legal is False)

    @property
    def untold(self) -> CellSet:
        """The cells that nothing is known of."""
        return set_of(cell for cell, seen in self.cells.items() if seen.is_legal is None)

    @property
    def failures(self) -> Counter[str]:
        """Signature → cells."""
        return Counter(seen.signature or "" for seen in self.cells.values() if seen.is_legal is False)

    def within(self, chosen: Mapping[str, tuple[Any, ...]], name: str) -> Truth:
        """The part of the grid that has these values."""
        axes = [SweepAxis(axis.name, chosen.get(axis.name, axis.values)) for axis in self.grid.axes]
        grid = Grid(axes)
        places = [
            [old.values.index(value) for value in new.values] for old, new in zip(self.grid.axes, axes, strict=True)
        ]
        cells = {}
        for cell in range(grid.size):
            at = [table[position] for table, position in zip(places, grid.at(cell), strict=True)]
            cells[cell] = self.cells[self.grid.number(at)]
        return Truth(name, grid, self.target, cells)


def names() -> list[str]:
    """The recorded grids."""
    return sorted(path.name.removesuffix(".json.gz") for path in GRIDS.glob("*.json.gz"))


@cache
def load(name: str) -> Truth:
    """A recorded grid."""
    document = json.loads(gzip.decompress((GRIDS / f"{name}.json.gz").read_bytes()))
    grid = Grid([SweepAxis(axis, tuple(values)) for axis, values in document["axes"].items()])
    return Truth(
        name,
        grid,
        Target.parse(document["case"]["target"]),
        {cell: _observation(seen) for cell, seen in enumerate(document["cells"])},
    )


def _observation(seen: dict[str, Any]) -> CellObservation:
    state, used = CellState(seen.pop("state")), seen.pop("resources", None)
    resources = None
    if used is not None:
        core = TensorCore(used.pop("tensor_core", "none"))
        resources = Resources(
            used.pop("shared_bytes", 0), used.pop("registers", None), used.pop("spill_bytes", None), core, **used
        )
    return CellObservation(state, resources=resources, **seen)
