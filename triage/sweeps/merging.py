"""Makes one map of the folders of several sweeps of the same space, without compiling anything."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from triage.filesystem.files import open_file
from triage.model.errors import InputError
from triage.sweeps.keys import CaseKeys
from triage.sweeps.ledger import FILE, Ledger
from triage.sweeps.lists.cases import TunedList
from triage.sweeps.map import SweepMap
from triage.sweeps.replacement import Replacement
from triage.sweeps.rules.search import RuleSearch
from triage.sweeps.runner import assembled, known_rows, obstacles, tested, with_rules
from triage.sweeps.stored import StoredSweep, check_ledger, difference, keep_ended, replacements

_LOG = f"{FILE}-wal"
"""What SQLite has not yet moved into the file: all of a sweep that was killed may be there."""
_MOST_COPIES = 20


def merge(folders: Sequence[Path], folder: Path, into: Path) -> tuple[SweepMap, StoredSweep]:
    """The map of the results in several folders of one sweep, and what was swept. All of them are in the ledger of
    ``folder`` afterwards; the others are only read, and may be those of sweeps that run. Where one of the sweeps was
    active, cells without a result are predicted from all results. ``into``: a folder for copies.

    Raises InputError where a folder has no ledger, is ``folder``, or is of another sweep."""
    for each in folders:
        check_ledger(each)
        if each.resolve() == folder.resolve():
            raise InputError(f"-o {folder}: is one of the merged folders; name another")
    with ExitStack() as stack:
        others = [stack.enter_context(_copied(each, into / f"ledger-{number}")) for number, each in enumerate(folders)]
        for each, other in zip(folders[1:], others[1:], strict=True):
            if (what := difference(other, each, others[0], folders[0])) is not None:
                raise InputError(f"{each}: of another sweep than {folders[0]}: {what}; merge parts of one sweep")
        stored = [
            StoredSweep.of(other, each, into / f"sources-{number}")
            for number, (other, each) in enumerate(zip(others, folders, strict=True))
        ]
        space = stored[0].space
        active = [each for each in stored if not each.plan.is_exhaustive(space)]
        whole = replace((active or stored)[0], shard=None)
        merged = stack.enter_context(Ledger(folder / FILE))
        whole.keep(merged)
        merged.take(others)
        rows = known_rows(space, merged.rows(), lambda row: True, CaseKeys(whole.conditions))
        known = {**{cell: row.observation for cell, row in rows.items()}, **obstacles(space)}
        purposes = {cell: row.purpose for cell, row in rows.items() if row.purpose is not None}
        if all(each.ended is not None for each in active):
            keep_ended(merged, whole.plan, len(rows))
        strategy = whole.plan.strategy(space, known=len(space.grid))
        for cell, seen in known.items():
            strategy.learn(cell, seen, purposes.get(cell))
        sweep = replace(assembled(space, known, merged), predicted=strategy.predict())
        if not space.is_list:
            target = space.bases[0].target
            search = RuleSearch(space.grid, known, target, strategy, budget=0, tests=tested(purposes))
            sweep = with_rules(sweep, search)
        parts = [each for other in others for each in replacements(other)]
        return replace(sweep, replacements=_joined(parts, whole.listed)), whole


def _copied(folder: Path, into: Path) -> Ledger:
    """A copy of the ledger: even to read a file, SQLite writes beside it. Raises InputError where a sweep writes to it
    all the time."""
    into.mkdir(parents=True)
    files = [folder / FILE, folder / _LOG]
    for _ in range(_MOST_COPIES):
        before = _state(files)
        for path in files:
            (into / path.name).unlink(missing_ok=True)
            if path.exists():
                _copy(path, into / path.name)
        if _state(files) == before:
            return Ledger(into / FILE, copied=folder / FILE)
    raise InputError(f"{folder / FILE}: is written to; merge it when its sweep has ended")


def _copy(path: Path, to: Path) -> None:
    try:
        with open_file(path, path.parent) as stream, to.open("wb") as copy:
            copy.writelines(iter(lambda: stream.read(1 << 20), b""))
    except FileNotFoundError:
        return  # A sweep that ends removes its log.
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _state(files: Sequence[Path]) -> list[tuple[int, int] | None]:
    return [(path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else None for path in files]


def _joined(parts: Sequence[Replacement], listed: TunedList | None) -> tuple[Replacement, ...]:
    """The replacements of all parts in the order of the list, one for an entry and a target: each was compiled for all
    releases."""
    joined: dict[tuple[str, str, str], Replacement] = {}
    for each in parts:
        key = (each.file, each.entry, each.target)
        if key not in joined or joined[key].changes is None:
            joined[key] = each
    keys = (
        []
        if listed is None
        else [(each.file.name, each.entry.name, to) for each in listed.entries for to in each.cases]
    )
    return tuple(joined[key] for key in keys if key in joined)
