"""The configurations of a list as cases: each distinct one once, with the entries that have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.drafts.words import arguments
from triage.model.case import Case
from triage.model.errors import InputError
from triage.model.target import Target
from triage.sweeps.grid import Grid, SweepAxis
from triage.sweeps.lists.devices import tuned_for
from triage.sweeps.lists.entries import TunedEntry, TunedFile, read_tuned
from triage.sweeps.lists.moe import MoeTable
from triage.sweeps.space import CONFIGURATION, ListSpace


@dataclass(frozen=True, slots=True)
class ListedKernel:
    """The kernel of a list whose files do not name one. ``name``: as the user named it."""

    name: str
    case: Case


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a file. ``cases``: its configuration by target, as the position of a case of the list."""

    file: TunedFile
    entry: TunedEntry
    cases: Mapping[str, int]

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{self.file.name}: {self.entry.name}"


@dataclass(frozen=True, slots=True)
class TunedList:
    """``files``: all that were read, some of which may have no configuration. ``names``: of the cases, which differ;
    ``words``: what follows ``triage check`` to compile each. ``unused``: files whose configurations are not compiled,
    and why. ``kernel``: the case that the configurations are of, where no file says that. ``targets``: those that were
    asked for; empty for the GPUs that the files name."""

    path: Path
    kernel: ListedKernel | None
    files: tuple[TunedFile, ...]
    entries: tuple[ListedEntry, ...]
    cases: tuple[Case, ...]
    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    unused: Mapping[str, str]
    targets: tuple[Target, ...]

    def position(self, listed: ListedEntry) -> tuple[Path, int]:
        """The file of an entry, and the line on which it begins."""
        path = self.path if self.path.is_file() else self.path / listed.file.name
        return path, listed.file.lines[listed.entry.path]

    def changed(self, listed: ListedEntry, changes: Mapping[str, int], target: Target) -> Case:
        """The case of an entry with other numbers, as it would be launched."""
        return _Source.of(listed.file, self.kernel).case({**listed.entry.values, **changes}, target)

    def space(self, others: Sequence[SweepAxis]) -> ListSpace:
        """The cells: every case for its targets (an axis of ``others`` where there are several) and all releases."""
        grid = Grid([SweepAxis(CONFIGURATION, self.names), *others])
        target = grid.positions.get("target")
        if target is None:
            return ListSpace(self.cases, grid)
        targets = grid.axes[target].values
        wanted = {(case, each) for entry in self.entries for each, case in entry.cases.items()}
        allowed = 0
        for number in range(len(self.cases)):
            for position, each in enumerate(targets):
                if (number, each) in wanted:
                    allowed |= grid.selected({grid.positions[CONFIGURATION]: [number], target: [position]})
        return ListSpace(self.cases, Grid(grid.axes, allowed))


def read_list(path: Path, kernel: ListedKernel | None, targets: Sequence[Target]) -> TunedList:
    """The configurations below ``path``. ``kernel``: the case that they are of; without one, each file's name has to
    say which kernel it is for. ``targets``: none for the GPU that a file's name says. Raises InputError."""
    return list_of(path, read_tuned(path), kernel, targets)


def list_of(
    path: Path, files: Sequence[TunedFile], kernel: ListedKernel | None, targets: Sequence[Target]
) -> TunedList:
    """The list of files that were read from ``path``. Raises InputError."""
    builder = _Builder()
    unused: dict[str, str] = {}
    entries: list[ListedEntry] = []
    for file in (file for file in files if file.entries):
        try:
            entries += builder.entries(file, kernel, targets)
        except InputError as error:
            unused[file.name] = str(error)
    if not entries:
        name, problem = next(iter(unused.items()))
        more = f" ({len(unused) - 1} more files have problems)" if len(unused) > 1 else ""
        raise InputError(f"{path}: no configuration can be compiled: {name}: {problem}{more}")
    return TunedList(
        path,
        kernel,
        tuple(files),
        tuple(entries),
        tuple(builder.cases),
        tuple(builder.names()),
        tuple(builder.words),
        unused,
        tuple(targets),
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """Which kernel the configurations of a file are of: a case, or that of a fused MoE table. ``device``: the target
    that the file's name says."""

    kernel: ListedKernel | None
    table: MoeTable | None
    device: Target | None

    @classmethod
    def of(cls, file: TunedFile, kernel: ListedKernel | None) -> _Source:
        """Raises InputError where neither is known."""
        table = None if kernel is not None else MoeTable.named(file.name)
        if kernel is None and table is None:
            raise InputError("its name does not say which kernel it is for; add --kernel FILE.py::NAME or a case")
        return cls(kernel, table, tuned_for(file.name))

    @property
    def targets(self) -> list[Target]:
        """What it was tuned for. Raises InputError where that is not known."""
        if self.device is not None:
            return [self.device]
        if self.kernel is None:
            raise InputError("its name says no GPU that is known; add --target")
        return [self.kernel.case.target]

    @property
    def kind(self) -> str:
        """What sets its configurations apart from equal ones of other files."""
        return self.table.kind if self.table is not None else ""

    def words(self, case: Case) -> tuple[str, ...]:
        """What follows ``triage check`` to compile a case of it, without the target."""
        name, base = (self.kernel.name, self.kernel.case) if self.kernel is not None else (None, None)
        if self.table is not None:
            name, base = self.table.reproducer, self.table.base
        assert base is not None and name is not None
        if "::" in name:
            return (name, *arguments(case))

        def differing(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in values.items() if others.get(name) != value}

        changed = base.replaced(
            differing(case.signature, base.signature),
            differing(case.constexprs, base.constexprs),
            {},
            differing(case.options, base.options),
            case.target,
        )
        return (name, *arguments(changed))

    def case(self, values: Mapping[str, Any], target: Target) -> Case:
        """The case of one configuration. Raises InputError where it is none of the kernel."""
        if self.table is not None:
            return _configured(self.table.case(target), self.table.launched(values), target)
        assert self.kernel is not None
        return _configured(self.kernel.case, values, target)


class _Builder:
    """Makes cases, each once."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.words: list[tuple[str, ...]] = []
        self._numbers: dict[str, int] = {}
        self._labels: list[str] = []

    def entries(self, file: TunedFile, kernel: ListedKernel | None, targets: Sequence[Target]) -> list[ListedEntry]:
        """The entries of a file. Raises InputError where it is not of the kernel, or of none that is known."""
        source = _Source.of(file, kernel)
        return [
            ListedEntry(
                file,
                entry,
                {
                    str(target): self._number(source, source.case(entry.values, target), entry.values)
                    for target in targets or source.targets
                },
            )
            for entry in file.entries
        ]

    def _number(self, source: _Source, case: Case, values: Mapping[str, Any]) -> int:
        """The position of a case; of another target too, where nothing else differs."""
        document = case.to_json()
        del document["target"]
        key = repr(document)
        if key not in self._numbers:
            self._numbers[key] = len(self.cases)
            self.cases.append(case)
            self.words.append(source.words(case))
            self._labels.append(
                " ".join(filter(None, [source.kind, *(f"{name}={value}" for name, value in values.items())]))
            )
        return self._numbers[key]

    def names(self) -> Iterator[str]:
        """A name for each case, which no other has."""
        counts, seen = Counter(self._labels), Counter[str]()
        for label in self._labels:
            seen[label] += 1
            yield f"{label} ({seen[label]})" if counts[label] > 1 else label


def _configured(base: Case, values: Mapping[str, Any], target: Target) -> Case:
    """The case with an entry's values: constexprs by name, all others are options of the launch. Raises InputError
    where none is a constexpr or an option that every kernel has."""
    values = {
        name: int(value) if type(value) is not bool and isinstance(value, int) else value
        for name, value in values.items()
    }
    constexprs = {name: values[name] for name in base.constexprs if name in values}
    options = {name: value for name, value in values.items() if name not in constexprs}
    if not constexprs and not set(options) & base.language.options:
        raise InputError(f"{', '.join(values)}: none of these is a parameter of {base.name} or an option")
    return base.replaced(
        base.signature, {**base.constexprs, **constexprs}, base.divisible, {**base.options, **options}, target
    )
