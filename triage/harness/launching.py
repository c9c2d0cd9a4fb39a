"""Starts the processes of runs: a fork of a case server, or a fresh interpreter below the nanny."""

from __future__ import annotations

import os
import selectors
import time
from functools import partial
from pathlib import Path
from typing import Any

from triage.harness import artifacts, observe, processes
from triage.harness.driver import target_message
from triage.harness.remote import Remote, unregister
from triage.harness.repeats import can_repeat
from triage.harness.run import Pipe, Run, open_run
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
    """Opens and closes runs. Their pipes are read by :meth:`look`; one that fills fast, whenever it is readable."""

    def __init__(self, selector: selectors.BaseSelector, tree: ServerTree) -> None:
        self._selector = selector
        self._tree = tree
        self._oom_kills = _OomKills()

    def fork(self, work: Work, case: Remote) -> Run | None:
        """Run the request in a fork of a case server that is ready; None, with the run closed, where the server is
        gone. Raises wire.Unsendable, OSError."""
        run, writing = self._open(work, case, self._tree.new_path(), case.environment())
        message = {"op": "compile", **work.message(run, location_of(case.key), {})}
        if not work.in_doubt and case.repeats.pay and can_repeat(work.request):
            run.process = case.repeats.take()
            message |= {"again": True, "to": run.process.pid}
        return run if self._launch(work, run, case, message, writing) else None

    def fresh(self, work: Work, mode: RunMode) -> Run | None:
        """Run the request in a fresh process; None, with the run closed, where the nanny is gone. Raises
        wire.Unsendable, OSError."""
        request = work.request
        nanny = self._tree.nanny()
        stated = {request.toolchain.compiler.name: request.toolchain.release}
        known = dict(work.first.outcome.environment) if work.first else stated
        folder = self._tree.new_folder()
        (folder / artifacts.STACK).touch()  # see Run.lost_folder
        run, writing = self._open(work, nanny, folder, known)
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
            self.close(run)
            for fd in writing:
                os.close(fd)
            raise wire.Unsendable(f"the request cannot be written to {path.parent}: {error}") from None
        message = {
            "op": "start",
            "id": run.identity,
            "command": self._tree.command(request, "fresh", str(path)),
            "environment": {**self._tree.environment(request), **extra},
            "memory_bytes": request.limits.memory_bytes,
        }
        return run if self._launch(work, run, nanny, message, writing) else None

    def look(self, run: Run) -> None:
        """Read what the run has written so far, and see whether its process has ended."""
        for pipe in run.pipes:
            if not pipe.is_watched and not pipe.read():
                continue
            if pipe.is_busy and not pipe.is_watched:
                pipe.is_watched = True
                self._selector.register(pipe.fd, selectors.EVENT_READ, partial(self._read, pipe))
        if run.process.has_ended:
            run.clock.end()
        if run.events.events:
            run.clock.begin()

    def close(self, run: Run) -> None:
        """The run's process has ended, or never was: read the rest of its pipes and close them."""
        for pipe in run.pipes:
            if pipe.is_watched:
                unregister(self._selector, pipe.fd)
        if run.server is not None:
            run.server.attempts -= 1
        run.close()

    def _open(self, work: Work, server: Remote, folder: Path, environment: dict[str, str]) -> tuple[Run, list[int]]:
        identity = self._tree.new_identity()
        server.attempts += 1
        server.has_served = True
        return open_run(identity, folder, server, work.timeout_s, work.new_log(), environment, self._oom_kills.before())

    def _launch(self, work: Work, run: Run, server: Remote, message: dict[str, Any], writing: list[int]) -> bool:
        work.run = run
        try:
            is_asked = server.ask(message, writing)
        except wire.Unsendable:
            self.close(run)
            raise
        finally:
            for fd in writing:
                os.close(fd)
        if not is_asked:
            self.close(run)
        return is_asked

    def _read(self, pipe: Pipe) -> None:
        if not pipe.read():
            unregister(self._selector, pipe.fd)
