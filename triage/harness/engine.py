"""The engine under every command: takes a stream of requests, gives a stream of attempts as they end.

One loop over sockets and pipes, no threads. An admitted request waits until the servers it needs are there (see
``servers.py``), runs as a fork of its case server, and is judged when its process has ended (``judge.py``). Two
things may follow: a *confirmation* in a fresh process, for a crash that may come from forking alone, and an
*observation*, a fresh process in which MLIR tells which pass failed (``observe.py``).

An attempt whose server is lost under it is not judged: it is run again, alone, below servers of its own. Only when
it loses those as well, with nothing else running, was it the attempt itself.
"""

from __future__ import annotations

import itertools
import json
import os
import selectors
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any

from triage import logs
from triage.harness import artifacts, observe, watch
from triage.harness.driver import driver_properties
from triage.harness.judge import NO_LLD, judge
from triage.harness.remote import Remote
from triage.harness.request import Attempt, FullCompile, PartialCompile, Request
from triage.harness.servers import ServerTree
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain
from triage.harness.work import Mode, Work
from triage.ir.passes import PassInput
from triage.model.diagnosis import Trait
from triage.model.outcome import Outcome, Status, Undecided

_WATCH_S = 0.1
"""How often memory is looked at. A process can touch about 3 GB a second, so a limit is overrun by 0.3 GB at most."""
_KILL_GRACE_S = 5.0
"""A SIGKILL takes effect at once; a server that has not reported the end by then is not working any more."""


class _End(Enum):
    """What a stream of requests gives when it is over; None is taken."""

    END = 0


class Engine:
    """Runs requests in isolation. Use as a context manager; one ``run`` at a time.

    ``spare`` gives toolchains whose built-in linker may be borrowed for AMD kernels on Triton 3.0 to 3.4.
    """

    def __init__(
        self,
        jobs: int | None = None,
        store: Store | None = None,
        spare: Callable[[], list[Toolchain]] = list,
    ) -> None:
        self.jobs = jobs or max(1, len(os.sched_getaffinity(0)))
        self._store = store
        self._selector = selectors.DefaultSelector()
        self._tree = ServerTree(self._selector, self, spare)
        self._works: list[Work] = []
        self._finished: list[Attempt] = []
        self._rubbish: list[Path] = []
        self._numbers = itertools.count(1)
        self._confirmed: set[tuple[str, str, str]] = set()
        self._oom_kills = watch.kernel_oom_kills()
        self._last_watch = 0.0

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End everything: servers, children, the run's folder. Safe to call twice."""
        self._abandon()
        self._tree.close()
        self._selector.close()

    def attend(self, end: socket.socket, heard: Callable[[], None]) -> None:
        """While a ``run`` is under way, call ``heard`` whenever there is something to read at ``end``: for streams
        of requests that come from elsewhere."""
        self._selector.register(end, selectors.EVENT_READ, heard)

    def leave(self, end: socket.socket) -> None:
        """No longer attend to it; safe to call twice."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(end)

    def run(self, requests: Iterable[Request | None]) -> Iterator[Attempt]:
        """Attempts in the order in which they end. Requests are taken as places become free, so a generator may
        decide what to ask next by what it has seen; None says that there is none at the moment, but that there may be
        more. Raises EnvironmentFault when triage cannot work at all."""
        stream = iter(requests)
        more = True
        try:
            while more or self._works:
                waiting = False
                while more and not waiting and len(self._works) < self.jobs:
                    request = next(stream, _End.END)
                    if request is None:
                        waiting = True
                    elif isinstance(request, _End):
                        more = False
                    elif (remembered := self._remembered(request)) is not None:
                        yield Attempt(request, remembered, cached=True)
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
        if self._finished:
            return
        self._clear_up()
        for key, _ in self._selector.select(self._patience()):
            # An earlier event of this round may have closed what this one is about.
            if self._selector.get_map().get(key.fd) is key:
                key.data()
        self._watch()

    def _patience(self) -> float:
        ends = [min(work.deadline, work.kill_deadline) for work in self._works if work.running]
        next_end = min([*ends, self._tree.next_deadline()]) - time.monotonic()
        return max(0.0, min(next_end, _WATCH_S))

    def _advance(self) -> None:
        """Bring every waiting request as far as its servers allow. One that has lost its servers runs alone."""
        for work in list(self._works):
            others = [other for other in self._works if other.running]
            if work.running or any(other.isolation for other in others) or (work.isolation and others):
                continue
            if work.mode is Mode.FORK:
                self._start_fork(work)
            else:
                self._start_fresh(work)

    def _watch(self) -> None:
        now = time.monotonic()
        for work in [work for work in self._works if work.running]:
            if now > work.kill_deadline:
                work.kill_deadline = float("inf")
                if work.remote is not None:
                    self._tree.kill_toolchain(work.remote)
            elif now > work.deadline or (work.flooded and work.deadline < float("inf")):
                work.facts.timed_out = not work.flooded
                self._kill(work)
        if now - self._last_watch < _WATCH_S:
            return
        self._last_watch = now
        self._tree.watch(now)
        for work in self._works:
            limit = work.request.limits.memory_bytes
            if work.running and work.pid and watch.tree_rss_bytes(work.pid) > limit and not work.facts.over_memory:
                work.facts.over_memory = True
                self._kill(work)

    def _kill(self, work: Work) -> None:
        work.deadline = float("inf")
        work.kill_deadline = time.monotonic() + _KILL_GRACE_S
        if work.remote is not None:
            work.remote.ask({"op": "kill", "id": work.identity})

    # ---- what the servers tell (servers.Listener)

    def started(self, identity: str, pid: int) -> None:
        """An attempt's process exists."""
        for work in self._works:
            if work.identity == identity and work.running:
                work.began(pid)

    def exited(self, identity: str, message: dict[str, Any]) -> None:
        """An attempt's process ended."""
        for work in [work for work in self._works if work.identity == identity and work.running]:
            self._release(work)
            if "fork_failed" in message:
                self._finish(work, Undecided(f"no new process could be made: {message['fork_failed']}"))
                continue
            work.facts.status, work.facts.max_rss_bytes = message["status"], message["max_rss_bytes"]
            self._settle(work)

    def lost(self, remote: Remote) -> None:
        """A server went away, and the attempts below it with it."""
        for work in [work for work in self._works if work.remote is remote]:
            self._release(work)
            self._after_loss(work)

    def _after_loss(self, work: Work) -> None:
        if work.facts.timed_out or work.facts.over_memory:
            # It was being killed for that anyway.
            self._settle(work)
            return
        work.losses += 1
        if work.losses == 1:
            self._discard(work.folder)
            work.isolation, work.folder = f"alone-{work.number}", None
            return
        work.facts.lost_server = True
        self._settle(work)

    # ---- starting attempts

    def _start_fork(self, work: Work) -> None:
        case = self._tree.case_server(work.request, work.isolation)
        if case is None:
            return
        if not isinstance(case, Remote):
            self._finish(work, case)
            return
        if int(case.answer.get("threads", 1)) > 1:
            # The module started threads on import: a fork of it may hang in a lock that none of them will open.
            work.mode = Mode.FRESH
            self._start_fresh(work)
            return
        writing = work.open(self._tree.new_identity(), self._tree.new_folder())
        work.facts.environment = case.environment()
        message = work.message(driver_properties(work.request.case.target), {})
        self._launch(work, case, {"op": "compile", **message}, list(writing))

    def _start_fresh(self, work: Work) -> None:
        request = work.request
        nanny, folder = self._tree.nanny(), self._tree.new_folder()
        writing = work.open(self._tree.new_identity(), folder)
        work.facts.environment = dict(work.first.environment) if work.first else {"triton": request.toolchain.triton}
        extra = observe.environment(work.how, folder) if work.mode is Mode.OBSERVE else {}
        path = folder / "request.json"
        told = work.message(driver_properties(request.case.target), extra)
        path.write_text(json.dumps({**told, "triton_key": self._tree.library_keys.get(request.toolchain)}))
        message = {
            "op": "start",
            "id": work.identity,
            "command": self._tree.command(request, "fresh", str(path)),
            "environment": {**self._tree.environment(request), **extra},
            "memory_bytes": request.limits.memory_bytes,
        }
        self._launch(work, nanny, message, list(writing))

    def _launch(self, work: Work, remote: Remote, message: dict[str, Any], writing: list[int]) -> None:
        work.remote = remote
        remote.attempts += 1
        log_fd, result_fd = work.log_fd, work.result_fd
        self._selector.register(log_fd, selectors.EVENT_READ, lambda: self._listen(log_fd, work.read_log))
        self._selector.register(result_fd, selectors.EVENT_READ, lambda: self._listen(result_fd, work.read_result))
        asked = remote.ask(message, writing)
        for fd in writing:
            os.close(fd)
        if not asked:
            self._release(work)
            self._after_loss(work)

    def _listen(self, fd: int, read: Callable[[], bool]) -> None:
        if not read():
            with suppress(KeyError, ValueError):
                self._selector.unregister(fd)

    def _release(self, work: Work) -> None:
        """The attempt's process is over: take in what is left in its pipes and let them go."""
        for fd in (work.log_fd, work.result_fd):
            with suppress(KeyError, ValueError):
                self._selector.unregister(fd)
        if work.remote is not None:
            work.remote.attempts -= 1
        work.close()

    # ---- judging attempts

    def _settle(self, work: Work) -> None:
        """Judge an ended attempt; then it is finished, or looked at once more."""
        if work.flooded:
            self._finish(work, Undecided("the compile wrote more than 64 MiB of garbage into triage's result pipe"))
            return
        result = judge(work.request.case, work.facts, work.request.limits, work.token)
        if isinstance(result, Outcome) and result.signal == "SIGKILL":
            result = self._after_oom_killer(result)
        if isinstance(result, Outcome) and work.mode is Mode.FORK and (mode := self._second_look(work, result)):
            work.first, work.first_folder = result, work.folder
            work.mode, work.folder = mode, None
            return
        if work.first is not None:
            self._conclude(work, work.first, result)
            return
        self._finish(work, result, work.folder)

    def _after_oom_killer(self, outcome: Outcome) -> Outcome:
        kills = watch.kernel_oom_kills()
        if kills == self._oom_kills:
            return outcome
        self._oom_kills = kills
        note = "Linux killed it for want of memory, before triage's own limit was reached"
        return replace(outcome, status=Status.OUT_OF_MEMORY, killed_from_outside=False, notes=(note,))

    def _second_look(self, work: Work, outcome: Outcome) -> Mode | None:
        if outcome.status is Status.TIMEOUT and outcome.pipeline and _observes(work.request):
            # A dump says which pass it is in; MLIR writes no reproducer before a pass has failed.
            work.how = observe.How.DUMP
            return Mode.OBSERVE
        if outcome.status not in (Status.CRASH, Status.ERROR, Status.SUSPECT) or outcome.killed_from_outside:
            return None
        if outcome.pipeline and _observes(work.request):
            work.how = observe.first_way(work.request.toolchain.triton)
            return Mode.OBSERVE
        if outcome.status is Status.ERROR:
            return None
        return None if self._fingerprint(work, outcome) in self._confirmed else Mode.FRESH

    def _fingerprint(self, work: Work, outcome: Outcome) -> tuple[str, str, str]:
        """What has to be equal for one confirmation to do for two failures. A bare signal names no bug, so there the
        kernel has to be the same as well."""
        diagnosis = logs.diagnose_outcome(outcome, work.request.case.path)
        bare = diagnosis is None or diagnosis.kind.has(Trait.WORDLESS)
        place = str(work.request.case.path) if bare else ""
        return (work.request.toolchain.identity, place, diagnosis.signature if diagnosis else "")

    def _conclude(self, work: Work, first: Outcome, second: Outcome | Undecided) -> None:
        """Put the forked attempt and the fresh one together."""
        if isinstance(second, Undecided):
            # It said something the first time; that the second look failed is worth a note, not a verdict.
            note = f"not confirmed in a fresh process: {second.reason}"
            self._finish(work, replace(first, notes=(*first.notes, note)), work.first_folder)
        elif second.failed:
            self._confirmed.add(self._fingerprint(work, first))
            if work.mode is Mode.OBSERVE:
                seen = self._seen(work, second)
                if seen is None and work.how is observe.How.REPRODUCER:
                    self._discard(work.folder)
                    work.how, work.folder = observe.How.DUMP, None
                    return
                first = replace(first, pass_name=seen.pass_name if seen else None)
            self._finish(work, first, work.first_folder)
        elif work.mode is Mode.OBSERVE:
            # Observing changes the compile (one thread, a dump): only a plain fresh process can contradict.
            self._discard(work.folder)
            work.mode, work.folder = Mode.FRESH, None
        else:
            note = f"failed once in a forked process ({first.signal or first.status.value}), compiles in a fresh one"
            self._finish(work, replace(second, notes=(*second.notes, note)), work.folder)

    def _seen(self, work: Work, second: Outcome) -> PassInput | None:
        assert work.folder is not None
        assert work.first_folder is not None
        seen = observe.read(work.how, work.folder, second.log) if second.pipeline else None
        if seen is not None:
            (work.first_folder / artifacts.PASS_INPUT).write_text(seen.module)
            if seen.reproducer is not None:
                (work.first_folder / artifacts.REPRODUCER).write_text(seen.reproducer)
        return seen

    def _finish(self, work: Work, result: Outcome | Undecided, folder: Path | None = None) -> None:
        if isinstance(result, Outcome):
            if not result.environment:
                result = replace(result, environment={"triton": work.request.toolchain.triton})
            if self._store is not None:
                files = self._tree.imported_files(work.request)
                result = self._store.put(work.request, result, folder, files)
            match work.request.action:
                case FullCompile(entry=Path() as entry) if result.cache_key is not None and folder is not None:
                    result = _with_entry(result, folder, entry)
        elif result.reason == NO_LLD:
            result = Undecided(_no_lld(work.request))
        self._discard(work.first_folder)
        self._discard(work.folder)
        self._discard(folder)
        self._works.remove(work)
        self._finished.append(Attempt(work.request, result))

    def _remembered(self, request: Request) -> Outcome | None:
        return self._store.get(request) if self._store is not None else None

    def _discard(self, folder: Path | None) -> None:
        """Removing a folder takes as long as a small stage: it waits until the next attempt is under way."""
        if folder is not None:
            self._rubbish.append(folder)

    def _clear_up(self) -> None:
        while self._rubbish:
            shutil.rmtree(self._rubbish.pop(), ignore_errors=True)

    def _abandon(self) -> None:
        """Kill what is still running for a stream that nobody reads any more."""
        for work in self._works:
            if work.running:
                if work.remote is not None:
                    work.remote.ask({"op": "kill", "id": work.identity})
                self._release(work)
            for folder in (work.folder, work.first_folder):
                self._discard(folder)
        self._works.clear()
        self._finished.clear()
        self._clear_up()


def _observes(request: Request) -> bool:
    """Whether a failure inside a pass pipeline shall be observed."""
    match request.action:
        case FullCompile(observe=observe) | PartialCompile(observe=observe):
            return observe
        case _:
            return False


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
        f"Triton {request.toolchain.triton} links AMD kernels with ld.lld, and none was found; every stage up to "
        "amdgcn compiled. Install lld, or set TRITON_HIP_LLD_PATH to an ld.lld"
    )
