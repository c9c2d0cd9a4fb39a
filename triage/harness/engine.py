"""The engine under every command: takes a stream of requests, gives a stream of attempts as they end.

One loop, no threads. An admitted request waits until the servers it needs are ready (``servers.py``), runs in a fork of
its case server (``launching.py``), and is judged when it has ended (``judges.py``). A second run may follow
(``second_look.py``), then the answer (``answers.py``).

Where failures are rare (``repeats.py``), a fork is given a batch of requests, and makes their runs one after the other.
With the first that does not end well the fork ends; what it has not begun waits for another.

A server's message wakes the loop: that a process exists, and that it has ended. What it writes meanwhile lies in its
pipes until the loop next looks at the limits, ten times a second: a compile reports some twenty times, and each wake-up
would cost as much as the report.

A run that loses its server is not judged: the request is run again, alone, below servers of its own. If it loses those
as well, with nothing else running, the compile itself killed them.
"""

from __future__ import annotations

import itertools
import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from triage.harness import processes
from triage.harness.answers import Answers
from triage.harness.batch import Batch
from triage.harness.deadline import Deadline
from triage.harness.judge import unless_skipped
from triage.harness.judgement import Judged
from triage.harness.judges import Judges
from triage.harness.launching import RunLauncher
from triage.harness.messages import Exited
from triage.harness.remote import Level, Remote, ServerState, unregister
from triage.harness.removal import FolderRemoval
from triage.harness.repeats import MOST_AHEAD, returned
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.run import Run, over_limit
from triage.harness.second_look import Conclusion, FirstRun, Mode, SecondLook
from triage.harness.servers import ServerTree
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain
from triage.harness.work import Work
from triage.harness.worker import wire
from triage.model.errors import machine_fault
from triage.model.outcome import Outcome, Undecided

_WATCH_S = 0.1
"""How often memory is looked at. A process can touch about 3 GB a second, so a limit is overrun by 0.3 GB at most."""


class Engine:
    """Runs requests in isolation. Use as a context manager; one ``run`` at a time.

    ``spare`` gives toolchains whose built-in linker may be borrowed for AMD kernels on Triton 3.0 to 3.4. What still
    runs at ``deadline`` is killed, and has no attempt. ``keep``: artifacts that requests want, and the store does not
    take, are kept in temporary folders (``artifacts.py``).
    """

    def __init__(
        self,
        jobs: int | None = None,
        store: Store | None = None,
        spare: Callable[[], list[Toolchain]] = list,
        deadline: Deadline | None = None,
        keep: bool = False,
    ) -> None:
        self.deadline = deadline or Deadline()
        self.jobs = jobs or max(1, len(os.sched_getaffinity(0)))
        self._answers = Answers(store, keep)
        self._selector = selectors.DefaultSelector()
        self._tree = ServerTree(self._selector, self, spare)
        self._launcher = RunLauncher(self._selector, self._tree)
        self._judges = Judges(self._selector, self._judged)
        self._removal = FolderRemoval(self._tree)
        self._works: list[Work] = []
        self._batches: list[Batch] = []
        self._finished: deque[Attempt] = deque()
        self._numbers = itertools.count(1)
        self._second_look = SecondLook()
        self._last_watch = 0.0

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything: servers, children, the run's folder. Safe to call twice."""
        self._abandon()
        self._tree.close()
        self._selector.close()

    def attend(self, end: socket.socket, heard: Callable[[], None]) -> None:
        """Call ``heard`` whenever ``end`` is readable while a ``run`` is under way: for streams of requests that come
        from elsewhere."""
        self._selector.register(end, selectors.EVENT_READ, heard)

    def leave(self, end: socket.socket) -> None:
        """Stop watching ``end``; safe to call twice."""
        unregister(self._selector, end)

    @property
    def has_attempts(self) -> bool:
        """Whether the next attempt of :meth:`run` is there already."""
        return bool(self._finished)

    def run(self, requests: Iterable[Request | None], ahead: bool = False) -> Iterator[Attempt]:
        """Attempts in the order in which they end.

        Requests are taken when there is room for another job, so a generator may decide on the next request by the
        attempts it has seen; it yields None when there is no request now but may be one later. ``ahead``: it decides by
        none of them, and more are taken. Raises EnvironmentFault when triage cannot work at all.
        """
        stream = iter(requests)
        more, most = True, 2 * MOST_AHEAD * self.jobs if ahead else self.jobs
        self._tree.forget_environment()
        try:
            while (more or self._works) and not self.deadline.over:
                waiting = False
                while more and not waiting and not self._finished and len(self._works) < most:
                    try:
                        request = next(stream)
                    except StopIteration:
                        more = False
                        break
                    if request is None:
                        waiting = True
                    elif (remembered := self._answers.remembered(request)) is not None:
                        # The limits of what runs are looked at before the next is taken.
                        self._finished.append(remembered)
                    else:
                        self._works.append(Work(request, next(self._numbers)))
                if self._works or waiting:
                    self._step()
                while self._finished:
                    yield self._finished.popleft()
        finally:
            self._abandon()

    # ---- the loop

    def _step(self) -> None:
        self._advance()
        deadlines = [batch.clock.next_deadline for batch in self._batches]
        deadlines += [work.judging.deadline for work in self._works if work.judging]
        deadlines += [self._tree.next_deadline(), self._last_watch + _WATCH_S]
        left_s = 0.0 if self._finished else min(min(deadlines) - time.monotonic(), _WATCH_S)
        for key, _ in self._selector.select(max(0.0, left_s)):
            # An earlier event of this round may have closed the descriptor.
            if self._selector.get_map().get(key.fd) is key:
                key.data()
        self._watch()

    def _advance(self) -> None:
        """Bring waiting requests as far as their servers allow, as many as there are jobs. One that has lost its
        servers runs alone."""
        busy = len(self._batches)
        if busy >= self.jobs:
            return
        busy += sum(work.judging is not None for work in self._works)
        waiting = [work for work in self._works if not work.is_active and not work.judging]
        is_held = False
        for work in waiting:
            if busy >= self.jobs:
                return
            others = [other for other in self._works if other is not work and other.under_way]
            # Where one is to run alone, nothing else begins.
            is_held |= any(other.isolation for other in others) or bool(work.isolation and others)
            if work.is_active or (is_held and work.awaited is None):
                continue
            try:
                if work.mode is Mode.FORK:
                    self._start_fork(work, waiting)
                else:
                    self._start_fresh(work)
            except (wire.Unsendable, OSError) as error:  # OSError: no descriptor is free, for example
                reason = f"no compile could be started: {machine_fault(error) or error}"
                self._finish(work, Conclusion(Undecided(reason)))
            busy += work.under_way

    def _watch(self) -> None:
        """Look at what runs: at what is due now, and ten times a second at everything."""
        now = time.monotonic()
        look = now - self._last_watch >= _WATCH_S
        for batch in list(self._batches):
            # One before it may have ended its server.
            if batch.server is not None and (look or now > batch.clock.next_deadline):
                self._look(batch, now)
        self._judges.watch(self._works, now)
        if look:
            self._last_watch = now
            self._tree.watch(now)
            self._removal.watch(now)

    def _look(self, batch: Batch, now: float) -> None:
        self._launcher.look(batch, now)
        if batch.clock.stuck(now) and batch.server is not None:
            self._tree.distrust(batch.server)
        elif batch.current is not None and not batch.clock.killed:
            work, run = batch.current
            if batch.clock.timed_out(now) or run.flooded:
                run.facts.timed_out = not run.flooded
                batch.kill()
            elif (pid := batch.process.pid) and over_limit(pid, run.facts, work.request.limits):
                batch.kill()
        for work, run in batch.take(now):
            self._settle(work, run)

    # ---- what the servers report (servers.Listener)

    def started(self, identity: str, process: processes.Process) -> None:
        batch = self._batch(identity)
        if batch is None:
            process.close()  # It belonged to a stream that was abandoned, or removes folders.
            return
        batch.process.close()
        batch.process = process
        batch.runs[0].repeated = False
        batch.clock.restart()

    def exited(self, identity: str, end: Exited) -> None:
        batch = self._batch(identity)
        if batch is None:
            return
        self._close(batch, end)
        if batch.current is None:
            return
        work, run = batch.current
        if end.fork_failed:
            self._finish(work, Conclusion(Undecided(f"no new process could be started: {end.fork_failed}")))
        else:
            self._settle(work, run)

    def lost(self, remote: Remote) -> None:
        for batch in [batch for batch in self._batches if batch.server is remote]:
            self._close(batch)
            if batch.current is not None:
                self._after_loss(*batch.current, remote)
        for work in list(self._works):
            if work.awaited is not None:
                # While it waits for nothing, it keeps no other request from running alone.
                work.awaited = None if work.awaited is remote else work.awaited
                if self._tree.lost_import(remote, work.request, work.isolation):
                    work.awaited = None
                    self._after_loss(work, None, remote)

    def _batch(self, identity: str) -> Batch | None:
        return next((batch for batch in self._batches if batch.identity == identity), None)

    def _close(self, batch: Batch, end: Exited | None = None) -> None:
        """The process of a batch has ended: judge what has ended well in it."""
        self._batches.remove(batch)
        self._launcher.close(batch, end)
        for work, run in batch.take():
            self._settle(work, run)

    def _after_loss(self, work: Work, run: Run | None, remote: Remote) -> None:
        if run is not None and run.facts.stopped:
            # It was being killed for that anyway.
            self._settle(work, run)
            return
        if remote.unfit and remote.level is Level.CASE:
            # The module did that to its server; a fresh process has nothing of it but the compile.
            self._drop_run(work)
            return
        if self._runs_alone(work):
            return
        if run is None:
            killed = "importing the kernel's module killed triage's own processes, twice"
            self._finish(work, Conclusion(Undecided(killed)))
        else:
            run.facts.lost_server = True
            self._settle(work, run)

    def _runs_alone(self, work: Work) -> bool:
        """Run a request that lost its servers or its folder again, on servers of its own and with nothing beside it.
        False when it has been."""
        work.losses += 1
        if work.losses > 1:
            return False
        work.isolation = f"alone-{work.number}"
        self._drop_run(work)
        return True

    # ---- starting runs

    def _start_fork(self, work: Work, waiting: list[Work]) -> None:
        """Run a request in a fork of its case server, and with it those of ``waiting`` that have the same one, where
        that pays."""
        work.awaited = None
        case = self._tree.case_server(work.request, work.isolation)
        if case is None:
            self._start_fresh(work)
            return
        if not isinstance(case, Remote):
            self._finish(work, Conclusion(case))
            return
        if case.answer is None or case.level is not Level.CASE or case.state is not ServerState.READY:
            work.awaited = case
            return
        if case.process.threads() > 1:
            # The module started threads on import: a fork of it may hang in a lock that none of them will open.
            work.reads = case.reads
            self._start_fresh(work)
            return
        works = [work]
        if work.can_repeat and case.repeats.pay:
            others = (other for other in waiting if other is not work and other.can_repeat and not other.is_active)
            same = (other for other in others if self._tree.serves(case, other.request, other.isolation))
            # The less is left, the fewer, so that all forks have something to do until the end.
            works += islice(same, min(case.repeats.ahead, (len(waiting) - 1) // self.jobs))
        for each in works:
            each.awaited, each.reads = None, case.reads
        self._add(self._launcher.fork(works, case), case)

    def _start_fresh(self, work: Work) -> None:
        work.mode = Mode.FRESH if work.mode is Mode.FORK else work.mode
        nanny = self._tree.nanny()
        self._add(self._launcher.fresh(work, work.mode), nanny)

    def _add(self, batch: Batch, server: Remote) -> None:
        """Watch a batch; where its server is gone, it has lost that."""
        if batch.server is not None:
            self._batches.append(batch)
        elif batch.current is not None:
            self._after_loss(*batch.current, server)

    # ---- judging runs

    def _settle(self, work: Work, run: Run) -> None:
        if run.flooded:
            garbage = "the compile wrote more than 64 MiB of garbage into triage's result pipe"
            self._finish(work, Conclusion(Undecided(garbage)))
        else:
            self._judges.settle(work, run)

    def _judged(self, work: Work, run: Run, judgement: Judged) -> None:
        """The request is answered, or run once more."""
        result, printed = judgement.result, judgement.printed
        run.repeats.add(result, run.facts.duration_s)
        if run.repeated and not work.in_doubt and not returned(result):
            self._drop_run(work)
            work.in_doubt = True
            return
        compiled = isinstance(result, Outcome) and not result.failed
        if not compiled and not run.facts.stopped:
            # That explains every failure.
            removed = run.lost_folder
            if (removed or run.lacks_files(result)) and self._runs_alone(work):
                return
            if removed:
                result = Undecided("the compile's temporary folder was removed while it ran")
        if isinstance(result, Outcome) and isinstance(work.request.action, FullCompile):
            result = unless_skipped(work.request.case, result)
        if isinstance(result, Outcome) and work.mode is Mode.FORK:
            mode = self._second_look.mode(work.request, result, printed)
            if mode is not None:
                work.first, work.mode, work.run = FirstRun(result, run.folder, printed), mode, None
                return
        if work.first is None:
            self._finish(work, Conclusion(result, run.folder, printed))
            return
        second = replace(judgement, result=result)
        match self._second_look.conclude(work.request, work.first, work.mode, run.folder, second):
            case Conclusion() as conclusion:
                self._finish(work, conclusion)
            case mode:
                self._drop_run(work)
                work.mode = mode

    def _finish(self, work: Work, conclusion: Conclusion) -> None:
        """Answer the request."""
        attempt = self._answers.attempt(work.request, conclusion, work.reads)
        self._discard_folders(work)
        self._works.remove(work)
        self._finished.append(attempt)

    def _drop_run(self, work: Work) -> None:
        """Forget an ended run: another follows, or the answer."""
        if work.run is not None:
            self._removal.add(work.run.folder, is_large=work.observing)
            work.run = None

    def _discard_folders(self, work: Work) -> None:
        self._drop_run(work)
        if work.first is not None:
            self._removal.add(work.first.folder)

    def _abandon(self) -> None:
        """Kill what is still running for a stream that nobody reads any more, and end what waits for more of it."""
        for batch in self._batches:
            batch.kill()
            self._launcher.close(batch)
        self._batches.clear()
        for work in self._works:
            self._judges.abandon(work)
            self._discard_folders(work)
        self._works.clear()
        self._finished.clear()
        self._tree.dismiss()
        self._removal.flush()
