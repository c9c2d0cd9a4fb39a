"""Documents about a sweep in its ledger: its space, plan and shard, and the arguments of its commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from triage.cases.portable import packed, unpacked
from triage.filesystem.files import usable_folder
from triage.model.errors import InputError
from triage.model.target import Target
from triage.sweeps.commands import SweepCommands
from triage.sweeps.grid import Grid, SweepAxis
from triage.sweeps.ledger import FILE, Ledger
from triage.sweeps.lists.cases import ListedKernel, TunedList, list_of
from triage.sweeps.lists.entries import parsed
from triage.sweeps.plan import SweepPlan
from triage.sweeps.replacement import Replacement
from triage.sweeps.shards import Shard
from triage.sweeps.space import CaseSpace, ListSpace, Space

_SWEEP = "sweep"
"""The document in the ledger that says what is swept."""
_SHARD, _COMMANDS, _OPTIONS, _LIST, _ENDED, _REPLACEMENTS = (
    "shard", "commands", "options", "list", "ended", "replacements",
)  # fmt: skip
_SAME = {
    "bases": "the case differs",
    "sources": "the source differs",
    "axes": "the axes differ",
    "allowed": "the constraints differ",
    "is_list": "one is a list",
    "conditions": "another version of triage, or other variables of the compiler",
}
"""Fields that are equal in all parts of a sweep, and the message where they differ."""


@dataclass(frozen=True, slots=True)
class StoredSweep:
    """The sweep that a ledger belongs to. ``shard``: the part that is compiled. ``ended``: how many results there were
    when the strategy of ``plan`` proposed no more; None while it would. ``check``, ``members``: the arguments of
    ``triage check`` as in :class:`~triage.sweeps.commands.SweepCommands`. ``listed``: the files of a list.
    ``conditions``: as in :func:`~triage.sweeps.keys.conditions`, when it was compiled."""

    space: Space
    conditions: str
    shard: Shard | None = None
    plan: SweepPlan = field(default_factory=SweepPlan)
    python: str | None = None
    check: tuple[str, ...] = ()
    members: tuple[tuple[str, ...], ...] = ()
    listed: TunedList | None = None
    ended: int | None = None

    @classmethod
    def read(cls, folder: Path, into: Path) -> StoredSweep:
        """The sweep of a folder to resume; its sources are written to ``into``. Raises InputError where there is
        none, or the folder cannot be written to."""
        check_ledger(folder)
        usable_folder("--resume", folder)
        with Ledger(folder / FILE) as ledger:
            return cls.of(ledger, folder, into)

    @classmethod
    def of(cls, ledger: Ledger, folder: Path, into: Path) -> StoredSweep:
        """The sweep of an open ledger; errors name ``folder``. Raises InputError."""
        document, shard = _sweep_document(ledger, folder), ledger.document(_SHARD)
        words = ledger.document(_COMMANDS) or {"check": (), "members": ()}
        options = ledger.document(_OPTIONS) or {}
        files = ledger.document(_LIST)
        plan = SweepPlan(options.get("budget"), options.get("exhaustive", False))
        return cls(
            _space(document, into),
            document["conditions"],
            shard and Shard.parse(shard),
            plan,
            options.get("python"),
            tuple(words["check"]),
            tuple(map(tuple, words["members"])),
            None if files is None else _list_of(files, into / "kernel"),
            ended(ledger, plan),
        )

    def keep(self, ledger: Ledger) -> None:
        """Write it to a ledger, except ``ended``: see :func:`keep_ended`."""
        ledger.keep(_SWEEP, _document(self.space, self.conditions))
        ledger.keep(_SHARD, self.shard and str(self.shard))
        ledger.keep(_COMMANDS, {"check": self.check, "members": self.members})
        ledger.keep(_OPTIONS, {"python": self.python, **asdict(self.plan)})
        ledger.keep(_LIST, None if self.listed is None else _list_document(self.listed))

    def commands(self, again: tuple[str, ...]) -> SweepCommands:
        """The commands of its map. ``again``: the arguments that repeat it."""
        return SweepCommands(self.check, again, self.members)


def ended(ledger: Ledger, plan: SweepPlan) -> int | None:
    """How many results there were when a sweep by this plan ended; None where it did not."""
    document = ledger.document(_ENDED)
    if not isinstance(document, dict) or document.get("plan") != asdict(plan):
        return None
    results: int = document["results"]
    return results


def keep_ended(ledger: Ledger, plan: SweepPlan, results: int) -> None:
    """Record that a sweep by this plan ended with ``results`` results."""
    ledger.keep(_ENDED, {"plan": asdict(plan), "results": results})


def replacements(ledger: Ledger) -> tuple[Replacement, ...]:
    """Replacements of the failing entries of a list."""
    return tuple(Replacement.from_json(each, FILE) for each in ledger.document(_REPLACEMENTS) or ())


def keep_replacements(folder: Path, chosen: tuple[Replacement, ...]) -> None:
    """Write replacements to the ledger of a folder, for a merge."""
    with Ledger(folder / FILE) as ledger:
        ledger.keep(_REPLACEMENTS, [each.to_json() for each in chosen])


def check_ledger(folder: Path) -> None:
    """Raises InputError for a folder without a ledger."""
    if not (folder / FILE).is_file():
        raise InputError(f"{folder}: no {FILE} in it; name the -o folder of a sweep")


def difference(ledger: Ledger, folder: Path, other: Ledger, other_folder: Path) -> str | None:
    """How the sweep of a ledger differs from another's; None where both are of one sweep. Raises InputError."""
    document, other_document = _sweep_document(ledger, folder), _sweep_document(other, other_folder)
    return next((what for name, what in _SAME.items() if document[name] != other_document[name]), None)


def _sweep_document(ledger: Ledger, folder: Path) -> dict[str, Any]:
    document = ledger.document(_SWEEP)
    if not isinstance(document, dict):
        raise InputError(f"{folder / FILE}: does not say what was swept; give the case and --set again")
    return document


def _space(document: dict[str, Any], into: Path) -> Space:
    bases = [unpacked(each, into / str(number)) for number, each in enumerate(_with_sources(document))]
    axes = [SweepAxis(name, tuple(values), *map(_tied, tied)) for name, values, *tied in document["axes"]]
    grid = Grid(axes, int(document["allowed"], 16) if document["allowed"] else None)
    if document["is_list"]:
        return ListSpace(tuple(bases), grid, tuple(document["unclear"]))
    return CaseSpace(bases[0], grid)


def _with_sources(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in document["bases"]:
        yield {**each, "files": document["sources"][each["files"]]} if "files" in each else each


def _document(space: Space, under: str) -> dict[str, Any]:
    grid = space.grid
    bases = [packed(case) for case in space.bases]
    # Configurations of a list share their sources.
    texts: dict[str, int] = {}
    for each in bases:
        if "files" in each:
            each["files"] = texts.setdefault(json.dumps(each["files"]), len(texts))
    return {
        "bases": bases,
        "sources": [json.loads(text) for text in texts],
        "axes": [[axis.name, axis.values, *([dict(axis.tied)] if axis.tied else [])] for axis in grid.axes],
        "allowed": None if grid.allowed == grid.whole else f"{grid.allowed:x}",
        "is_list": space.is_list,
        "unclear": space.unclear if isinstance(space, ListSpace) else [],
        "conditions": under,
    }


def _tied(document: Mapping[str, list[Any]]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(values) for name, values in document.items()}


def _list_document(listed: TunedList) -> dict[str, Any]:
    kernel = listed.kernel
    return {
        "path": str(listed.path),
        "files": {file.name: file.text for file in listed.files},
        "targets": [str(target) for target in listed.targets],
        "kernel": None if kernel is None else {"name": kernel.name, "case": packed(kernel.case)},
    }


def _list_of(document: Mapping[str, Any], into: Path) -> TunedList:
    """The list as it was read: its files may have changed, or be on another machine."""
    kernel, path = document["kernel"], Path(document["path"])
    return list_of(
        path,
        [parsed(name, text, path) for name, text in document["files"].items()],
        None if kernel is None else ListedKernel(kernel["name"], unpacked(kernel["case"], into)),
        [Target.parse(target) for target in document["targets"]],
    )
