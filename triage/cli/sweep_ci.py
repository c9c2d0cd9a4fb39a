"""The cells of a sweep as results for continuous integration."""

from __future__ import annotations

from collections.abc import Mapping

from triage.publish.ci.record import CiRecord
from triage.publish.words import settings
from triage.sweeps.grid import Cell
from triage.sweeps.lists.cases import ListedEntry, TunedList
from triage.sweeps.map import SweepMap
from triage.sweeps.space import CONFIGURATION, Space


def record_cells(record: CiRecord, sweep: SweepMap, space: Space, listed: TunedList | None) -> None:
    """Add what was compiled. Of files of tuned configurations each entry is a result at its line, with what replaces
    it."""
    failures = {failure.signature: failure for failure in sweep.failures}
    entries = {} if listed is None else _entries(listed)
    replaced = {(each.file, each.entry, each.target): each.changes for each in sweep.replacements if each.changes}
    for cell, seen in sweep.observations.items():
        case, failure = space.case(cell), failures.get(seen.signature or "")
        if listed is None:
            record.cell(_name(sweep, cell, case.name), case, seen, failure)
            continue
        machine = " ".join(
            f"{name}={value}" for name, value in sweep.grid.values(cell).items() if name != CONFIGURATION
        )
        target = str(case.target)
        for entry in entries.get((space.base(cell), target), ()):
            changes = replaced.get((entry.file.name, entry.entry.name, target))
            record.cell(
                f"{entry.name} [{machine}]" if machine else entry.name,
                case,
                seen,
                failure,
                listed.position(entry),
                (settings(changes),) if changes else (),
            )


def _entries(listed: TunedList) -> Mapping[tuple[int, str], list[ListedEntry]]:
    """The entries that are compiled as a case of the list for a target."""
    entries: dict[tuple[int, str], list[ListedEntry]] = {}
    for entry in listed.entries:
        for target, number in entry.cases.items():
            entries.setdefault((number, target), []).append(entry)
    return entries


def _name(sweep: SweepMap, cell: Cell, kernel: str) -> str:
    """A cell of one kernel, or a configuration of a list of several, which is named by its kernel already."""
    values = sweep.grid.values(cell)
    shown = " ".join(str(value) if name == CONFIGURATION else f"{name}={value}" for name, value in values.items())
    return shown if shown.startswith(f"{kernel}[") else f"{kernel}[{shown}]"
