"""The engine under every command: takes a stream of requests, gives a stream of attempts as they end.

One loop over sockets and pipes, no threads. An admitted request waits until the servers it needs are ready (see
``servers.py``), runs as a fork of its case server (``run.py``), and is judged when its process has ended
(``judge.py``), in another process where its log is long (``judgement.py``). A second run may follow (``work.py``): a
*confirmation* in a fresh process, for a crash that may come from forking alone, or an *observation*, a fresh process in
which MLIR names the pass that failed (``observe.py``).

A run that loses its server is not judged: the request is run again, alone, below servers of its own. If it loses those
as well, with nothing else running, the compile itself killed them.
"""

from __future__ import annotations

import itertools
import os
import selectors
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from triage import logs
from triage.files import replace_file
from triage.harness import artifacts, observe, processes
from triage.harness.deadline import Deadline
from triage.harness.judge import NO_LLD, unless_skipped
from triage.harness.judgement import Judged, Judging, Question
from triage.harness.messages import Exited
from triage.harness.remote import Level, Remote, ServerState, unregister
from triage.harness.request import Attempt, FullCompile, PartialCompile, Request
from triage.harness.run import Pipe, Run, open_run, over_limit
from triage.harness.servers import ServerTree
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain
from triage.harness.ulimits import ulimits
from triage.harness.work import FirstRun, Mode, SecondLook, Work
from triage.harness.worker import wire
from triage.ir.passes import PassInput
from triage.model.errors import EnvironmentFault, machine_fault
from triage.model.outcome import Outcome, Status, Undecided
from triage.scratch import lacks_room

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
        self._store = store
        self._keep = keep
        self._selector = selectors.DefaultSelector()
        self._tree = ServerTree(self._selector, self, spare)
        self._works: list[Work] = []
        self._finished: list[Attempt] = []
        self._discarded: list[Path] = []
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

    def run(self, requests: Iterable[Request | None]) -> Iterator[Attempt]:
        """Attempts in the order in which they end.

        Requests are taken when there is room for another job, so a generator may decide on the next request by the
        attempts it has seen; it yields None when there is no request now but may be one later. Raises EnvironmentFault
        when triage cannot work at all.
        """
        stream = iter(requests)
        more = True
        try:
            while (more or self._works) and not self.deadline.over:
                waiting = False
                while more and not waiting and not self._finished and len(self._works) < self.jobs:
                    try:
                        request = next(stream)
                    except StopIteration:
                        more = False
                        break
                    if request is None:
                        waiting = True
                    elif (remembered := self._store.get(request) if self._store else None) is not None:
                        # The limits of what runs are looked at before the next is taken.
                        self._finished.append(Attempt(request, remembered, cached=True))
                    else:
                        self._works.append(Work(request, next(self._numbers)))
                if self._works or waiting:
                    self._step()
                while self._finished:
                    yield self._finished.pop(0)
        finally:
            self._abandon()

    # ---- the loop

    def _step(self) -> None:
        self._advance()
        if not self._finished:
            self._remove_discarded()
        deadlines = [run.clock.next_deadline for _, run in self._runs()]
        deadlines += [work.judging.deadline for work in self._works if work.judging]
        next_end = min([*deadlines, self._tree.next_deadline()]) - time.monotonic()
        longest = 0.0 if self._finished else _WATCH_S
        for key, _ in self._selector.select(max(0.0, min(next_end, longest))):
            # An earlier event of this round may have closed the descriptor.
            if self._selector.get_map().get(key.fd) is key:
                key.data()
        self._watch()

    def _runs(self) -> list[tuple[Work, Run]]:
        return [(work, run) for work in self._works if (run := work.active_run) is not None]

    def _advance(self) -> None:
        """Bring every waiting request as far as its servers allow. One that has lost its servers runs alone."""
        for work in list(self._works):
            others = [other for other in self._works if other is not work and other.under_way]
            if (
                work.active_run
                or work.judging
                or any(other.isolation for other in others)
                or (work.isolation and others)
            ):
                continue
            try:
                if work.mode is Mode.FORK:
                    self._start_fork(work)
                else:
                    self._start_fresh(work, work.mode)
            except (wire.Unsendable, OSError) as error:  # OSError: no descriptor is free, for example
                self._finish(work, Undecided(f"no compile could be started: {machine_fault(error) or error}"))

    def _watch(self) -> None:
        now = time.monotonic()
        for _, run in self._runs():
            if run.events.events:
                run.clock.begin()
            if run.clock.stuck(now) and run.server is not None:
                self._tree.distrust(run.server)
            elif run.clock.timed_out(now) or (run.events.flooded and not run.clock.killed):
                run.facts.timed_out = not run.events.flooded
                run.kill()
        for work in self._works:
            if work.judging is not None and now > work.judging.deadline:
                work.judging.kill()
        if now - self._last_watch < _WATCH_S:
            return
        self._last_watch = now
        self._tree.watch(now)
        for work, run in self._runs():
            pid = run.process.pid
            if pid and not run.clock.killed and over_limit(pid, run.facts, work.request.limits):
                run.kill()

    # ---- what the servers report (servers.Listener)

    def started(self, identity: str, process: processes.Process) -> None:
        for _, run in self._runs():
            if run.identity == identity:
                run.process = process
                run.clock.restart()
                if process.pidfd >= 0:
                    self._selector.register(process.pidfd, selectors.EVENT_READ, partial(self._ended, run))
                return
        process.close()  # It belonged to a stream that was abandoned.

    def _ended(self, run: Run) -> None:
        unregister(self._selector, run.process.pidfd)
        run.clock.end()

    def exited(self, identity: str, end: Exited) -> None:
        for work, run in self._runs():
            if run.identity != identity:
                continue
            self._close(run)
            if end.fork_failed:
                self._finish(work, Undecided(f"no new process could be started: {end.fork_failed}"))
                continue
            run.facts.ended(end)
            self._settle(work, run)

    def lost(self, remote: Remote) -> None:
        for work in list(self._works):
            run = work.active_run
            if run is not None and run.server is remote:
                self._close(run)
                self._after_loss(work, run, remote)
            elif work.awaited is not None:
                # While it waits for nothing, it keeps no other request from running alone.
                work.awaited = None if work.awaited is remote else work.awaited
                if self._tree.lost_import(remote, work.request, work.isolation):
                    work.awaited = None
                    self._after_loss(work, None, remote)

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
            self._finish(work, Undecided("importing the kernel's module killed triage's own processes, twice"))
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

    def _start_fork(self, work: Work) -> None:
        work.awaited = None
        if not self._tree.forkable(work.request):
            work.mode = Mode.FRESH
            self._start_fresh(work, Mode.FRESH)
            return
        case = self._tree.case_server(work.request, work.isolation)
        if not isinstance(case, Remote):
            self._finish(work, case)
            return
        if case.answer is None or case.level is not Level.CASE or case.state is not ServerState.READY:
            work.awaited = case
            return
        work.reads = case.reads
        if case.process.threads() > 1:
            # The module started threads on import: a fork of it may hang in a lock that none of them will open.
            work.mode = Mode.FRESH
            self._start_fresh(work, Mode.FRESH)
            return
        run, writing = self._open_run(work, case, case.environment())
        message = work.message(run, {})
        self._launch(work, run, case, {"op": "compile", **message}, writing)

    def _start_fresh(self, work: Work, mode: Mode | observe.How) -> None:
        request = work.request
        nanny = self._tree.nanny()
        stated = {request.toolchain.compiler.name: request.toolchain.release}
        known = dict(work.first.outcome.environment) if work.first else stated
        run, writing = self._open_run(work, nanny, known)
        extra = observe.environment(mode, run.folder) if isinstance(mode, observe.How) else {}
        path = run.folder / "request.json"
        compile_message = work.message(run, extra)
        compile_message["triton_key"] = self._tree.library_keys.get(request.toolchain)
        try:
            path.write_text(wire.dumps(compile_message))
        except (OSError, TypeError, RecursionError) as error:
            self._close(run)
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
        self._launch(work, run, nanny, message, writing)

    def _open_run(self, work: Work, server: Remote, environment: dict[str, str]) -> tuple[Run, list[int]]:
        folder, identity = self._tree.new_folder(), self._tree.new_identity()
        server.attempts += 1
        return open_run(identity, folder, server, work.timeout_s, work.new_log(), environment)

    def _launch(self, work: Work, run: Run, server: Remote, message: dict[str, Any], writing: list[int]) -> None:
        work.run = run
        for pipe in run.pipes:
            self._selector.register(pipe.fd, selectors.EVENT_READ, partial(self._read, pipe))
        try:
            asked = server.ask(message, writing)
        except wire.Unsendable:
            self._close(run)
            raise
        finally:
            for fd in writing:
                os.close(fd)
        if not asked:
            self._close(run)
            self._after_loss(work, run, server)

    def _read(self, pipe: Pipe) -> None:
        if not pipe.read():
            unregister(self._selector, pipe.fd)

    def _close(self, run: Run) -> None:
        """The run's process has ended, or never was: read the rest of its pipes and close them."""
        for fd in (*(pipe.fd for pipe in run.pipes), run.process.pidfd):
            unregister(self._selector, fd)
        if run.server is not None:
            run.server.attempts -= 1
        run.close()

    # ---- judging runs

    def _settle(self, work: Work, run: Run) -> None:
        """Have an ended run judged."""
        if run.events.flooded:
            self._finish(work, Undecided("the compile wrote more than 64 MiB of garbage into triage's result pipe"))
            return
        if work.reads is None:
            work.reads = run.events.reads()
        run.facts.ulimits = ulimits(work.request.limits)
        request, how = work.request, work.mode if isinstance(work.mode, observe.How) else None
        question = Question(request.case, run.facts, request.limits, run.token, run.folder, how)
        if question.is_long:
            with suppress(OSError):  # without another process it is judged here
                judging = work.judging = Judging(question)
                self._selector.register(judging.fd, selectors.EVENT_READ, partial(self._answered, work, run, judging))
                return
        self._judged(work, run, question.answer())

    def _answered(self, work: Work, run: Run, judging: Judging) -> None:
        """The process that judges a run has ended."""
        unregister(self._selector, judging.fd)
        work.judging = None
        self._judged(work, run, judging.judgement())

    def _judged(self, work: Work, run: Run, judgement: Judged) -> None:
        """The request is answered, or run once more."""
        result, printed = judgement.result, judgement.printed
        compiled = isinstance(result, Outcome) and not result.failed
        if not compiled and not run.facts.stopped:
            # That explains every failure.
            removed = not run.has_folder
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
        if work.first is not None:
            self._conclude(work, run, work.first, replace(judgement, result=result))
            return
        self._finish(work, result, run.folder, printed)

    def _conclude(self, work: Work, run: Run, first: FirstRun, judgement: Judged) -> None:
        """Combine the forked run and the fresh one."""
        outcome, second = first.outcome, judgement.result
        if isinstance(second, Outcome) and not second.imported:
            second = Undecided("there the kernel's module could not be imported")
        elif isinstance(second, Outcome) and second.killed_from_outside:
            second = Undecided("that was killed from outside")
        if isinstance(second, Undecided):
            # Forking alone may have caused a crash; what the compiler reported needs no second look.
            note = f"not confirmed in a fresh process: {second.reason}"
            unsure = outcome.status is Status.CRASH
            result = Undecided(note) if unsure else replace(outcome, notes=(*outcome.notes, note))
            self._finish(work, result, first.folder, first.printed)
        elif second.failed:
            self._second_look.confirm(work.request, first)
            if work.observing:
                seen = judgement.seen
                _keep(seen, first.folder)
                if seen is None and work.mode is observe.How.REPRODUCER:
                    work.mode = observe.How.DUMP
                    self._drop_run(work)
                    return
                outcome = replace(outcome, pass_name=seen.pass_name if seen else None)
            self._finish(work, outcome, first.folder, first.printed)
        elif work.observing:
            # Observing changes the compile (one thread, a dump): only a plain fresh process can contradict.
            work.mode = Mode.FRESH
            self._drop_run(work)
        else:
            ended = outcome.signal or outcome.status.value
            note = f"failed once in a forked process ({ended}), compiles in a fresh one"
            self._finish(work, replace(second, notes=(*second.notes, note)), run.folder, judgement.printed)

    def _finish(
        self,
        work: Work,
        result: Outcome | Undecided,
        folder: Path | None = None,
        printed: logs.Printed | None = None,
    ) -> None:
        """Answer the request. ``folder``: what the compile left."""
        folder = folder if folder is not None and _is_folder(folder) else None
        if isinstance(result, Outcome) and result.failed and folder is not None and (full := lacks_room(folder)):
            result = Undecided(full)
        if isinstance(result, Outcome):
            if not result.environment:
                toolchain = work.request.toolchain
                result = replace(result, environment={toolchain.compiler.name: toolchain.release})
            if self._store is not None:
                result = self._store.put(work.request, result, folder, work.reads)
            result = self._with_artifacts(work.request, result, folder)
            match work.request.action:
                case FullCompile(entry=Path() as entry) if result.cache_key is not None and folder is not None:
                    result = _with_entry(result, folder, entry)
        elif result.reason == NO_LLD:
            result = Undecided(_no_lld(work.request))
        self._discard_folders(work)
        self._works.remove(work)
        self._finished.append(Attempt(work.request, result, printed=printed))

    def _with_artifacts(self, request: Request, outcome: Outcome, folder: Path | None) -> Outcome:
        """The outcome with artifacts that the store has not taken, where they are wanted."""
        match request.action:
            case FullCompile(keep=True):
                wanted = self._keep and outcome.failed
            case PartialCompile(keep=True):
                wanted = True
            case _:
                wanted = False
        if wanted and not outcome.artifacts:
            with suppress(OSError, EnvironmentFault):  # a full disk
                return replace(outcome, artifacts=artifacts.collect(folder, outcome.log, artifacts.temporary()))
        return outcome

    def _drop_run(self, work: Work) -> None:
        """Forget an ended run: another follows."""
        if work.run is not None:
            self._discarded.append(work.run.folder)
            work.run = None

    def _discard_folders(self, work: Work) -> None:
        self._drop_run(work)
        if work.first is not None:
            self._discarded.append(work.first.folder)

    def _remove_discarded(self) -> None:
        """Deletion is deferred until another run is under way; rmtree costs as much as a short stage."""
        while self._discarded:
            shutil.rmtree(self._discarded.pop(), ignore_errors=True)

    def _abandon(self) -> None:
        """Kill what is still running for a stream that nobody reads any more."""
        for _, run in self._runs():
            run.kill()
            self._close(run)
        for work in self._works:
            if work.judging is not None:
                unregister(self._selector, work.judging.fd)
                work.judging.close()
            self._discard_folders(work)
        self._works.clear()
        self._finished.clear()
        self._remove_discarded()


def _keep(seen: PassInput | None, folder: Path) -> None:
    """Put the input of the failing pass to a run's artifacts."""
    if seen is not None:
        with suppress(OSError):  # a full disk; the name of the pass is known all the same
            replace_file(folder / artifacts.PASS_INPUT, seen.module)
            if seen.reproducer is not None:
                replace_file(folder / artifacts.REPRODUCER, seen.reproducer)


def _is_folder(folder: Path) -> bool:
    """Whether it is still there, and not what a compile has put in its place."""
    return folder.is_dir() and not folder.is_symlink()


def _with_entry(outcome: Outcome, folder: Path, destination: Path) -> Outcome:
    """Move the finished cache entry to where it was asked for."""
    assert outcome.cache_key is not None
    try:
        shutil.move(folder / "cache" / outcome.cache_key, destination)
    except OSError as error:
        return replace(outcome, notes=(*outcome.notes, f"{destination}: {error.strerror}"))
    return outcome


def _no_lld(request: Request) -> str:
    return (
        f"Triton {request.toolchain.release} links AMD kernels with ld.lld, and none was found; every stage up to "
        "amdgcn compiled. Install lld, or set TRITON_HIP_LLD_PATH to an ld.lld"
    )
