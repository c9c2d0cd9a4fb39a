"""The best so far on disk: a case folder that is valid at any time, and the state from which a reduction resumes."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from triage.filesystem.files import MOST_DOCUMENT, open_log, read_file, replace_file, writing
from triage.frontends import documents
from triage.minimize.problem import Verdict
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.errors import InputError, TriageError

_SCHEMA = "triton-triage/minimize/1"
_STATE, _TRIED = "state.json", "tried.jsonl"
_MOST_LOG = 64 << 20
"""Bytes; a search of 4,000 compiles writes 300 kB."""


def write(path: Path, text: str) -> None:
    """Replace a file atomically. Raises EnvironmentFault."""
    with writing(path):
        replace_file(path, text)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run left: its best case, that case's text, and the verdicts on its candidates."""

    case: Case
    text: str
    verdicts: dict[str, Verdict]


class ResultFolder:
    """One reduction's folder. ``identity``: a hash of the original and its toolchain."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self._identity = identity
        self._log: BinaryIO | None = None

    def begin(self) -> Earlier | None:
        """Create the folder, or read what an earlier run left in it. Raises InputError when the folder holds something
        else, EnvironmentFault when it cannot be written."""
        state = self.folder / _STATE
        earlier = None
        with writing(f"-o {self.folder}"):
            self.folder.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(state):
                earlier = self._earlier(state)
            elif any(self.folder.iterdir()):
                raise InputError(f"-o {self.folder}: holds other files; give a folder that is new or empty")
            self._log = open_log(self.folder / _TRIED, self.folder)
            if earlier is None:
                replace_file(state, json.dumps({"schema": _SCHEMA, "identity": self._identity}, indent=2) + "\n")
        return earlier

    def _earlier(self, state: Path) -> Earlier | None:
        try:
            identity = json.loads(read_file(state, self.folder, MOST_DOCUMENT)).get("identity")
        except (OSError, ValueError, AttributeError, RecursionError):
            identity = None
        if identity != self._identity:
            raise InputError(f"-o {self.folder}: holds the reduction of another case or release; give another folder")
        verdicts: dict[str, Verdict] = {}
        with suppress(OSError):
            log = read_file(self.folder / _TRIED, self.folder, _MOST_LOG)
            for line in log.decode("utf-8", "replace").splitlines():
                key, _, verdict = line.partition(" ")
                if verdict in set(Verdict):  # A kill may have cut a line short.
                    verdicts[key] = Verdict(verdict)
        try:
            case = documents.load(self.folder)
            return Earlier(case, case.text(), verdicts)
        except (TriageError, OSError):
            return None  # It ended before it had anything.

    def save(self, specimen: Specimen, last: bool = False) -> Case:
        """Replace the best. The text is written first, under a name of its own, then the case that names it: whenever
        this is killed, a case on disk has its own text."""
        name = "kernel.py" if last else f"kernel-{specimen.key()[:8]}.py"
        case = specimen.case.moved(self.folder, name)
        write(self.folder / name, specimen.text)
        write(self.folder / "case.json", json.dumps(case.to_json(), indent=1) + "\n")
        for old in self.folder.glob("kernel*.py"):
            if old.name != name:
                with writing(old):
                    old.unlink()
        return case

    def record(self, key: str, verdict: Verdict) -> None:
        """Append a verdict to the log."""
        if self._log is not None:
            self._log.write(f"{key} {verdict.value}\n".encode())
            self._log.flush()

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
