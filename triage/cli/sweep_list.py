"""``triage sweep`` of a list: JSON files of tuned configurations, and what replaces those that fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from triage.cli.options import note, pipeline_options
from triage.cli.sweep_space import case_of
from triage.filesystem.files import read_file, usable_folder
from triage.model.errors import InputError
from triage.model.progress import Progress
from triage.model.target import Target
from triage.model.words import count
from triage.pipeline import Session
from triage.suggest.budget import Budget
from triage.sweeps.lists.cases import ListedKernel, TunedList, read_list
from triage.sweeps.lists.replacements import find_replacements, write_fixed
from triage.sweeps.map import SweepMap
from triage.sweeps.replacement import Replacement
from triage.sweeps.space import ListSpace

_MOST_READ = 1 << 20


def is_list(text: str) -> bool:
    """Whether ``text`` names a folder with JSON files and no Python, or a JSON file that is not a case."""
    path = Path(text)
    if path.is_dir():
        return not (path / "case.json").exists() and not any(path.rglob("*.py")) and any(path.rglob("*.json"))
    if path.suffix != ".json" or not path.is_file():
        return False
    with suppress(OSError, ValueError, RecursionError):
        document = json.loads(read_file(path, path.parent, _MOST_READ))
        return not (isinstance(document, dict) and "schema" in document)
    return False


def read(
    text: str, kernel: str | None, targets: Sequence[Target], values: dict[str, Any], progress: Progress
) -> TunedList:
    """The list of a command line; ``kernel``: the case that its configurations are of. Raises InputError."""
    of_kernel = None if kernel is None else ListedKernel(kernel, case_of(kernel, values, progress))
    return read_list(Path(text), of_kernel, targets)


def replace_failing(
    listed: TunedList, space: ListSpace, sweep: SweepMap, values: dict[str, Any], progress: Progress
) -> SweepMap:
    """The map with replacements for the entries that fail; without them after an interrupt."""
    options = pipeline_options({**values, "triton": None, "cute": None, "python": values.get("python")})
    # The model ranks them: after the first that compiles, another is compiled only if it is expected to be faster.
    options = replace(options, configurations_only=True, budget=Budget(enough=1))
    try:
        with Session(options, progress) as session:
            chosen = find_replacements(listed, space, sweep.observations, session, progress)
            return replace(sweep, replacements=tuple(chosen))
    except KeyboardInterrupt:
        return replace(sweep, interrupted=True)


def check_writable(listed: TunedList | None, folder: Path) -> None:
    """Make the folder of ``--write-fixed``. Raises InputError where that fails or is the list itself, and where
    ``listed`` is None."""
    if listed is None:
        raise InputError("--write-fixed is for a list: a folder of JSON files, or one of them")
    if folder.resolve() == (listed.path if listed.path.is_dir() else listed.path.parent).resolve():
        raise InputError(f"--write-fixed {folder}: that is the list itself; name another folder")
    usable_folder("--write-fixed", folder)


def write(listed: TunedList, replacements: Sequence[Replacement], folder: Path) -> None:
    """Write the list again, and print how many files changed."""
    targets = sorted({target for entry in listed.entries for target in entry.cases})
    changed = write_fixed(listed, replacements, folder, targets)
    files = count(len(listed.files) * len(targets), "file")
    note(f"{folder}: {files}, {len(changed)} of them with replacements")
