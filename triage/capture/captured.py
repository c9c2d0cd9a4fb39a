"""What a program left in the folder of its run: a folder for each compile that did not end well, and a tally."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.model.errors import InputError

if TYPE_CHECKING:
    from triage.model.case import Case

_TALLY = "tally"
_NOTES = "note-*.txt"
HELION = "helion"
"""The folder for Helion's reports."""


class State(str, Enum):
    """How a captured compile ended in the program."""

    DIED = "died"
    """Its process ended without another word."""
    HUNG = "hung"
    """It was still compiling when its time was up."""
    RUNNING = "running"
    """It was still compiling when the program had ended."""
    RAISED = "raised"
    """It ended in an exception."""
    COMPILED = "compiled"


@dataclass(frozen=True, slots=True)
class Captured:
    """One compile. ``case`` is None where it could not be captured, for the reason in ``problem``. ``error`` is the
    program's own: the exception's type and text; ``where`` it came from: ``compile``, ``load`` for a binary that
    could not be loaded, or ``launch``. ``autotuning``: Triton's autotuner took it for a configuration that does not
    work and went on.
    """

    folder: Path
    state: State
    origin: Mapping[str, Any]
    case: Case | None = None
    problem: str = ""
    error: str = ""
    where: str = "compile"
    autotuning: bool = False

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.case.name if self.case else str(self.origin.get("kernel") or "a kernel")

    @property
    def refused(self) -> bool:
        """The guard kept the program from compiling it."""
        return self.error.startswith("CompileFailed:")

    @property
    def python(self) -> str:
        """The interpreter that compiled it."""
        return str(self.origin.get("python") or "")


@dataclass(frozen=True, slots=True)
class Capture:
    """Everything of one run. ``compiled`` and ``cached`` count compiles that went well, in all of the program's
    processes; ``again`` those that a guard had refused before, which would have taken ``saved_s``; ``unguarded`` those
    that it could not try. ``notes`` are faults of triage's own in them, ``helion`` what Helion's autotuner wrote of
    configurations that it passed over."""

    found: tuple[Captured, ...] = ()
    compiled: int = 0
    cached: int = 0
    again: int = 0
    saved_s: float = 0.0
    unguarded: int = 0
    notes: tuple[Path, ...] = ()
    helion: tuple[Path, ...] = ()

    @property
    def failed_cases(self) -> tuple[Captured, ...]:
        """Those that did not end well."""
        return tuple(one for one in self.found if one.state is not State.COMPILED)

    @property
    def failed(self) -> int:
        """How many failed: what an autotuner passed over is no failure of the program."""
        return sum(not one.autotuning for one in self.failed_cases)

    def summary(self, cut_short: int = 0) -> str:
        """How many kernels were compiled, in a line. ``cut_short``: failures that only ended with the program."""
        failed = self.failed - cut_short
        compiled = f"{self.compiled or 'no'} kernel{'' if self.compiled == 1 else 's'} compiled"
        cached = f", {self.cached} taken from Triton's cache" if self.cached else ""
        cut = f", {cut_short} cut short by its end and good alone" if cut_short else ""
        lost = f"; not everything could be captured: {self.notes[0]}" if self.notes else ""
        return f"{compiled}{cached}, {failed or 'none'} failed{cut}{lost}"


class RunFolder:
    """The folder that a program's processes write to. What was in it before does not count."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        folder.mkdir(parents=True, exist_ok=True)
        for old in [folder / _TALLY, *folder.glob(_NOTES)]:
            old.unlink(missing_ok=True)
        self._before = {one.name for one in folder.iterdir()}
        self._reports = set(folder.glob(f"{HELION}/*.py"))

    def compiling(self) -> dict[Path, int]:
        """The folders of compiles that have not ended, each with its process."""
        return {one: int(one.name.partition("-")[0]) for one in self._folders() if not (one / "ended.json").exists()}

    def read(self, hung: frozenset[Path] = frozenset(), stopped: frozenset[Path] = frozenset()) -> Capture:
        """What is there now. ``hung`` are the folders of compiles for which the program was ended, ``stopped`` those of
        others that were ended with it."""
        tally = _text(self.path / _TALLY)
        return Capture(
            found=tuple(_read(one, hung, stopped) for one in self._folders()),
            compiled=tally.count("c"),
            cached=tally.count("h"),
            again=tally.count("a"),
            saved_s=sum(float(line[2:]) for line in tally.splitlines() if line.startswith("a ")),
            unguarded=tally.count("u"),
            notes=tuple(sorted(self.path.glob(_NOTES))),
            helion=tuple(sorted(set(self.path.glob(f"{HELION}/*.py")) - self._reports)),
        )

    def tidy(self) -> None:
        """Remove what only the run itself needed."""
        (self.path / _TALLY).unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove the folder, with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _folders(self) -> list[Path]:
        """In the order in which the compiles began."""
        try:
            names = [one for one in self.path.iterdir() if one.name not in self._before]
        except OSError:  # the program has removed it
            return []
        folders = [one for one in names if one.name.partition("-")[0].isdigit() and one.is_dir()]
        return sorted(folders, key=_began)


def _began(folder: Path) -> tuple[float, str]:
    for name in ("case.json", "origin.json"):
        # While the program runs, any of them may be gone by now.
        with suppress(OSError):
            return (folder / name).stat().st_mtime, folder.name
    return 0.0, folder.name


def _read(folder: Path, hung: frozenset[Path], stopped: frozenset[Path]) -> Captured:
    ended = _document(folder / "ended.json")
    state = _state(folder, ended)
    if not ended and folder in hung | stopped:
        state = State.HUNG if folder in hung else State.RUNNING
    error = f"{ended['type']}: {ended.get('text', '')}".strip() if "type" in ended else ""
    found = Captured(
        folder=folder,
        state=state,
        origin={},
        error=error,
        where=str(ended.get("where", "compile")),
        autotuning=bool(ended.get("autotuning")),
    )
    if not (folder / "case.json").exists():
        origin = _document(folder / "origin.json")
        return replace(found, origin=origin, problem=str(origin.get("problem") or "nothing was written"))
    from triage.model import case as cases  # a program that compiles well does not wait for this

    try:
        case = cases.load(folder)
    except InputError as error_:
        origin = _document(folder / "case.json").get("origin", {})
        return replace(found, origin=origin if isinstance(origin, dict) else {}, problem=str(error_))
    return replace(found, origin=case.origin, case=case)


def _state(folder: Path, ended: Mapping[str, Any]) -> State:
    if ended:
        return State.COMPILED if ended.get("how") == "compiled" else State.RAISED
    return State.RUNNING if is_alive(int(folder.name.partition("-")[0])) else State.DIED


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def _document(path: Path) -> dict[str, Any]:
    """A JSON object that the program's process wrote; empty where there is none."""
    try:
        found = json.loads(_text(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
