"""A process that compiles, and what it compiles one after the other."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from triage.harness import processes
from triage.harness.messages import Exited
from triage.harness.pipes import Logs, Pipe, Results, open_pipe
from triage.harness.processes import Process
from triage.harness.remote import Remote
from triage.harness.run import Run
from triage.harness.run_clock import RunClock
from triage.harness.work import Work

_HELD_S = 0.5
"""How long compiles that have ended wait for the others of their batch. To judge one takes 0.1 ms among several, and
0.3 ms by itself, when the compilers have replaced all that the processor's caches held of triage."""


@dataclass(slots=True, eq=False)
class Batch:
    """A process, from the request for it to its end. ``works``: the requests whose runs it makes, in this order;
    ``clock`` is that of the one under way. ``server`` was asked for the process; it is None once that has ended.
    ``oom_kills``: how many processes Linux had killed for want of memory when it began, or shortly before."""

    identity: str
    works: Sequence[Work]
    runs: Sequence[Run]
    server: Remote | None
    clock: RunClock
    results: Results
    logs: Logs
    pipes: tuple[Pipe, Pipe]
    oom_kills: int
    process: Process = field(default_factory=Process)
    _taken: int = 0
    _seen: int = 0
    _ended_at: float = 0.0

    @property
    def current(self) -> tuple[Work, Run] | None:
        """What it compiles now; None where everything has ended."""
        ended = self.results.ended
        return (self.works[ended], self.runs[ended]) if ended < len(self.runs) else None

    def look(self, now: float) -> None:
        """See how far the process is, when its pipes have been read. ``now``: monotonic seconds."""
        if self.results.ended > self._seen:
            self._ended_at = self._ended_at if self._taken < self._seen else now
            self._seen = self.results.ended
            if self.current is not None and not self.clock.killed:
                self.clock = RunClock(self.current[1].limit_s, fresh=False)
        if self.process.has_ended or self.current is None:
            self.clock.end()
        elif self.current[1].has_begun:
            self.clock.begin()

    def take(self, now: float = float("inf")) -> list[tuple[Work, Run]]:
        """What has ended well and was not taken before; nothing while that may wait."""
        if self._taken == self._seen or now - self._ended_at < _HELD_S:
            return []
        new = slice(self._taken, self._seen)
        self._taken = self._seen
        for run in self.runs[new]:
            run.close()
        return list(zip(self.works[new], self.runs[new], strict=True))

    def kill(self) -> None:
        """End the process."""
        self.clock.kill()
        self.process.kill()
        if self.server is not None:
            self.server.ask({"op": "kill", "id": self.identity})

    def close(self, end: Exited | None = None) -> None:
        """The process has ended, or waits for another message, or never was: read the rest of its pipes and close them.
        What it has not begun is free for another process."""
        if end is not None and end.waits and self.server is not None and not self.clock.killed:
            self.server.repeats.waiting.append(self.process)
            self.process = Process()
        for pipe in self.pipes:
            pipe.read()
            os.close(pipe.fd)
        self.logs.close()
        self.process.close()
        self.server, self._seen = None, self.results.ended
        if self.current is not None:
            _, run = self.current
            run.facts.duration_s = time.monotonic() - self.clock.started
            if end is not None:
                run.facts.ended(end)
            if run.facts.signal == signal.SIGKILL:
                run.facts.oom_kills = processes.kernel_oom_kills() - self.oom_kills
            run.close()
        for work in self.works[self.results.ended + 1 :]:
            work.run = None


def open_batch(
    identity: str, works: Sequence[Work], runs: Sequence[Run], server: Remote, oom_kills: int
) -> tuple[Batch, list[int]]:
    """A batch with new pipes, and their writing ends: log, results. Raises OSError."""
    results, logs = Results(runs), Logs(runs)
    log_pipe, log_write = open_pipe(logs.write)
    result_pipe, result_write = open_pipe(results.write)
    clock = RunClock(runs[0].limit_s, runs[0].is_fresh)
    # The results are read first: what has ended, as these tell, has printed all that it prints.
    batch = Batch(identity, works, runs, server, clock, results, logs, (result_pipe, log_pipe), oom_kills)
    return batch, [log_write, result_write]
