"""Starts the processes that compile: a fork of a case server, or a fresh interpreter below the nanny."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from triage.harness import artifacts, observe, processes
from triage.harness.batch import Batch, open_batch
from triage.harness.driver import target_message
from triage.harness.judge import RunFacts
from triage.harness.messages import Exited
from triage.harness.pipes import Pipe
from triage.harness.remote import Level, Remote, unregister
from triage.harness.run import Run
from triage.harness.second_look import RunMode
from triage.harness.server_keys import location_of
from triage.harness.servers import ServerTree
from triage.harness.work import Work
from triage.harness.worker import wire

_RECENT_S = 0.5
"""To count the kernel's kills takes 0.1 ms, which a sweep would pay for each compile."""


class _OomKills:
    """How many processes Linux has killed for want of memory, as of half a second ago at most."""

    def __init__(self) -> None:
        self._number, self._counted = 0, float("-inf")

    def before(self) -> int:
        """The number when a run begins: what is killed between the count and that counts as during the run."""
        now = time.monotonic()
        if now - self._counted > _RECENT_S:
            self._number, self._counted = processes.kernel_oom_kills(), now
        return self._number


class RunLauncher:
    """Opens and closes batches. Their pipes are read by :meth:`look`; one that fills fast, whenever it is readable."""

    def __init__(self, selector: selectors.BaseSelector, tree: ServerTree) -> None:
        self._selector = selector
        self._tree = tree
        self._oom_kills = _OomKills()

    def fork(self, works: Sequence[Work], case: Remote) -> Batch:
        """Run requests one after the other in a fork of a case server that is ready. Where the server is gone, the
        batch has none. Raises wire.Unsendable, OSError."""
        environment, location = case.environment(), location_of(case.key)
        runs = [self._run(work, case, self._tree.new_path(), environment) for work in works]
        batch, writing = self._open(works, runs, case)
        messages = [work.message(run, location, {}) for work, run in zip(works, runs, strict=True)]
        message = {"op": "compile", "id": batch.identity, **messages[0]}
        if works[0].can_repeat and case.repeats.pay:
            batch.process = case.repeats.take()
            message |= {"again": True, "to": batch.process.pid}
            message["next"] = [
                {name: value for name, value in further.items() if value != messages[0][name]}
                for further in messages[1:]
            ]
            for number, run in enumerate(runs):
                run.repeated = number > 0 or bool(batch.process.pid)
        self._launch(batch, message, writing)
        return batch

    def fresh(self, work: Work, mode: RunMode) -> Batch:
        """Run a request in a fresh process. Where the nanny is gone, the batch has no server. Raises wire.Unsendable,
        OSError."""
        request = work.request
        nanny = self._tree.nanny()
        stated = {request.toolchain.compiler.name: request.toolchain.release}
        known = dict(work.first.outcome.environment) if work.first else stated
        folder = self._tree.new_folder()
        (folder / artifacts.STACK).touch()  # see Run.lost_folder
        run = self._run(work, nanny, folder, known)
        batch, writing = self._open([work], [run], nanny)
        extra = observe.environment(mode, run.folder) if isinstance(mode, observe.How) else {}
        path = run.folder / "request.json"
        compile_message = {
            **work.message(run, str(request.case.location), extra),
            **target_message(request.case.target),
            "triton_key": self._tree.library_keys.get(request.toolchain),
        }
        try:
            path.write_text(wire.dumps(compile_message))
        except (OSError, TypeError, RecursionError) as error:
            self.close(batch)
            for fd in writing:
                os.close(fd)
            raise wire.Unsendable(f"the request cannot be written to {path.parent}: {error}") from None
        message = {
            "op": "start",
            "id": batch.identity,
            "command": self._tree.command(request, "fresh", str(path)),
            "environment": {**self._tree.environment(request), **extra},
            "memory_bytes": request.limits.memory_bytes,
        }
        self._launch(batch, message, writing)
        return batch

    def look(self, batch: Batch, now: float) -> None:
        """Read what the process has written so far, and see how far it is."""
        for pipe in batch.pipes:
            if not pipe.is_watched and not pipe.read():
                continue
            if pipe.is_busy and not pipe.is_watched:
                pipe.is_watched = True
                self._selector.register(pipe.fd, selectors.EVENT_READ, partial(self._read, pipe))
        batch.look(now)

    def close(self, batch: Batch, end: Exited | None = None) -> None:
        """The process has ended, or never was: see :meth:`Batch.close`."""
        for pipe in batch.pipes:
            if pipe.is_watched:
                unregister(self._selector, pipe.fd)
        if batch.server is not None:
            batch.server.attempts -= 1
        batch.close(end)

    def _run(self, work: Work, server: Remote, folder: Path, environment: dict[str, str]) -> Run:
        facts, is_fresh = RunFacts(environment=environment), server.level is Level.NANNY
        return Run(folder, work.timeout_s, work.new_log(), facts, server.repeats, is_fresh)

    def _open(self, works: Sequence[Work], runs: Sequence[Run], server: Remote) -> tuple[Batch, list[int]]:
        opened = open_batch(self._tree.new_identity(), works, runs, server, self._oom_kills.before())
        server.attempts += 1
        server.has_served = True
        for work, run in zip(works, runs, strict=True):
            work.run = run
        return opened

    def _launch(self, batch: Batch, message: dict[str, Any], writing: list[int]) -> None:
        server = batch.server
        assert server is not None
        try:
            is_asked = server.ask(message, writing)
        except wire.Unsendable:
            self.close(batch)
            raise
        finally:
            for fd in writing:
                os.close(fd)
        if not is_asked:
            self.close(batch)

    def _read(self, pipe: Pipe) -> None:
        if not pipe.read():
            unregister(self._selector, pipe.fd)
