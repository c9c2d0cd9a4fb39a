"""The tree of fork servers, in triage's own process: starts them, watches them, reports to a listener.

Nanny → toolchain server (Triton imported) → target server (one kernel compiled for the target) → case server (the
user's module imported); each is started by the one above it (see ``worker/server.py``). The listener is called
for the processes that were asked for; the tree judges none of them.
"""

import os
import selectors
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from triage.harness import linker, messages, processes, root_process
from triage.harness.driver import target_message
from triage.harness.environment import worker_environment
from triage.harness.host_packages import module_message
from triage.harness.judge import read_event
from triage.harness.library_keys import LibraryKeys
from triage.harness.limits import holds_for
from triage.harness.messages import Exited, Ready, Started
from triage.harness.reads import ModuleReads
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
from triage.harness.root_process import WORKER, Root
from triage.harness.run import over_limit
from triage.harness.run_clock import START_S
from triage.harness.server_keys import ServerKeys, location_of, shared
from triage.harness.toolchains import Toolchain
from triage.harness.worker import wire
from triage.model.errors import EnvironmentFault, InputError
from triage.model.outcome import Outcome, Undecided

_REPORT_S = 1.0
"""How long to wait for the report of a server's end after it closed its socket, or was killed. Without one it is
killed, and then the server above it."""
_MOST_SERVERS = 24
_MOST_RESTARTS = 8
"""Of the nanny while no server becomes ready. Fewer if they take ``START_S``: each may wait for as long."""
_MOST_STARTS = 3
"""Of a server that is killed each time before it is ready."""
_RESUME_S = 0.5
"""How often servers that a compile has stopped are resumed: each look reads a file of /proc for every server."""
_SHOW_S = 0.1
"""Writing a Python stack takes a millisecond, and memory grows by 0.3 GB meanwhile."""
_REMEMBERED_S = 30.0
"""How long a failure to start answers further requests: a sweep has thousands for one module, and what was wrong (a
sibling module, a full disk) may be mended in a session of hours."""


class Listener(Protocol):
    """Callbacks for processes started through the tree. ``identity``: the name under which one was asked for."""

    def started(self, identity: str, process: processes.Process) -> None:
        """The process exists."""

    def exited(self, identity: str, end: Exited) -> None:
        """The process ended."""

    def lost(self, remote: Remote) -> None:
        """This server is gone, and whatever ran directly below it or was waiting for it."""


class ServerTree:
    """Owns the processes between triage and the runs. ``spare`` gives toolchains whose linker may be borrowed."""

    def __init__(
        self, selector: selectors.BaseSelector, listener: Listener, spare: Callable[[], list[Toolchain]]
    ) -> None:
        self._selector = selector
        self._listener = listener
        self._spare = spare
        self._root: Root | None = None
        self._remotes: dict[Key, Remote] = {}
        self._failed: dict[Key, tuple[Outcome | Undecided, float]] = {}
        self._killed_starts: Counter[Key] = Counter()
        self._unfit: set[Key] = set()
        self._keys = ServerKeys()
        self._cold: set[Key] = set()
        self._number = 0
        self._restarts = 0
        self._losing_since = self._resumed = 0.0
        self._lld: str | None = None
        self.library_keys = LibraryKeys()

    def new_identity(self) -> str:
        """A new name for a process."""
        self._number += 1
        return str(self._number)

    def new_path(self) -> Path:
        """The path for a folder that is removed with the run, however that ends. Raises EnvironmentFault."""
        return self._started().home.folder / self.new_identity()

    def new_folder(self) -> Path:
        """Such a folder, empty. Raises EnvironmentFault."""
        folder = self.new_path()
        try:
            try:
                folder.mkdir()
            except FileNotFoundError:  # A compile has removed it.
                folder.parent.mkdir(0o700, exist_ok=True)
                folder.mkdir()
        except OSError as error:
            raise EnvironmentFault(f"cannot write to {folder.parent.parent}: {error.strerror}") from None
        return folder

    def forget_environment(self) -> None:
        """The environment of this process may have changed: other servers may be needed."""
        self._keys.forget_environment()

    # ---- the nanny

    def nanny(self) -> Remote:
        """The root of the tree, started on first use. Raises EnvironmentFault."""
        return self._started().nanny

    @property
    def running_nanny(self) -> Remote | None:
        """The same, if it was started."""
        return self._root.nanny if self._root is not None else None

    def _started(self) -> Root:
        starts = 0
        while self._root is None:
            if starts == _MOST_STARTS:
                raise EnvironmentFault("triage's own process ended while it started; is something killing it?")
            self._root = self._start_root()
            starts += 1
        return self._root

    def _start_root(self) -> Root | None:
        """Start the nanny; None when it ended as it started."""
        root = root_process.start()
        if root is not None:
            self._selector.register(root.nanny.sock, selectors.EVENT_READ, lambda: self._receive(root.nanny))
        return root

    def close(self) -> None:
        """End everything below; safe to call twice."""
        for remote in list(self._remotes.values()):
            self._forget(remote)
        if self._root is not None:
            unregister(self._selector, self._root.nanny.sock)
            self._root.end()
            self._root = None

    # ---- servers

    def case_server(self, request: Request, isolation: str) -> Remote | Outcome | Undecided | None:
        """The server from which a request can be forked, or the one above it that is not ready yet. An Outcome or
        Undecided when it never will be: the answer to the request (its module cannot be imported, for example). None
        when the module made its server do what no server does: a fresh process compiles it."""
        keys = self._keys.of(request, isolation)
        if self._unfit and shared(keys[-1][1]) in self._unfit:
            return None
        server: Remote | Outcome | Undecided = self.nanny()
        for level, key in keys:
            if not isinstance(server, Remote) or server.state is not ServerState.READY:
                break
            server = self._server(level, key, server, request)
            if isinstance(server, Remote) and server.answer is not None and server.answer.triton_key:
                self.library_keys.put(request.toolchain, server.answer.triton_key)
        return server

    def command(self, request: Request, *mode: str) -> list[str]:
        """Command line of a worker of the request's toolchain."""
        return [str(request.toolchain.python), str(WORKER), *mode]

    def environment(self, request: Request) -> dict[str, str]:
        """Environment of a worker for the request."""
        folder = self._started().home.folder
        if request.case.target.backend == "hip" and (self._lld is None or (self._lld and not Path(self._lld).exists())):
            self._lld = linker.find(self._spare(), folder) or ""  # Again where a compile has removed the folder.
        lld = self._lld if request.case.target.backend == "hip" else None
        return {**worker_environment(lld or None), processes.MARK: str(folder)}

    def distrust(self, remote: Remote) -> None:
        """End a server that does not do what it is asked, or does what it is not asked; if it is a case server, no
        other is made of its module."""
        if remote.level is Level.NANNY:
            self._lose_nanny()
            return
        if remote.unfit or self._remotes.get(remote.key) is not remote:
            return
        remote.unfit = True
        unregister(self._selector, remote.sock)
        self._kill(remote)

    def dismiss(self) -> None:
        """Let the forks end that wait for something else to compile."""
        for remote in self._remotes.values():
            if remote.repeats.dismiss():
                remote.ask({"op": "dismiss"})

    def serves(self, remote: Remote, request: Request, isolation: str) -> bool:
        """Whether ``remote`` is the case server of the request, or was."""
        return remote.key == self._keys.of(request, isolation)[-1][1]

    def lost_import(self, remote: Remote, request: Request, isolation: str) -> bool:
        """Whether ``remote`` was importing the module of the request when the servers above it were killed."""
        return self.serves(remote, request, isolation) and remote.facts.status is None and not remote.unfit

    def next_deadline(self) -> float:
        """When :meth:`watch` next has something to do (monotonic seconds)."""
        return min((remote.deadline for remote in self._remotes.values()), default=float("inf"))

    def watch(self, now: float) -> None:
        """Kill imports over their limits; give up on servers whose end was not reported; resume stopped ones."""
        resume = now - self._resumed >= _RESUME_S
        self._resumed = now if resume else self._resumed
        for remote in list(self._remotes.values()):
            if self._remotes.get(remote.key) is not remote:
                continue  # Gone with one before it.
            if resume:
                remote.process.resume()
            pid = remote.process.pid if remote.level is Level.CASE else 0
            match remote.state:
                case ServerState.DEAD if now > remote.deadline:
                    self.distrust(remote)
                case ServerState.KILLED if now > remote.deadline:
                    remote.deadline = float("inf")
                    self._kill(remote.above)
                case ServerState.STARTING if now > remote.deadline and remote.facts.stopped:
                    self._kill(remote)
                case ServerState.STARTING if now > remote.deadline:
                    remote.facts.timed_out = True
                    self._stop(remote, now)
                case ServerState.STARTING if pid and not remote.facts.stopped:
                    if over_limit(pid, remote.facts, remote.limits):
                        self._stop(remote, now)
                case ServerState.READY if pid and processes.rss_bytes(pid) > remote.limits.memory_bytes:
                    # A thread that the module started goes on; compiles of such a module run elsewhere.
                    self._kill(remote)
        if resume and self._root is not None:
            self._root.nanny.process.resume()

    def _stop(self, remote: Remote, now: float) -> None:
        """Have a server that starts killed; one that imports the user's module first shows where that is."""
        shown = remote.level is Level.CASE and remote.above is not None
        remote.deadline = now + _SHOW_S if shown else now
        if shown and remote.above is not None:
            remote.above.ask({"op": "show", "id": remote.identity})

    def _server(self, level: Level, key: Key, above: Remote, request: Request) -> Remote | Outcome | Undecided:
        failure, until = self._failed.get(key, (None, 0.0))
        if failure is not None and time.monotonic() < until and holds_for(failure, request.limits):
            return failure
        remote = self._remotes.get(key)
        if remote is None:
            return self._start(level, key, above, request)
        remote.used = time.monotonic()
        is_idle = remote.has_served and not remote.attempts
        if is_idle and remote.reads is not None and not remote.reads.own_files_are_unchanged:
            # The user has edited what the module imported. One that changes what it reads is served all the same.
            self._forget(remote)
            return self._start(level, key, above, request)
        return remote

    def _start(self, level: Level, key: Key, above: Remote, request: Request) -> Remote | Undecided:
        self._make_room()
        message = self._start_message(level, key, request)
        ours, theirs = wire.pair()
        ours.setblocking(False)
        log_read, log_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(log_read, False)
        remote = Remote(level, key, ours, above, self.new_identity(), log_read)
        # Importing the user's module may take as long as a compile; the compiler's own has its own limit.
        patience = request.limits.timeout_s if level is Level.CASE else max(START_S, request.limits.timeout_s)
        remote.deadline = time.monotonic() + patience
        remote.limits = request.limits
        remote.compiler = request.toolchain.compiler.title
        remote.facts.oom_kills = processes.kernel_oom_kills()
        self._remotes[key] = remote
        self._selector.register(remote.sock, selectors.EVENT_READ, lambda: self._receive(remote))
        self._selector.register(remote.log, selectors.EVENT_READ, lambda: self._read_log(remote))
        try:
            if not above.ask({**message, "id": remote.identity}, [log_write, theirs.fileno()]):
                self._ended(remote)
        except wire.Unsendable as error:
            self._forget(remote)
            return Undecided(str(error))
        finally:
            theirs.close()
            os.close(log_write)
        return remote

    def _start_message(self, level: Level, key: Key, request: Request) -> dict[str, Any]:
        """The message that makes the server above start one of this level."""
        if level is Level.TOOLCHAIN:
            environment = self.environment(request)
            command = self.command(request, "serve", request.toolchain.compiler.name)
            return {"op": "start", "command": command, "environment": environment, "memory_bytes": 0}
        if level is Level.TARGET:
            return {
                "op": "serve",
                **target_message(request.case.target),
                "folder": str(self.new_folder()),
                "warm": key not in self._cold,
                "triton_key": self.library_keys.get(request.toolchain),
            }
        return {
            "op": "serve",
            "path": location_of(key),
            "memory_bytes": request.limits.memory_bytes,
            **module_message(request.case),
        }

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
            document, fds = wire.receive(remote.sock)
            for fd in fds:
                os.close(fd)
            self._heed(remote, messages.parse(document))
        except BlockingIOError:
            return
        except (wire.Closed, OSError):
            self._hang_up(remote)
        except (wire.Malformed, InputError):
            self.distrust(remote)

    def _heed(self, remote: Remote, message: messages.Message) -> None:
        """Act on what a server reports. Raises InputError for what it cannot know, or has reported before."""
        if isinstance(message, Ready):
            if remote.answer is not None:
                raise InputError("ready, again")
            if not message.ok and read_event(dict(message.event or {})) is None:
                raise InputError("not ready, for no reason")
            remote.answer = message
            remote.reads = ModuleReads.parse(message.reads)
            if message.ok and remote.state is ServerState.STARTING:
                remote.state, remote.deadline = ServerState.READY, float("inf")
                self._restarts = self._killed_starts[remote.key] = 0
            return
        if message.id not in remote.asked:
            raise InputError("about a process that it was not asked for")
        below = [other for other in self._remotes.values() if other.identity == message.id]
        if isinstance(message, Started):
            if remote.asked[message.id]:
                raise InputError("started, again")
            remote.asked[message.id] = True
            process = processes.Process.child(message.pid, remote.process.pid)
            for other in below:
                other.process = process
            if not below:
                self._listener.started(message.id, process)
            return
        del remote.asked[message.id]
        self._listener.exited(message.id, message)
        for other in below:
            other.fork_failed = message.fork_failed
            if not other.fork_failed:
                other.facts.ended(message)
            self._ended(other)

    def _hang_up(self, remote: Remote) -> None:
        unregister(self._selector, remote.sock)
        if remote.level is Level.NANNY:
            self._lose_nanny()
        elif remote.state is not ServerState.KILLED:
            # The server above it is about to report how it ended, unless it only looks as if it had.
            remote.state, remote.deadline = ServerState.DEAD, time.monotonic() + _REPORT_S

    def _lose_nanny(self) -> None:
        """The nanny was killed; the next request starts a new one."""
        if self._root is None:
            return
        if not self._restarts:
            self._losing_since = time.monotonic()
        self._restarts += 1
        if self._restarts > _MOST_RESTARTS or time.monotonic() - self._losing_since > START_S:
            raise EnvironmentFault(DISAPPEARING)
        lost = [self._root.nanny, *self._remotes.values()]
        self._root.process.kill()
        self.close()
        for server in lost:
            self._listener.lost(server)

    def _ended(self, remote: Remote) -> None:
        """A server ended: keep the verdict if it never became ready, and report all that is lost with it."""
        if self._remotes.get(remote.key) is not remote:
            return
        if remote.answer is None:
            self._receive(remote)  # Its end may be heard of before what it last reported.
        if remote.log >= 0:
            read_available(remote.log, remote.output.write)
        self._forget(remote)
        if remote.left or (remote.unfit and remote.level is Level.CASE):
            self._unfit.add(shared(remote.key))
            remote.unfit = True
        elif remote.answer is None or not remote.answer.ok:
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

    def _kill(self, remote: Remote | None) -> None:
        if remote is None or remote.above is None:
            self._lose_nanny()
            return
        remote.process.kill()
        if remote.above.ask({"op": "kill", "id": remote.identity}):
            remote.state, remote.deadline = ServerState.KILLED, time.monotonic() + _REPORT_S
        else:
            self._ended(remote)
