"""For each configuration that fails, the one nearby that compiles and is expected to be fast, written back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from triage.filesystem.files import make_folder, replace_file, writing
from triage.model.case import Case
from triage.model.errors import TriageError
from triage.model.progress import Progress
from triage.model.report import ExpectedTime, Report, SuggestionKind
from triage.pipeline import Session
from triage.sweeps.grid import Cell, cells_of
from triage.sweeps.lists.cases import ListedEntry, TunedList
from triage.sweeps.observation import CellObservation, CellState
from triage.sweeps.replacement import Replacement
from triage.sweeps.space import ListSpace


@dataclass(frozen=True, slots=True)
class _Neighbour:
    changes: Mapping[str, int]
    expected: ExpectedTime | None


def find_replacements(
    listed: TunedList,
    space: ListSpace,
    observations: Mapping[Cell, CellObservation],
    session: Session,
    progress: Progress,
) -> list[Replacement]:
    """Replacements for all entries that fail, in the order of the files. Each is compiled, by the search of
    ``triage check``; where the sweep has several releases, with all of them."""
    failing = _failing(listed, space, observations)
    chosen: dict[tuple[int, str], _Neighbour | None] = {}
    reports = session.check_all([cases[0] for cases in (each.cases for each in failing.values())])
    for (key, each), report in zip(failing.items(), reports, strict=True):
        chosen[key] = _neighbour(report, listed, each, session)
        progress.step(f"replacements: {len(chosen)} of {len(failing)}")
    return [
        Replacement(
            entry.file.name,
            entry.entry.name,
            target,
            failing[number, target].seen.signature or "",
            failing[number, target].seen.headline or "",
            neighbour.changes if neighbour is not None else None,
            neighbour.expected if neighbour is not None else None,
        )
        for entry in listed.entries
        for target, number in entry.cases.items()
        if (number, target) in failing
        for neighbour in [chosen[number, target]]
    ]


def write_fixed(
    listed: TunedList, replacements: Iterable[Replacement], folder: Path, targets: Sequence[str]
) -> list[Path]:
    """All files of the list below ``folder``, with the replacements; below a folder for each target where these are
    several. Returns the files that differ from the list's. Raises InputError."""
    changed = []
    with writing(f"--write-fixed {folder}"):
        for target in targets:
            top = folder / target.replace(":", "-") if len(targets) > 1 else folder
            for file in listed.files:
                changes = {
                    entry.path: each.changes
                    for entry in file.entries
                    for each in replacements
                    if (each.file, each.entry, each.target) == (file.name, entry.name, target) and each.changes
                }
                path = top / file.name
                make_folder(path.parent, top)
                replace_file(path, file.with_values(changes), top)
                if changes:
                    changed.append(path)
    return changed


@dataclass
class _Failing:
    """A case for a target: as it is compiled by each release, those that fail first; what one of them showed; and the
    entries that it is of."""

    cases: list[Case]
    seen: CellObservation
    entries: list[ListedEntry]


def _failing(
    listed: TunedList, space: ListSpace, observations: Mapping[Cell, CellObservation]
) -> dict[tuple[int, str], _Failing]:
    entries: dict[tuple[int, str], list[ListedEntry]] = {}
    for entry in listed.entries:
        for target, number in entry.cases.items():
            entries.setdefault((number, target), []).append(entry)
    failing: dict[tuple[int, str], _Failing] = {}
    others: dict[tuple[int, str], list[Case]] = {}
    # A part of a sweep has not compiled every release, and the replacement has to hold for all.
    for cell in cells_of(space.grid.allowed):
        seen, case = observations.get(cell), space.case(cell)
        key = (space.base(cell), str(case.target))
        if seen is None or seen.state is not CellState.FAILED:
            others.setdefault(key, []).append(case)
        elif key in failing:
            failing[key].cases.append(case)
        else:
            failing[key] = _Failing([case], seen, entries[key])
    for key, each in failing.items():
        each.cases += others.get(key, [])
    return failing


def _neighbour(
    report: Report | TriageError, listed: TunedList, failing: _Failing, session: Session
) -> _Neighbour | None:
    """The first suggestion that changes numbers that every entry has, is launched as it was compiled, and compiles with
    every release."""
    if isinstance(report, TriageError):
        return None
    for suggestion in report.suggestions:
        if suggestion.kind is not SuggestionKind.CONFIG or suggestion.results or not suggestion.verified:
            continue
        changes = dict(suggestion.changes)
        if any(not changes.keys() <= entry.entry.numbers for entry in failing.entries):
            continue
        proposed = [case.with_changes(changes) for case in failing.cases]
        # A library may launch another number than its list states.
        target = proposed[0].target
        is_launched = all(_same(listed.changed(entry, changes, target), proposed[0]) for entry in failing.entries)
        if is_launched and all(_compiles(case, session) for case in proposed[1:]):
            return _Neighbour(changes, suggestion.expected)
    return None


def _same(case: Case, other: Case) -> bool:
    return (case.constexprs, case.options) == (other.constexprs, other.options)


def _compiles(case: Case, session: Session) -> bool:
    (report,) = session.check_all([case])
    return isinstance(report, Report) and not report.outcome.failed
