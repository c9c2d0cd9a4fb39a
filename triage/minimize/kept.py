"""The best so far on disk: a case folder that is whole at every moment, and what is needed to go on from it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import IO

from triage.files import replace_file
from triage.minimize.oracle import Verdict
from triage.minimize.specimen import Specimen
from triage.model import case as cases
from triage.model.case import Case
from triage.model.errors import EnvironmentFault, InputError, TriageError

_SCHEMA = "triton-triage/minimize/1"
_STATE, _TRIED = "state.json", "tried.jsonl"


class Kept:
    """One reduction's folder. ``identity``: what original, with which toolchain, it is the reduction of."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self._identity = identity
        self._log: IO[str] | None = None
        self._file: str | None = None

    def open(self) -> tuple[Case, str, dict[str, Verdict]] | None:
        """Make the folder, or take up what an earlier run left in it: its best case, that one's text, and what was
        tried. Raises InputError when the folder holds something else, EnvironmentFault when it cannot be written."""
        state = self.folder / _STATE
        found = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if state.is_file():
                found = self._earlier(state)
            elif any(self.folder.iterdir()):
                raise InputError(f"-o {self.folder}: holds other files; give a folder that is new or empty")
            self._log = (self.folder / _TRIED).open("a", encoding="utf-8")
            if found is None:
                replace_file(state, json.dumps({"schema": _SCHEMA, "identity": self._identity}, indent=2) + "\n")
        except OSError as error:
            raise EnvironmentFault(f"-o {self.folder}: cannot be written: {error.strerror}") from None
        return found

    def _earlier(self, state: Path) -> tuple[Case, str, dict[str, Verdict]] | None:
        try:
            identity = json.loads(state.read_text(encoding="utf-8")).get("identity")
        except (ValueError, AttributeError):
            identity = None
        if identity != self._identity:
            raise InputError(f"-o {self.folder}: holds the reduction of another case or release; give another folder")
        tried: dict[str, Verdict] = {}
        if (log := self.folder / _TRIED).is_file():
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                key, _, verdict = line.partition(" ")
                if verdict in set(Verdict):  # A line that a kill cut short says nothing.
                    tried[key] = Verdict(verdict)
        try:
            case = cases.load(self.folder)
            return case, case.path.read_text(encoding="utf-8"), tried
        except (TriageError, OSError):
            return None  # Ended before anything was found.

    def save(self, specimen: Specimen, last: bool = False) -> Case:
        """Put a specimen in the place of the best. The text goes first, under a name of its own, then the case that
        names it: whenever this is killed, one of the two is there, whole."""
        name = "kernel.py" if last else f"kernel-{specimen.key()[:8]}.py"
        case = replace(specimen.case, folder=self.folder, file=name)
        if last and self._file is None and (self.folder / "case.json").is_file():
            self._file = cases.load(self.folder).file
        try:
            replace_file(self.folder / name, specimen.text)
            replace_file(self.folder / "case.json", json.dumps(case.to_json(), indent=1) + "\n")
            for old in self.folder.glob("kernel*.py"):
                if old.name != name:
                    old.unlink()
        except OSError as error:
            raise EnvironmentFault(f"{self.folder}: cannot be written: {error.strerror}") from None
        return case

    def write(self, name: str, text: str) -> None:
        """Put a file beside the case. Raises EnvironmentFault."""
        try:
            replace_file(self.folder / name, text)
        except OSError as error:
            raise EnvironmentFault(f"{self.folder}: cannot be written: {error.strerror}") from None

    def tell(self, key: str, verdict: Verdict) -> None:
        """Remember what a candidate did."""
        if self._log is not None:
            self._log.write(f"{key} {verdict.value}\n")
            self._log.flush()

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None
