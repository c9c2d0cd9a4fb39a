"""The engine under every command: takes a stream of requests, gives a stream of attempts as they end.

One loop over sockets and pipes, no threads. An admitted request waits until the servers it needs are there (see
``servers.py``), runs as a fork of its case server, and is judged when its process has ended (``judge.py``). Two
things may follow: a *confirmation* in a fresh process, for a crash that may come from forking alone, and an
*observation*, a fresh process that prints every pass's input, to name the pass that failed.

An attempt whose server is lost under it is not judged: it is run again, alone, below servers of its own. Only when
it loses those as well, with nothing else running, was it the attempt itself.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from triage import logs
from triage.errors import EnvironmentFault
from triage.harness import artifacts, observe, watch
from triage.harness.driver import driver_properties
from triage.harness.environment import worker_environment
from triage.harness.judge import NO_LLD, judge, python_errors
from triage.harness.machine import find_lld
from triage.harness.request import Attempt, Request
from triage.harness.servers import Key, Remote, State, read_available
from triage.harness.store import Store
from triage.harness.work import Mode, Work, target_message
from triage.harness.worker import wire
from triage.outcome import Outcome, PythonError, Stage, Status, Undecided

_WORKER = Path(__file__).parent / "worker"
_WATCH_S = 0.1
"""How often memory is looked at. A process can touch about 3 GB a second, so a limit is overrun by 0.3 GB at most."""
_START_S = 60.0
"""Importing Triton takes half a second warm and up to ten from a cold network disk."""
_KILL_GRACE_S = 5.0
"""A SIGKILL takes effect at once; a server that has not reported the end by then is not working any more."""
_MOST_SERVERS = 24
_MOST_RESTARTS = 8


class Engine:
    """Runs requests in isolation. Use as a context manager; one ``run`` at a time."""

    def __init__(
        self, jobs: int | None = None, store: Store | None = None, note: Callable[[str], None] | None = None
    ) -> None:
        self.jobs = jobs or max(1, len(os.sched_getaffinity(0)))
        self._store = store
        self._note = note or (lambda _: None)
        self._selector = selectors.DefaultSelector()
        self._nanny: Remote | None = None
        self._nanny_process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._remotes: dict[Key, Remote] = {}
        self._failed_servers: dict[Key, Outcome | Undecided] = {}
        self._cold_targets: set[Key] = set()
        self._works: list[Work] = []
        self._finished: list[Attempt] = []
        self._numbers = itertools.count(1)
        self._restarts = 0
        self._confirmed: set[tuple[str, str]] = set()
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
        self._stop_nanny()
        self._selector.close()

    def run(self, requests: Iterable[Request]) -> Iterator[Attempt]:
        """Attempts in the order in which they end. Requests are taken as places become free, so a generator may
        decide what to ask next by what it has seen. Raises EnvironmentFault when triage cannot work at all."""
        stream = iter(requests)
        more = True
        try:
            while more or self._works:
                while more and len(self._works) < self.jobs:
                    request = next(stream, None)
                    if request is None:
                        more = False
                    elif (remembered := self._remembered(request)) is not None:
                        yield Attempt(request, remembered, cached=True)
                    else:
                        self._works.append(Work(request, next(self._numbers)))
                if self._works:
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
        for key, _ in self._selector.select(self._patience()):
            if not isinstance(key.fd, int) or key.fd not in self._selector.get_map():
                continue
            key.data()
        self._watch()

    def _patience(self) -> float:
        now = time.monotonic()
        ends = [min(work.deadline, work.kill_deadline) for work in self._works if work.running]
        ends += [remote.deadline for remote in self._remotes.values()]
        return max(0.0, min([*(end - now for end in ends), _WATCH_S]))

    def _advance(self) -> None:
        """Bring every waiting request as far as its servers allow."""
        alone = any(work.isolation and work.running for work in self._works)
        for work in list(self._works):
            if work.running or alone:
                continue
            if work.isolation and any(other.running for other in self._works):
                continue
            if work.mode is Mode.FORK:
                self._start_fork(work)
            else:
                self._start_fresh(work)
            alone = bool(work.isolation)

    def _watch(self) -> None:
        now = time.monotonic()
        for work in [work for work in self._works if work.running]:
            if now > work.kill_deadline:
                self._lose_toolchain(work)
            elif now > work.deadline or work.flooded:
                work.facts.timed_out = not work.flooded
                self._kill(work)
        for remote in list(self._remotes.values()):
            if remote.state is State.STARTING and now > remote.deadline:
                remote.timed_out, remote.deadline = True, float("inf")
                self._kill_remote(remote)
            elif remote.state is State.DEAD and now > remote.deadline:
                self._remote_ended(remote)
        if now - self._last_watch < _WATCH_S:
            return
        self._last_watch = now
        for work in self._works:
            if work.running and work.pid and watch.tree_rss_bytes(work.pid) > work.request.limits.memory_bytes:
                work.facts.over_memory = True
                self._kill(work)
        self._watch_imports()

    def _watch_imports(self) -> None:
        for work in self._works:
            remote = self._remotes.get(self._case_key(work))
            if remote is None or remote.state is not State.STARTING or not remote.pid:
                continue
            if watch.tree_rss_bytes(remote.pid) > work.request.limits.memory_bytes:
                remote.over_memory = True
                self._kill_remote(remote)

    def _kill(self, work: Work) -> None:
        work.deadline = float("inf")
        work.kill_deadline = time.monotonic() + _KILL_GRACE_S
        if work.remote is not None:
            work.remote.ask({"op": "kill", "id": work.identity})

    def _kill_remote(self, remote: Remote) -> None:
        if remote.above is None or not remote.above.ask({"op": "kill", "id": remote.identity}):
            self._remote_ended(remote)

    def _lose_toolchain(self, work: Work) -> None:
        """A server does not answer: everything below its toolchain server goes, the nanny does answer."""
        remote = work.remote
        work.kill_deadline = float("inf")
        while remote is not None and remote.above is not None and remote.above is not self._nanny:
            remote = remote.above
        if remote is not None:
            self._kill_remote(remote)

    # ---- servers

    def _start_nanny(self) -> Remote:
        if self._nanny is not None:
            return self._nanny
        ours, theirs = wire.pair()
        folder = Path(tempfile.gettempdir()) / f"triage-{os.getpid()}-{os.urandom(6).hex()}"
        command = [sys.executable, "-I", "-S", str(_WORKER), "nanny", str(theirs.fileno()), str(folder)]
        try:
            process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise EnvironmentFault(f"cannot start a process: {error}") from None
        theirs.close()
        ours.settimeout(_START_S)
        try:
            wire.receive(ours)
        except (wire.Closed, OSError):
            ours.close()
            process.kill()
            process.wait()
            raise EnvironmentFault(
                f"cannot work in {folder.parent}: it must be a folder where files can be made; set TMPDIR to another"
            ) from None
        ours.settimeout(None)
        self._folder, self._nanny_process = folder, process
        self._nanny = Remote(("nanny",), ours, None, "nanny", -1, state=State.READY, pid=process.pid)
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._hear(self._nanny))
        return self._nanny

    def _stop_nanny(self) -> None:
        for remote in list(self._remotes.values()):
            self._forget(remote)
        if self._nanny is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(self._nanny.sock)
            self._nanny.close()
            self._nanny = None
        if self._nanny_process is not None:
            try:
                self._nanny_process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._nanny_process.kill()
                self._nanny_process.wait()
            self._nanny_process = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _key(self, work: Work) -> Key:
        return (work.request.toolchain.identity, str(work.request.toolchain.python), work.isolation)

    def _target_key(self, work: Work) -> Key:
        return (*self._key(work), str(work.request.case.target))

    def _case_key(self, work: Work) -> Key:
        path = work.request.case.path
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            digest = "unreadable"
        return (*self._target_key(work), str(path.resolve()), digest)

    def _server(self, work: Work, key: Key, above: Remote, message: dict[str, Any]) -> Remote | None:
        """The server of that key when it is ready; started when there is none. None: not yet, or never."""
        if (failure := self._failed_servers.get(key)) is not None:
            self._finish(work, failure)
            return None
        remote = self._remotes.get(key)
        if remote is None:
            self._make_room()
            ours, theirs = wire.pair()
            log_read, log_write = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(log_read, False)
            remote = Remote(key, ours, above, f"s{next(self._numbers)}", log_read)
            # An import may take as long as a compile.
            remote.deadline = time.monotonic() + max(_START_S, work.request.limits.timeout_s)
            if len(key) == len(self._case_key(work)):
                remote.deadline = time.monotonic() + work.request.limits.timeout_s
            self._remotes[key] = remote
            self._register(remote)
            fds = [theirs.fileno(), log_write]
            if above is self._nanny:
                fds.reverse()
            asked = above.ask({**message, "id": remote.identity}, fds)
            theirs.close()
            os.close(log_write)
            if not asked:
                self._remote_ended(remote)
            return None
        remote.used = time.monotonic()
        return remote if remote.state is State.READY else None

    def _register(self, remote: Remote) -> None:
        self._selector.register(remote.sock, selectors.EVENT_READ, lambda: self._hear(remote))
        self._selector.register(remote.log, selectors.EVENT_READ, lambda: self._overhear(remote))

    def _forget(self, remote: Remote) -> None:
        for end in (remote.sock, remote.log):
            with suppress(KeyError, ValueError):
                self._selector.unregister(end)
        remote.close()
        if self._remotes.get(remote.key) is remote:
            del self._remotes[remote.key]

    def _make_room(self) -> None:
        """Let the longest unused servers go that nothing stands on."""
        while len(self._remotes) >= _MOST_SERVERS:
            busy = {id(remote.above) for remote in self._remotes.values()}
            idle = [r for r in self._remotes.values() if r.state is State.READY and not r.attempts and id(r) not in busy]
            if not idle:
                return
            self._forget(min(idle, key=lambda remote: remote.used))

    def _overhear(self, remote: Remote) -> None:
        if not read_available(remote.log, remote.output):
            with suppress(KeyError, ValueError):
                self._selector.unregister(remote.log)

    def _hear(self, remote: Remote | None) -> None:
        if remote is None:
            return
        try:
            message, fds = wire.receive(remote.sock)
        except (wire.Closed, OSError, ValueError):
            self._hang_up(remote)
            return
        for fd in fds:
            os.close(fd)
        if message["op"] == "ready":
            remote.answer = message
            remote.deadline = float("inf")
            if message["ok"]:
                remote.state = State.READY
        elif message["op"] == "started":
            self._started(message["id"], message["pid"])
        elif message["op"] == "exit":
            self._exited(message)

    def _hang_up(self, remote: Remote) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(remote.sock)
        if remote is self._nanny:
            self._lose_nanny()
            return
        # How it ended is about to be told by the server above; if that is gone as well, do not wait for ever.
        remote.state = State.DEAD
        remote.deadline = time.monotonic() + 2.0

    def _started(self, identity: str, pid: int) -> None:
        for work in self._works:
            if work.identity == identity and work.running:
                work.began(pid)
        for remote in self._remotes.values():
            if remote.identity == identity:
                remote.pid = pid

    def _exited(self, message: dict[str, Any]) -> None:
        for work in [work for work in self._works if work.identity == message["id"] and work.running]:
            if "fork_failed" in message:
                self._release(work)
                self._finish(work, Undecided(f"no new process could be made: {message['fork_failed']}"))
                continue
            work.facts.status, work.facts.max_rss_bytes = message["status"], message["max_rss_bytes"]
            self._ended(work)
        for remote in [remote for remote in self._remotes.values() if remote.identity == message["id"]]:
            remote.status, remote.max_rss_bytes = message.get("status"), message.get("max_rss_bytes", 0)
            self._remote_ended(remote)

    def _remote_ended(self, remote: Remote) -> None:
        """A server is gone: judge it if it never became ready, and run again whatever was running below it."""
        if remote.log >= 0:
            read_available(remote.log, remote.output)
        ready = remote.state is State.READY or (remote.state is State.DEAD and remote.answer.get("ok", False))
        self._forget(remote)
        if not ready:
            self._judge_server(remote)
        below = [other for other in self._remotes.values() if other.above is remote]
        for other in below:
            self._remote_ended(other)
        for work in [work for work in self._works if work.remote is remote]:
            self._lost(work)

    def _lost(self, work: Work) -> None:
        """The server went away under an attempt."""
        timed_out, over_memory = work.facts.timed_out, work.facts.over_memory
        self._release(work, read=True)
        if timed_out or over_memory:
            # It was being killed for that anyway.
            work.facts.lost_server = False
            self._settle(work)
            return
        work.losses += 1
        if work.losses == 1 or not work.isolation:
            work.isolation = f"alone-{work.number}"
            return
        if work.losses == 2 and self._restarts < _MOST_RESTARTS:
            work.facts.lost_server = True
            self._settle(work)
            return
        self._finish(work, Undecided("the processes under triage keep disappearing; is something killing them?"))

    def _lose_nanny(self) -> None:
        """Somebody killed the process above all others. Start over; what ran is run again, one at a time."""
        self._restarts += 1
        if self._restarts > _MOST_RESTARTS:
            raise EnvironmentFault("the processes under triage keep disappearing; is something killing them?")
        running = [work for work in self._works if work.running]
        self._stop_nanny()
        for work in running:
            self._lost(work)

    def _judge_server(self, remote: Remote) -> None:
        """What a server that never became ready says about every request that needs it."""
        if remote.key and len(remote.key) == 4 and remote.key not in self._cold_targets:
            # The warm-up compile may be what killed it: the next one goes without.
            self._cold_targets.add(remote.key)
            return
        text = remote.output.text()
        errors = python_errors(remote.answer.get("errors", []))
        if len(remote.key) < 5:
            self._failed_servers[remote.key] = Undecided(f"Triton cannot be imported there: {_last_words(errors, text)}")
            return
        outcome = Outcome(
            status=Status.ERROR, stage=Stage.SOURCE, log=text, errors=errors, max_rss_bytes=remote.max_rss_bytes
        )
        if remote.timed_out:
            outcome = replace(outcome, status=Status.TIMEOUT)
        elif remote.over_memory:
            outcome = replace(outcome, status=Status.OUT_OF_MEMORY)
        elif errors:
            outcome = replace(outcome, exit_code=1)
        elif remote.status is None:
            # Nobody saw it end: try again, it will be started anew.
            return
        elif remote.status & 0x7F:
            outcome = replace(outcome, status=Status.CRASH, signal=_signal_name(remote.status & 0x7F))
        else:
            outcome = replace(outcome, status=Status.CRASH, exit_code=remote.status >> 8)
        self._failed_servers[remote.key] = outcome

    # ---- attempts

    def _start_fork(self, work: Work) -> None:
        nanny = self._start_nanny()
        request = work.request
        lld = str(find_lld() or "") if request.case.target.backend == "hip" else ""
        command = [str(request.toolchain.python), str(_WORKER), "serve"]
        start = {"op": "start", "command": command, "environment": worker_environment(lld), "memory_bytes": 0}
        toolchain = self._server(work, self._key(work), nanny, start)
        if toolchain is None:
            return
        limits = driver_properties(request.case.target)
        key = self._target_key(work)
        folder = self._new_folder()
        serve = {"op": "serve", "target": target_message(request), "limits": limits, "folder": str(folder)}
        target = self._server(work, key, toolchain, {**serve, "warm": key not in self._cold_targets})
        if target is None:
            return
        path = str(request.case.path.resolve())
        case = self._server(work, self._case_key(work), target, {"op": "serve", "path": path})
        if case is None:
            return
        if int(case.answer.get("threads", 1)) > 1:
            # The module started threads on import: a fork of it may hang in a lock that none of them will open.
            work.mode = Mode.FRESH
            self._start_fresh(work)
            return
        environment = {
            "triton": str(toolchain.answer["triton"]),
            "python": str(toolchain.answer["python"]),
            **target.answer["environment"],
        }
        writing = work.open(f"w{next(self._numbers)}", self._new_folder())
        work.facts.environment = environment
        self._launch(work, case, {"op": "compile", **work.message(limits, {})}, list(writing))

    def _start_fresh(self, work: Work) -> None:
        nanny = self._start_nanny()
        request = work.request
        folder = self._new_folder()
        environment = dict(work.first.environment) if work.first else {"triton": request.toolchain.triton}
        writing = work.open(f"w{next(self._numbers)}", folder)
        work.facts.environment = environment
        extra: dict[str, str] = {}
        if work.mode is Mode.OBSERVE:
            extra = observe.environment(work.how, folder)
        path = folder / "request.json"
        path.write_text(json.dumps(work.message(driver_properties(request.case.target), extra)))
        lld = str(find_lld() or "") if request.case.target.backend == "hip" else ""
        message = {
            "op": "start",
            "id": work.identity,
            "command": [str(request.toolchain.python), str(_WORKER), "fresh", str(path)],
            "environment": {**worker_environment(lld), **extra},
            "memory_bytes": request.limits.memory_bytes,
        }
        self._launch(work, nanny, message, list(writing))

    def _launch(self, work: Work, remote: Remote, message: dict[str, Any], writing: list[int]) -> None:
        work.remote = remote
        remote.attempts += 1
        self._selector.register(work.log_fd, selectors.EVENT_READ, lambda: self._listen(work, work.log_fd))
        self._selector.register(work.result_fd, selectors.EVENT_READ, lambda: self._listen(work, work.result_fd))
        asked = remote.ask(message, writing)
        for fd in writing:
            os.close(fd)
        if not asked:
            self._lost(work)

    def _listen(self, work: Work, fd: int) -> None:
        is_open = work.read_log() if fd == work.log_fd else work.read_result()
        if not is_open:
            with suppress(KeyError, ValueError):
                self._selector.unregister(fd)

    def _new_folder(self) -> Path:
        assert self._folder is not None
        folder = self._folder / str(next(self._numbers))
        try:
            folder.mkdir()
        except OSError as error:
            raise EnvironmentFault(f"cannot write to {self._folder.parent}: {error.strerror}") from None
        return folder

    def _release(self, work: Work, read: bool = False) -> None:
        for fd in (work.log_fd, work.result_fd):
            if fd >= 0:
                with suppress(KeyError, ValueError):
                    self._selector.unregister(fd)
        if work.remote is not None:
            work.remote.attempts -= 1
        if read:
            work.close()
        else:
            work.release()

    def _ended(self, work: Work) -> None:
        self._release(work, read=True)
        self._settle(work)

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
        if outcome.status not in (Status.CRASH, Status.ERROR, Status.SUSPECT) or outcome.killed_from_outside:
            return None
        if outcome.pipeline and work.request.observe:
            work.how = observe.first_way(outcome.environment["triton"])
            return Mode.OBSERVE
        if outcome.status is Status.ERROR:
            return None
        return None if self._fingerprint(work, outcome) in self._confirmed else Mode.FRESH

    def _fingerprint(self, work: Work, outcome: Outcome) -> tuple[str, str]:
        diagnosis = logs.diagnose_outcome(outcome, work.request.case.path)
        return (work.request.toolchain.identity, diagnosis.signature if diagnosis else "")

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

    def _seen(self, work: Work, second: Outcome) -> observe.Observed | None:
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
                result = self._store.put(work.request, result, folder, self._dependencies(work))
        elif result.reason == NO_LLD:
            result = Undecided(_no_lld(work.request))
        self._discard(work.first_folder)
        self._discard(work.folder)
        self._discard(folder)
        self._works.remove(work)
        self._finished.append(Attempt(work.request, result))

    def _dependencies(self, work: Work) -> list[str]:
        remote = self._remotes.get(self._case_key(work))
        return list(remote.answer.get("files", [])) if remote is not None else []

    def _remembered(self, request: Request) -> Outcome | None:
        return self._store.get(request) if self._store is not None and request.use_cache else None

    def _discard(self, folder: Path | None) -> None:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

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


def _last_words(errors: tuple[PythonError, ...], printed: str) -> str:
    if errors:
        return f"{errors[0].type}: {errors[0].message}".splitlines()[0]
    lines = [line for line in printed.splitlines() if line.strip()]
    return lines[-1] if lines else "it ended without a word"


def _signal_name(number: int) -> str:
    import signal

    return signal.Signals(number).name


def _no_lld(request: Request) -> str:
    return (
        f"Triton {request.toolchain.triton} links AMD kernels with ld.lld, and none was found; every stage up to amdgcn "
        "compiled. Install lld, or set TRITON_HIP_LLD_PATH to an ld.lld"
    )
