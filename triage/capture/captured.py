"""The captures of a program run: one folder for each compile that did not end well, and a tally."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.capture.counts import total
from triage.capture.program import labels
from triage.capture.program.folder import AGAIN, CACHED, COMPILED, NOTICE, UNGUARDED
from triage.filesystem.files import open_log, read_file
from triage.model.errors import InputError
from triage.model.words import count

if TYPE_CHECKING:
    from triage.model.case import Case

_TALLY = "tally"
_NOTES = "note-*.txt"
_MOST_BYTES = 64 << 20
"""Of a file; the tally has a few bytes for each compile."""
HELION = "helion"
"""Subfolder for Helion's failure reports."""


class CaptureState(str, Enum):
    """How a captured compile ended in the program."""

    DIED = "died"
    """The process ended during the compile without recording anything further."""
    HUNG = "hung"
    """Still compiling when the time limit was reached."""
    RUNNING = "running"
    """Still compiling when the program ended."""
    RAISED = "raised"
    """Ended in an exception."""
    COMPILED = "compiled"


@dataclass(frozen=True, slots=True)
class Captured:
    """One captured compile.

    ``case`` is None where capture failed, for the reason in ``problem``. ``error`` is the program's own exception, type
    and text. ``where``: ``compile``, ``load`` for a binary that could not be loaded, or ``launch``. ``autotuning``:
    Triton's autotuner skipped it as a configuration that does not work."""

    folder: Path
    state: CaptureState
    origin: Mapping[str, Any]
    case: Case | None = None
    problem: str = ""
    error: str = ""
    where: str = "compile"
    autotuning: bool = False

    @property
    def kernel(self) -> str:
        """The kernel's name in the program."""
        return str(self.origin.get("kernel") or (self.case.name if self.case else "a kernel"))

    @property
    def key(self) -> str:
        """Equal for captures of one configuration: Triton's cache key, where it was known."""
        return str(self.origin.get("hash") or (self.case.identity() if self.case else self.folder))

    @property
    def refused(self) -> bool:
        """Whether the guard refused it before it could end the program."""
        return self.error.startswith("CompileFailed:")

    @property
    def python(self) -> str:
        """Path of the interpreter that compiled it."""
        return str(self.origin.get("python") or "")


@dataclass(frozen=True, slots=True)
class Capture:
    """Everything captured in one run.

    ``compiled`` and ``cached`` are what compiled in some process of the program, and what was found in Triton's cache:
    kernels by cache key (see ``counts.py``). ``again`` counts compiles that the guard refused a second time, which
    would have taken ``saved_s`` seconds; ``unguarded`` compiles that the guard could not try, for the ``reasons``, and
    ``notices`` what else its user should know. ``notes`` are files about triage's own faults there, ``helion`` reports
    of configurations that Helion's autotuner skipped."""

    compiles: tuple[Captured, ...] = ()
    compiled: Mapping[str, str] = field(default_factory=dict)
    cached: Mapping[str, str] = field(default_factory=dict)
    again: int = 0
    saved_s: float = 0.0
    unguarded: int = 0
    reasons: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    notes: tuple[Path, ...] = ()
    helion: tuple[Path, ...] = ()

    def lost(self) -> list[str]:
        """Lines on what the guard could not try, and what else kept triage from its work."""
        reasons = f": {self.reasons[0]}" if self.reasons else ""
        more = f" ({count(len(self.reasons) - 1, 'other reason')})" if len(self.reasons) > 1 else ""
        untried = f"{count(self.unguarded, 'compile')} could not be tried in isolation{reasons}{more}"
        return [*([untried] if self.unguarded else []), *self.notices]

    @property
    def failed_cases(self) -> tuple[Captured, ...]:
        """Captures that did not compile."""
        return tuple(compile_ for compile_ in self.compiles if compile_.state is not CaptureState.COMPILED)

    def summary(self, cut_short: Collection[Captured] = ()) -> str:
        """One line with counts. ``cut_short``: failures caused only by the end of the program."""
        cut = f", {len(cut_short)} cut short by its end and good alone" if cut_short else ""
        lost = f"; not everything could be captured: {self.notes[0]}" if self.notes else ""
        return f"{total(self, cut_short).summary()}{cut}{lost}"


class RunFolder:
    """The folder that a program's processes write to. Entries from before the run are ignored."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        folder.mkdir(parents=True, exist_ok=True)
        for old in [folder / _TALLY, *folder.glob(_NOTES)]:
            old.unlink(missing_ok=True)
        if (folder / HELION).is_symlink():
            (folder / HELION).unlink()
        self._before = {entry.name for entry in folder.iterdir()}
        self._reports = set(folder.glob(f"{HELION}/*.py"))

    def compiling(self) -> dict[Path, int]:
        """Folders of unfinished compiles, each with the id of its process."""
        return {entry: _pid(entry) for entry in self._folders() if not (entry / "ended.json").exists()}

    def read(self, hung: frozenset[Path] = frozenset(), stopped: frozenset[Path] = frozenset()) -> Capture:
        """Read the folder. ``hung``: compiles for which the program was killed; ``stopped``: others killed with it."""
        tally: dict[str, list[str]] = {}
        for line in read_text(self.path / _TALLY).splitlines():
            tally.setdefault(line[:1], []).append(line[2:])
        return Capture(
            compiles=tuple(_read(entry, hung, stopped) for entry in self._folders()),
            compiled=_kernels(tally.get(COMPILED, ())),
            cached=_kernels(tally.get(CACHED, ())),
            again=len(tally.get(AGAIN, ())),
            saved_s=sum(_seconds(detail) for detail in tally.get(AGAIN, ())),
            unguarded=len(tally.get(UNGUARDED, ())),
            reasons=tuple(filter(None, dict.fromkeys(tally.get(UNGUARDED, ())))),
            notices=(*dict.fromkeys(tally.get(NOTICE, ())), *self._unwritable()),
            notes=tuple(sorted(self.path.glob(_NOTES))),
            helion=tuple(sorted(set(self.path.glob(f"{HELION}/*.py")) - self._reports)),
        )

    def _unwritable(self) -> list[str]:
        """Whether the program can have written to the folder: what it could not write was not counted either."""
        try:
            with open_log(self.path / _TALLY, self.path) as tally:
                tally.write(b"\n")
        except OSError as error:
            return [f"{self.path} cannot be written, so that not every compile was counted: {error.strerror}"]
        return []

    def tidy(self) -> None:
        """Remove files that only the run itself needed."""
        (self.path / _TALLY).unlink(missing_ok=True)
        for entry in set(self.path.glob(".*")):
            numbers = labels.numbers(entry.name[1:])
            if numbers is not None and entry.name not in self._before and not is_alive(numbers[0]):
                shutil.rmtree(entry, ignore_errors=True)

    def _folders(self) -> list[Path]:
        """Capture folders, in the order in which the compiles began."""
        try:
            names = [entry for entry in self.path.iterdir() if entry.name not in self._before]
        except OSError:  # the program has removed it
            return []
        folders = [entry for entry in names if labels.numbers(entry.name) is not None and entry.is_dir()]
        return sorted(folders, key=_began)


def _kernels(lines: Iterable[str]) -> dict[str, str]:
    """Names of kernels by cache key."""
    return {key: name for key, _, name in (line.partition(" ") for line in lines)}


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # cut short by a full disk
        return 0.0


def _pid(folder: Path) -> int:
    numbers = labels.numbers(folder.name)
    assert numbers is not None, folder
    return numbers[0]


def _began(folder: Path) -> tuple[float, str]:
    for name in ("case.json", "origin.json"):
        # The program may have removed it.
        with suppress(OSError):
            return (folder / name).stat().st_mtime, folder.name
    return 0.0, folder.name


def _read(folder: Path, hung: frozenset[Path], stopped: frozenset[Path]) -> Captured:
    ended = _document(folder / "ended.json")
    if ended:
        state = CaptureState.COMPILED if ended.get("how") == "compiled" else CaptureState.RAISED
    elif folder in hung:
        state = CaptureState.HUNG
    else:
        running = folder in stopped or is_alive(_pid(folder))
        state = CaptureState.RUNNING if running else CaptureState.DIED
    error = f"{ended['type']}: {ended.get('text', '')}".strip() if "type" in ended else ""
    where, autotuning = str(ended.get("where", "compile")), bool(ended.get("autotuning"))
    captured = Captured(folder, state, {}, error=error, where=where, autotuning=autotuning)
    if not (folder / "case.json").exists():
        origin = _document(folder / "origin.json")
        return replace(captured, origin=origin, problem=str(origin.get("problem") or "nothing was written"))

    from triage.frontends import documents  # imported only if something failed

    try:
        case = documents.load(folder)
    except InputError as error_:
        origin = _document(folder / "case.json").get("origin", {})
        return replace(captured, origin=origin if isinstance(origin, dict) else {}, problem=str(error_))
    return replace(captured, origin=case.origin, case=case)


def is_alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def _document(path: Path) -> dict[str, Any]:
    return json_object(read_text(path))


def json_object(text: str) -> dict[str, Any]:
    """A JSON object written by the program's process; empty if malformed."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):  # a process was killed as it wrote
        return {}
    return document if isinstance(document, dict) else {}


def read_text(path: Path) -> str:
    """The text of a file of the run folder; empty if it cannot be read."""
    try:
        return read_file(path, path.parent, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
