"""The loop of a fork server: receives messages, forks children, reports their ends. Knows nothing of Triton.

A server is single-threaded. It shares no lock, queue or pool with a child: a child is known by its process id and
reports through its pipes. What a child leaves behind (its process group, its daemons) is killed when it ends; what a
server leaves behind is adopted by the server above, in the end by the nanny.

A child that was asked with ``again``, and has ended its operation well, waits for another message, in which triage
names it (``to``): to fork, to touch the pages of the server and to end takes 20 ms. It ends where none comes. One
message may ask for several operations.
"""

import socket
import traceback
from contextlib import suppress
from os import (
    O_CLOEXEC,
    O_NONBLOCK,
    P_ALL,
    WEXITED,
    WNOHANG,
    WNOWAIT,
    _exit,
    close,
    fork,
    getpid,
    getppid,
    pipe2,
    read,
    setsid,
    wait4,
    waitid,
)
from select import POLLIN, poll
from signal import (
    ITIMER_PROF,
    ITIMER_REAL,
    ITIMER_VIRTUAL,
    SIG_DFL,
    SIG_SETMASK,
    SIGCHLD,
    pthread_sigmask,
    set_wakeup_fd,
    setitimer,
    signal,
)
from time import monotonic
from typing import Any, Callable, Dict, List, Optional

from . import process, repeating, wire

_WAITS_S = 5.0
"""How long a child waits for another message."""

_CHECK_MS = 1000
"""How often to look for ended children, and for triage itself, without having been woken."""
FAULT = 70
"""Exit code of a process in which the worker itself failed (EX_SOFTWARE)."""


class _Child:
    """A child, and the ``identity`` of the message that it has now; None while it waits, from ``since`` on. ``end``:
    the socket on which it takes further messages, None if it takes none."""

    def __init__(self, identity: str, end: Optional[socket.socket]) -> None:
        self.identity: Optional[str] = identity
        self.end = end
        self.since = 0.0


class ForkServer:
    """Receives messages, has a child act on each, reports how that ended. ``farewell`` runs when triage is gone."""

    def __init__(
        self,
        sock: socket.socket,
        operations: Dict[str, repeating.Operation],
        farewell: Optional[Callable[[], None]] = None,
    ) -> None:
        self._sock = sock
        self._fd = sock.fileno()
        self._operations = operations
        self._farewell = farewell
        self._children: Dict[int, _Child] = {}
        self._ends = poll()
        self._wake_read, self._wake_write = pipe2(O_NONBLOCK | O_CLOEXEC)
        # The user's module may have blocked signals, and may have set an alarm.
        pthread_sigmask(SIG_SETMASK, [])
        for timer in (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF):
            setitimer(timer, 0)
        signal(SIGCHLD, lambda *_: None)
        set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        process.adopt_orphans()

    def send(self, message: Dict[str, Any]) -> None:
        """Send to triage; exit when it is gone."""
        try:
            wire.send(self._sock, message)
        except wire.Closed:
            self._leave()

    def _leave(self) -> None:
        if self._farewell is not None:
            self._farewell()
            _exit(0)
        # Triage asks no more how it ended, unless its end of the socket is not what was closed.
        _exit(FAULT)

    def run(self) -> None:
        """Serve until triage is gone."""
        self._ends.register(self._fd, POLLIN)
        self._ends.register(self._wake_read, POLLIN)
        parent = getppid()
        while True:
            ready = {fd for fd, _ in self._ends.poll(_CHECK_MS)}
            if self._farewell is not None and getppid() != parent:
                # Another process still holds triage's end of the socket, so its death did not close that.
                self._leave()
            with suppress(BlockingIOError):
                read(self._wake_read, 4096)
            for child in list(self._children.values()):
                if child.end is not None and child.end.fileno() in ready:
                    self._hear(child, child.end)
            self._reap()
            if self._fd in ready:
                self._receive()
            self._dismiss(_WAITS_S)

    def _receive(self) -> None:
        try:
            message, fds = wire.receive(self._sock)
        except wire.Closed:
            self._leave()
            return
        act = {"kill": process.kill_group, "show": process.show_stack}.get(message["op"])
        if message["op"] == "dismiss":
            self._dismiss(0.0)
        elif act is not None:
            for pid, child in list(self._children.items()):
                if child.identity == message["id"]:
                    act(pid)
        elif not self._pass_on(message, fds):
            self._fork(message, fds)
        for fd in fds:
            close(fd)

    def _pass_on(self, message: Dict[str, Any], fds: List[int]) -> bool:
        """Give the message to the child that it is for; False where none is named, or that one waits no more."""
        child = self._children.get(message.get("to", 0))
        if child is None or child.identity is not None or child.end is None:
            return False
        try:
            wire.send(child.end, message, fds)
        except (wire.Closed, wire.Unsendable):
            return False
        child.identity = message["id"]
        return True

    def _hear(self, child: _Child, end: socket.socket) -> None:
        """A child has ended what a message asked for well, or itself."""
        try:
            _, fds = wire.receive(end)
        except (wire.Closed, wire.Malformed):
            self._hang_up(child)
            return
        for fd in fds:
            close(fd)
        identity, child.identity, child.since = child.identity, None, monotonic()
        if identity is not None:
            self.send({"op": "exit", "id": identity, "status": 0, "waits": True})

    def _dismiss(self, after_s: float) -> None:
        """Let children that have waited as long end."""
        for child in self._children.values():
            if child.identity is None and monotonic() - child.since >= after_s:
                self._hang_up(child)

    def _hang_up(self, child: _Child) -> None:
        if child.end is not None:
            self._ends.unregister(child.end)
            child.end.close()
            child.end = None

    def _fork(self, message: Dict[str, Any], fds: List[int]) -> None:
        operation = self._operations[message["op"]]
        me = getpid()
        ours: Optional[socket.socket] = None
        theirs: Optional[socket.socket] = None
        try:
            if message.get("again"):
                ours, theirs = wire.pair()
            pid = fork()
        except OSError as error:
            self.send({"op": "exit", "id": message["id"], "fork_failed": str(error)})
            return
        if pid == 0:
            code = FAULT
            try:
                set_wakeup_fd(-1)
                signal(SIGCHLD, SIG_DFL)
                setsid()
                process.die_with_parent(me)
                # Its daemons stay below it, where their memory is counted, and come to this server with its end.
                process.adopt_orphans()
                for fd in (self._fd, self._wake_read, self._wake_write):
                    close(fd)
                for end in (ours, *(child.end for child in self._children.values())):
                    if end is not None:
                        end.close()
                repeating.act(operation, message, fds, theirs)
                code = 0
            except BaseException:  # shown in the log of the run
                traceback.print_exc()
            finally:
                _exit(code)
        if theirs is not None and ours is not None:
            theirs.close()
            self._ends.register(ours, POLLIN)
        self._children[pid] = _Child(message["id"], ours)
        self.send({"op": "started", "id": message["id"], "pid": pid})

    def _reap(self) -> None:
        while True:
            try:
                # Leave the zombie: as long as it exists, no other process gets its id.
                ended = waitid(P_ALL, 0, WEXITED | WNOHANG | WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                break
            pid = ended.si_pid
            if pid in self._children:
                process.kill_group(pid)
            _, status, usage = wait4(pid, 0)
            if pid in self._children:
                child = self._children.pop(pid)
                self._hang_up(child)
                if child.identity is not None:
                    used = {"max_rss_bytes": usage.ru_maxrss * 1024, "cpu_s": usage.ru_utime + usage.ru_stime}
                    self.send({"op": "exit", "id": child.identity, "status": status, **used})
        for pid in process.children():
            if pid not in self._children:
                process.kill_group(pid)
