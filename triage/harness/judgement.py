"""Judges an ended run; one with a long log in a process of its own.

Reading a log takes up to 0.2 s a megabyte, and the log of an observed run may have 49 MB. A long one would hold up the
engine's loop, which has to enforce the limits of all other runs meanwhile. A thread is no way out: it shares the
interpreter's lock with the loop.
"""

import os
import pickle
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from triage.harness import observe
from triage.harness.judge import RunFacts, judge
from triage.harness.limits import Limits
from triage.harness.worker import process
from triage.ir.passes import PassInput
from triage.logs.outcomes import Printed, read_outcome
from triage.model.case import Case
from triage.model.outcome import Outcome, Undecided

LONG = 128 << 10
"""Characters of a log from which on it is read in another process: a shorter one takes 0.03 s at most, a process 0.2 s
to start."""
_LIMIT_S = 60.0
"""Six times what the densest log of 49 MB takes."""
_PROGRAM = "import sys; sys.path[:] = sys.argv[2:]; from triage.harness import judgement; judgement.main(sys.argv[1])"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of a run. ``printed``: what was read in its log, if that was long; ``seen``: what an observed run
    showed."""

    result: Outcome | Undecided
    printed: Printed | None = None
    seen: PassInput | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is known of an ended run. ``how``: how it was observed, if it was."""

    case: Case
    facts: RunFacts
    limits: Limits
    token: str
    folder: Path
    how: observe.How | None

    @property
    def is_long(self) -> bool:
        return len(self.facts.log) > LONG

    def answer(self) -> Judged:
        """Judge the run."""
        result = judge(self.case, self.facts, self.limits, self.token)
        if isinstance(result, Undecided):
            return Judged(result)
        if self.how is not None:
            return Judged(result, seen=observe.read(self.how, self.folder, result.log) if result.pipeline else None)
        return Judged(result, read_outcome(result) if self.is_long and result.failed else None)


class Judging:
    """A question that is answered in a process of its own. ``fd`` is readable when the process has ended."""

    def __init__(self, question: Question) -> None:
        """Start the process. Raises OSError."""
        with ExitStack() as undo:
            asked = os.memfd_create("question", os.MFD_CLOEXEC)
            undo.callback(os.close, asked)
            with open(asked, "wb", closefd=False) as file:
                _dump(question, file)
            os.lseek(asked, 0, os.SEEK_SET)
            self._answer = os.memfd_create("answer", os.MFD_CLOEXEC)
            undo.callback(os.close, self._answer)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _PROGRAM, str(os.getpid()), *sys.path],
                stdin=asked,
                stdout=self._answer,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            undo.pop_all()
            os.close(asked)
        try:
            self.fd = os.pidfd_open(self._process.pid)
        except OSError:
            self.fd = -1
            self.close()
            raise
        self.deadline = time.monotonic() + _LIMIT_S

    def kill(self) -> None:
        """End the process; there will be no answer."""
        self.deadline = float("inf")
        self._process.kill()

    def judgement(self) -> Judged:
        """The answer, once the process has ended; closes everything."""
        status = self._process.wait()
        try:
            os.lseek(self._answer, 0, os.SEEK_SET)
            with open(self._answer, "rb", closefd=False) as file:
                judgement: Judged = pickle.load(file)
                return judgement
        except (EOFError, pickle.UnpicklingError):
            return Judged(Undecided(f"what the compile printed could not be read: the reader ended with {status}"))
        finally:
            self.close()

    def close(self) -> None:
        """Kill the process if it still runs, and release everything."""
        self._process.kill()
        self._process.wait()
        for fd in (self.fd, self._answer):
            with suppress(OSError):
                os.close(fd)


class _Pickler(pickle.Pickler):
    """Pickles read-only mappings as well, which values have as defaults."""

    def reducer_override(self, value: object) -> Any:
        return (_read_only, (dict(value),)) if isinstance(value, MappingProxyType) else NotImplemented


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _dump(value: object, file: IO[bytes]) -> None:
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)


def main(parent: str) -> None:
    """Answer the question on standard input."""
    process.die_with_parent(int(parent))
    question: Question = pickle.load(sys.stdin.buffer)
    judgement = question.answer()
    if question.how is not None and isinstance(judgement.result, Outcome):
        # Nobody reads the dump of an observed run again.
        judgement = replace(judgement, result=replace(judgement.result, log="", log_stages=()))
    _dump(judgement, sys.stdout.buffer)
