"""What all parts share: tries that a seed decides, commands with limits of their own, and the table of what went wrong.

A part is a function of a ``Part``. It asks that for tries until its share of the time is used up. Each try has a
random generator of its own, made of seed, part and number, so that a single try can be repeated."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from commands import new_cache, set_limits
from conftest import Traces

import triage
from triage.filesystem import scratch

ROOT = Path(triage.__file__).parents[1]
LINGER_S = 10.0
"""A killed process may need a moment to leave the process table on a busy machine."""


class Defect(Enum):
    """The columns of the table, all of which must be 0."""

    LOST = "lost"
    LEFT = "left"
    FALSE = "false verdicts"
    OUTSIDE = "reads outside"
    LEAK = "leaks"
    LATE = "late"
    INTERNAL = "tracebacks"


@dataclass(frozen=True)
class Ended:
    """How a process ended; ``late``: it had to be ended."""

    code: int
    out: str
    err: str
    seconds: float
    late: bool


@dataclass
class Try:
    """One try: its folder, its cache, and a mark on its processes."""

    part: Part
    number: int
    random: random.Random
    folder: Path
    mark: str = field(default_factory=lambda: os.urandom(8).hex())
    description: str = ""

    def __post_init__(self) -> None:
        for path in (self.temporary, self.working):
            path.mkdir(parents=True)
        self.cache = new_cache(self.folder / "cache")
        self.traces = Traces(self.mark, self.temporary, self.working)

    @property
    def temporary(self) -> Path:
        return self.folder / "t"

    @property
    def working(self) -> Path:
        return self.folder / "w"

    def report(self, defect: Defect, what: str) -> None:
        self.part.report(self, defect, what)

    def expect(self, truth: bool, defect: Defect, what: str) -> None:
        if not truth:
            self.report(defect, what)

    def environment(self, changes: Mapping[str, str | None]) -> dict[str, str]:
        """This process's, with the folders and the mark of this try; None removes a variable."""
        own = {"TMPDIR": str(self.temporary), "TRITON_TRIAGE_CACHE": str(self.cache), "TRIAGE_TEST_MARK": self.mark}
        own |= {"PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(self.folder / "triton"), "COLUMNS": "80"}
        whole = {**os.environ, **own, **changes}
        return {name: value for name, value in whole.items() if value is not None}

    def triage(self, *arguments: str | Path, bound_s: float, **named: Any) -> Ended:
        """``triage ARGUMENTS``; no traceback and no internal error may come of it."""
        done = self.run(sys.executable, "-m", "triage", *arguments, bound_s=bound_s, **named)
        words = " ".join(map(str, arguments))
        if re.search(r"internal error|^Traceback |^Exception ignored", done.err, re.MULTILINE):
            self.report(Defect.INTERNAL, f"{words}: {done.err[-2000:]}")
        return done

    def run(
        self,
        *command: str | Path,
        bound_s: float,
        limits: Mapping[int, int] | None = None,
        variables: Mapping[str, str | None] | None = None,
        meanwhile: Callable[[int, threading.Event], None] | None = None,
    ) -> Ended:
        """A program under hard ``limits``. ``meanwhile`` runs beside it, with its process and the event of its end.

        It is late, and ended, after twice its bound and the time that starting takes here."""
        began, over = time.monotonic(), threading.Event()
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.working,
            env=self.environment(variables or {}),
            start_new_session=True,
            preexec_fn=partial(set_limits, limits or {}),  # noqa: PLW1509 - the threads of the last call have ended
        )
        read: dict[Any, bytes] = {}
        threads = [threading.Thread(target=lambda pipe=pipe: read.update({pipe: pipe.read()}), daemon=True)
                   for pipe in (process.stdout, process.stderr)]  # fmt: skip
        if meanwhile is not None:
            threads.append(threading.Thread(target=meanwhile, args=(process.pid, over), daemon=True))
        for thread in threads:
            thread.start()
        late = False
        try:
            process.wait(2 * bound_s + self.part.campaign.start_s)
        except subprocess.TimeoutExpired:
            late = True
            self.report(Defect.LATE, f"{' '.join(map(str, command))}: {2 * bound_s:.0f} s and more")
            self.end_all()
            process.wait()
        seconds = time.monotonic() - began
        over.set()
        for thread in threads:
            # Something that is left may hold a pipe.
            thread.join(LINGER_S)
        out, err = (read.get(pipe, b"").decode(errors="replace") for pipe in (process.stdout, process.stderr))
        return Ended(process.returncode, out, err, seconds, late)

    def files(self) -> list[str]:
        """What lies in the temporary folder, but for results that a report names, and core files."""
        left = [path for path in self.temporary.glob("*") if path.name != scratch.root().name]
        left += [
            path for path in self.temporary.glob(f"{scratch.root().name}/*") if not (path / scratch.RETAINED).exists()
        ]
        return [str(path) for path in (*left, *self.working.glob("core*"))]

    def end_all(self) -> None:
        """Kill every process of this try."""
        for _ in range(5):
            for pid in self.traces.processes():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def nothing_left(self, files: bool = True, within_s: float = LINGER_S) -> None:
        """No process, and, with ``files``, no file in the temporary folder; now or in a moment."""

        def left() -> list[str]:
            processes = [f"process {pid} {text[:200]}" for pid, text in self.traces.processes().items()]
            return processes + (self.files() if files else [])

        until = time.monotonic() + within_s
        while left() and time.monotonic() < until:
            time.sleep(0.05)
        if rest := left():
            self.report(Defect.LEFT, "; ".join(rest))
            self.end_all()


def documents(text: str) -> list[Any]:
    """The JSON documents in an output: a line each, or one over several lines."""
    decoder, found, at = json.JSONDecoder(), [], 0
    with suppress(json.JSONDecodeError):
        while text[at:].strip():
            document, length = decoder.raw_decode(text[at:].lstrip())
            at = len(text) - len(text[at:].lstrip()) + length
            found.append(document)
    return found


class Part:
    """A row of the table: the tries of one kind of misuse, and what went wrong in them."""

    def __init__(self, campaign: Campaign, name: str, seconds: float) -> None:
        self.campaign, self.name, self._seconds = campaign, name, seconds
        self.count = 0
        self.defects: Counter[Defect] = Counter()
        self.incidents: list[str] = []

    def tries(self) -> Iterator[Try]:
        """Tries until the time is used up; the folder of one that went well is removed."""
        until, number = time.monotonic() + self._seconds, 0
        while time.monotonic() < until:
            if self.campaign.only in (None, number):
                folder = self.campaign.folder / self.name / str(number)
                current = Try(self, number, self.random(number), folder)
                before = len(self.incidents)
                self.count += 1
                yield current
                if len(self.incidents) == before:
                    shutil.rmtree(folder, ignore_errors=True)
            elif self.campaign.only is not None and number > self.campaign.only:
                return
            number += 1

    def one_try(self, name: str) -> Try:
        """A try that does not count."""
        return Try(self, -1, self.random(-1), self.campaign.folder / name)

    def random(self, number: int) -> random.Random:
        return random.Random(f"{self.campaign.seed} {self.name} {number}")

    def report(self, which: Try, defect: Defect, what: str) -> None:
        self.defects[defect] += 1
        self.incidents.append(f"{defect.value}: {self.name}:{which.number} [{which.description}] {what}")


class Campaign:
    """All parts, one after the other, each with a share of the time."""

    def __init__(self, seed: str, seconds: float, only: int | None = None) -> None:
        self.seed, self.seconds, self.only = seed, seconds, only
        # Short, so that sockets fit below it.
        self.folder = Path(tempfile.mkdtemp(prefix="soak-"))
        self.parts: list[Part] = []
        self.start_s = 10.0
        """What starting triage and its servers takes."""
        self.truth: list[str] = []

    def run(self, name: str, share: float, work: Callable[[Part], None]) -> None:
        part = Part(self, name, self.seconds * share)
        self.parts.append(part)
        work(part)

    @property
    def incidents(self) -> list[str]:
        return [incident for part in self.parts for incident in part.incidents]

    def table(self) -> str:
        heads = ["part", "tries", *(defect.value for defect in Defect)]
        rows = [[part.name, part.count, *(part.defects[defect] for defect in Defect)] for part in self.parts]
        lines = ["  ".join(f"{cell!s:>{max(len(head), 6)}}" for head, cell in zip(heads, row, strict=True))
                 for row in [heads, *rows]]  # fmt: skip
        return "\n".join([f"soak, seed {self.seed}", *lines, *self.incidents])

    def remove(self) -> None:
        """Remove the folders, if nothing went wrong."""
        if not self.incidents:
            shutil.rmtree(self.folder, ignore_errors=True)
