"""The tree of fork servers, in triage's own process: starts them, watches them, reports to a listener.

Nanny → toolchain server (Triton imported) → target server (one kernel compiled for the target) → case server (the
user's module imported); each is started by the one above it (see ``worker/server.py``). The listener is called
for the processes that were asked for; the tree judges none of them.
"""

from __future__ import annotations

import hashlib
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from triage import scratch
from triage.harness import linker, processes
from triage.harness.driver import driver_properties
from triage.harness.environment import worker_environment
from triage.harness.library_keys import LibraryKeys
from triage.harness.limits import holds_for
from triage.harness.remote import (
    DISAPPEARING,
    Key,
    Level,
    Remote,
    ServerState,
    judge_unready,
    read_available,
    unregister,
)
from triage.harness.request import Request
from triage.harness.run import over_limit
from triage.harness.toolchains import Toolchain
from triage.harness.worker import wire
from triage.model.errors import EnvironmentFault
from triage.model.outcome import Outcome, Undecided
from triage.scratch import Scratch

WORKER = Path(__file__).parent / "worker"
_START_S = 60.0
"""Importing Triton takes half a second warm and up to ten from a cold network disk."""
_LAST_WORDS_S = 2.0
"""How long to wait, after a server closed its socket, for the server above it to report how it ended."""
_MOST_SERVERS = 24
_MOST_RESTARTS = 8
_MOST_STARTS = 3
"""Of a server that is killed each time before it is ready."""
_SHOW_S = 0.1
"""Writing a Python stack takes a millisecond, and memory grows by 0.3 GB meanwhile."""
_REMEMBERED_S = 30.0
"""How long a failure to start answers further requests: a sweep has thousands for one module, and what was wrong (a
sibling module, a full disk) may be mended in a session of hours."""


class Listener(Protocol):
    """Callbacks for processes started through the tree. ``identity``: the name under which one was asked for."""

    def started(self, identity: str, pid: int) -> None:
        """The process exists."""

    def exited(self, identity: str, message: dict[str, Any]) -> None:
        """The process ended: ``status`` and ``max_rss_bytes``, or ``fork_failed``."""

    def lost(self, remote: Remote) -> None:
        """This server is gone, and whatever ran directly below it."""


class _Root(NamedTuple):
    nanny: Remote
    process: subprocess.Popen[bytes]
    home: Scratch


class ServerTree:
    """Owns the processes between triage and the runs. ``spare`` gives toolchains whose linker may be borrowed."""

    def __init__(
        self, selector: selectors.BaseSelector, listener: Listener, spare: Callable[[], list[Toolchain]]
    ) -> None:
        self._selector = selector
        self._listener = listener
        self._spare = spare
        self._root: _Root | None = None
        self._remotes: dict[Key, Remote] = {}
        self._failed: dict[Key, tuple[Outcome | Undecided, float]] = {}
        self._killed_starts: Counter[Key] = Counter()
        self._cold: set[Key] = set()
        self._number = 0
        self._restarts = 0
        self._lld: str | None = None
        self.library_keys = LibraryKeys()

    def new_identity(self) -> str:
        """A new name for a process."""
        self._number += 1
        return str(self._number)

    def new_folder(self) -> Path:
        """An empty folder that is removed with the run, however that ends. Raises EnvironmentFault."""
        folder = self._started().home.folder / self.new_identity()
        try:
            folder.mkdir()
        except OSError as error:
            raise EnvironmentFault(f"cannot write to {folder.parent.parent}: {error.strerror}") from None
        return folder

    # ---- the nanny

    def nanny(self) -> Remote:
        """The root of the tree, started on first use. Raises EnvironmentFault."""
        return self._started().nanny

    def _started(self) -> _Root:
        if self._root is not None:
            return self._root
        home = scratch.new("engine")
        ours, theirs = wire.pair()
        command = [sys.executable, "-I", "-S", str(WORKER), "nanny", str(theirs.fileno()), str(home.folder)]
        devnull = subprocess.DEVNULL
        try:
            process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=devnull,
                stdout=devnull,
                stderr=devnull,
                start_new_session=True,
                env={**os.environ, processes.MARK: str(home.folder)},
            )
        except OSError as error:
            home.remove()
            raise EnvironmentFault(f"cannot start a process: {error}") from None
        theirs.close()
        ours.settimeout(_START_S)
        try:
            wire.receive(ours)
        except (wire.Closed, OSError):
            ours.close()
            process.kill()
            process.wait()
            home.remove()
            raise EnvironmentFault("triage's own process ended while it started; is something killing it?") from None
        ours.settimeout(None)
        nanny = Remote(Level.NANNY, ("nanny",), ours, None, "nanny", -1, state=ServerState.READY, pid=process.pid)
        self._root = _Root(nanny, process, home)
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._receive(nanny))
        return self._root

    def close(self) -> None:
        """End everything below; safe to call twice."""
        for remote in list(self._remotes.values()):
            self._forget(remote)
        if self._root is None:
            return
        unregister(self._selector, self._root.nanny.sock)
        self._root.nanny.close()
        process = self._root.process
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode != 0:
            # The nanny was killed and has not cleaned up.
            processes.kill_marked(self._root.home.folder)
        self._root.home.remove()
        self._root = None

    # ---- servers

    def case_server(self, request: Request, isolation: str) -> Remote | Outcome | Undecided | None:
        """The server from which a request can be forked; None when it is not ready yet. An Outcome or Undecided when it
        never will be: the answer to the request (its module cannot be imported, for example)."""
        server: Remote | Outcome | Undecided | None = self.nanny()
        for level, key in _keys(request, isolation):
            if not isinstance(server, Remote):
                break
            server = self._server(level, key, server, request)
            if isinstance(server, Remote) and (library_key := server.answer.get("triton_key")):
                self.library_keys.put(request.toolchain, library_key)
        return server

    def imported_files(self, request: Request) -> list[str]:
        """Files of the user's own that the case's module imported."""
        *_, (_, key) = _keys(request, "")
        remote = self._remotes.get(key)
        return list(remote.answer.get("files", [])) if remote is not None else []

    def command(self, request: Request, *mode: str) -> list[str]:
        """Command line of a worker of the request's toolchain."""
        return [str(request.toolchain.python), str(WORKER), *mode]

    def environment(self, request: Request) -> dict[str, str]:
        """Environment of a worker for the request."""
        folder = self._started().home.folder
        if request.case.target.backend == "hip" and self._lld is None:
            self._lld = linker.find(self._spare(), folder) or ""
        lld = self._lld if request.case.target.backend == "hip" else None
        return {**worker_environment(lld or None), processes.MARK: str(folder)}

    def kill_toolchain(self, remote: Remote) -> None:
        """Kill a server that does not answer, from its toolchain server down; the nanny does answer."""
        while remote.above is not None and remote.level is not Level.TOOLCHAIN:
            remote = remote.above
        self._kill(remote)

    def next_deadline(self) -> float:
        """When :meth:`watch` next has something to do (monotonic seconds)."""
        return min((remote.deadline for remote in self._remotes.values()), default=float("inf"))

    def watch(self, now: float) -> None:
        """Kill imports over their limits; give up on servers whose end was not reported."""
        for remote in list(self._remotes.values()):
            has_module = remote.level is Level.CASE and remote.pid > 0
            match remote.state:
                case ServerState.DEAD if now > remote.deadline:
                    self._ended(remote)
                case ServerState.STARTING if now > remote.deadline and remote.facts.stopped:
                    remote.deadline = float("inf")
                    self._kill(remote)
                case ServerState.STARTING if now > remote.deadline:
                    remote.facts.timed_out = True
                    self._stop(remote, now)
                case ServerState.STARTING if has_module and not remote.facts.stopped:
                    if over_limit(remote.pid, remote.facts, remote.limits):
                        self._stop(remote, now)
                case ServerState.READY if has_module and processes.rss_bytes(remote.pid) > remote.limits.memory_bytes:
                    # A thread that the module started goes on; compiles of such a module run elsewhere.
                    self._kill(remote)

    def _stop(self, remote: Remote, now: float) -> None:
        """Have a server that starts killed; one that imports the user's module first shows where that is."""
        shown = remote.level is Level.CASE and remote.above is not None
        remote.deadline = now + _SHOW_S if shown else now
        if shown and remote.above is not None:
            remote.above.ask({"op": "show", "id": remote.identity})

    def _server(self, level: Level, key: Key, above: Remote, request: Request) -> Remote | Outcome | Undecided | None:
        failure, until = self._failed.get(key, (None, 0.0))
        if failure is not None and time.monotonic() < until and holds_for(failure, request.limits):
            return failure
        remote = self._remotes.get(key)
        if remote is None:
            self._start(level, key, above, request)
            return None
        remote.used = time.monotonic()
        return remote if remote.state is ServerState.READY else None

    def _start(self, level: Level, key: Key, above: Remote, request: Request) -> None:
        self._make_room()
        message = self._start_message(level, key, request)
        ours, theirs = wire.pair()
        log_read, log_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(log_read, False)
        remote = Remote(level, key, ours, above, self.new_identity(), log_read)
        # Importing the user's module may take as long as a compile; Triton's own import has its own limit.
        patience = request.limits.timeout_s if level is Level.CASE else max(_START_S, request.limits.timeout_s)
        remote.deadline = time.monotonic() + patience
        remote.limits = request.limits
        remote.facts.oom_kills = processes.kernel_oom_kills()
        self._remotes[key] = remote
        self._selector.register(remote.sock, selectors.EVENT_READ, lambda: self._receive(remote))
        self._selector.register(remote.log, selectors.EVENT_READ, lambda: self._read_log(remote))
        asked = above.ask({**message, "id": remote.identity}, [log_write, theirs.fileno()])
        theirs.close()
        os.close(log_write)
        if not asked:
            self._ended(remote)

    def _start_message(self, level: Level, key: Key, request: Request) -> dict[str, Any]:
        """The message that makes the server above start one of this level."""
        if level is Level.TOOLCHAIN:
            environment = self.environment(request)
            command = self.command(request, "serve")
            return {"op": "start", "command": command, "environment": environment, "memory_bytes": 0}
        if level is Level.TARGET:
            return {
                "op": "serve",
                "target": request.case.target.to_message(),
                "limits": driver_properties(request.case.target),
                "folder": str(self.new_folder()),
                "warm": key not in self._cold,
                "triton_key": self.library_keys.get(request.toolchain),
            }
        path = str(request.case.path.resolve())
        return {"op": "serve", "path": path, "memory_bytes": request.limits.memory_bytes}

    def _make_room(self) -> None:
        """Close the least recently used servers that have nothing below them."""
        while len(self._remotes) >= _MOST_SERVERS:
            busy = {id(remote.above) for remote in self._remotes.values()}
            idle = [
                remote
                for remote in self._remotes.values()
                if remote.state is ServerState.READY and not remote.attempts and id(remote) not in busy
            ]
            if not idle:
                return
            self._forget(min(idle, key=lambda remote: remote.used))

    def _forget(self, remote: Remote) -> None:
        for end in (remote.sock, remote.log):
            unregister(self._selector, end)
        remote.close()
        if self._remotes.get(remote.key) is remote:
            del self._remotes[remote.key]

    # ---- messages from the servers

    def _read_log(self, remote: Remote) -> None:
        if not read_available(remote.log, remote.output.write):
            unregister(self._selector, remote.log)

    def _receive(self, remote: Remote) -> None:
        try:
            message, fds = wire.receive(remote.sock)
        except (wire.Closed, OSError, ValueError):
            self._hang_up(remote)
            return
        for fd in fds:
            os.close(fd)
        match message["op"]:
            case "ready":
                remote.answer, remote.deadline = message, float("inf")
                if message["ok"]:
                    remote.state = ServerState.READY
                    self._restarts = self._killed_starts[remote.key] = 0
            case "started":
                self._listener.started(message["id"], message["pid"])
                for other in self._remotes.values():
                    if other.identity == message["id"]:
                        other.pid = message["pid"]
            case "exit":
                self._listener.exited(message["id"], message)
                for other in [other for other in self._remotes.values() if other.identity == message["id"]]:
                    other.fork_failed = message.get("fork_failed", "")
                    if not other.fork_failed:
                        other.facts.ended(message)
                    self._ended(other)

    def _hang_up(self, remote: Remote) -> None:
        unregister(self._selector, remote.sock)
        if remote.level is Level.NANNY:
            # It was killed; the next request starts a new one.
            self._restarts += 1
            if self._restarts > _MOST_RESTARTS:
                raise EnvironmentFault(DISAPPEARING)
            lost = [remote, *self._remotes.values()]
            self.close()
            for server in lost:
                self._listener.lost(server)
            return
        # The server above is about to report how it ended; if that is gone as well, do not wait forever.
        remote.state, remote.deadline = ServerState.DEAD, time.monotonic() + _LAST_WORDS_S

    def _ended(self, remote: Remote) -> None:
        """A server ended: keep the verdict if it never became ready, and report all that is lost with it."""
        if remote.log >= 0:
            read_available(remote.log, remote.output.write)
        self._forget(remote)
        if not remote.answer.get("ok"):
            self._judge(remote)
        for other in [other for other in self._remotes.values() if other.above is remote]:
            self._ended(other)
        self._listener.lost(remote)

    def _judge(self, remote: Remote) -> None:
        if remote.level is Level.TARGET and remote.key not in self._cold:
            # The warm-up compile may have killed it: start the next one without.
            self._cold.add(remote.key)
            return
        remote.facts.oom_kills = processes.kernel_oom_kills() - remote.facts.oom_kills
        if remote.was_killed:
            # By somebody else, or nobody saw how it ended: it is started again.
            self._killed_starts[remote.key] += 1
            if self._killed_starts[remote.key] < _MOST_STARTS:
                return
        self._failed[remote.key] = (judge_unready(remote), time.monotonic() + _REMEMBERED_S)

    def _kill(self, remote: Remote) -> None:
        if remote.above is None or not remote.above.ask({"op": "kill", "id": remote.identity}):
            self._ended(remote)


def _keys(request: Request, isolation: str) -> Iterator[tuple[Level, Key]]:
    """The servers that a request needs, from the toolchain server down."""
    toolchain, target, path = request.toolchain, request.case.target, request.case.path
    # The interpreter's path as well: two environments may have the same Triton and different other packages.
    key: Key = (toolchain.identity, str(toolchain.python), isolation, target.backend)
    yield Level.TOOLCHAIN, key
    key = (*key, str(target))
    yield Level.TARGET, key
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        digest = "unreadable"
    yield Level.CASE, (*key, str(path.resolve()), digest)
