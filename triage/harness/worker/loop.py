"""The loop of a fork server: receives messages, forks children, reports their ends. Knows nothing of Triton.

A server is single-threaded. It shares no lock, queue or pool with a child: a child is known by its process id and
reports through its pipes. What a child leaves behind (its process group, its daemons) is killed when it ends; what a
server leaves behind is adopted by the server above, in the end by the nanny.
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
from typing import Any, Callable, Dict, List, Optional

from . import process, wire

Operation = Callable[[Dict[str, Any], List[int]], Optional[int]]
"""Runs in the forked child, with the message and its descriptors; returns the exit code."""

_CHECK_MS = 1000
"""How often to look for ended children, and for triage itself, without having been woken."""
FAULT = 70
"""Exit code of a process in which the worker itself failed (EX_SOFTWARE)."""


class ForkServer:
    """Receives messages, forks a child for each, reports its end. ``farewell`` runs when triage is gone."""

    def __init__(
        self, sock: socket.socket, operations: Dict[str, Operation], farewell: Optional[Callable[[], None]] = None
    ) -> None:
        self._sock = sock
        self._fd = sock.fileno()
        self._operations = operations
        self._farewell = farewell
        self._children: Dict[int, str] = {}
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
        ends = poll()
        ends.register(self._fd, POLLIN)
        ends.register(self._wake_read, POLLIN)
        parent = getppid()
        while True:
            ready = ends.poll(_CHECK_MS)
            if self._farewell is not None and getppid() != parent:
                # Another process still holds triage's end of the socket, so its death did not close that.
                self._leave()
            with suppress(BlockingIOError):
                read(self._wake_read, 4096)
            self._reap()
            if any(fd == self._fd for fd, _ in ready):
                self._receive()

    def _receive(self) -> None:
        try:
            message, fds = wire.receive(self._sock)
        except wire.Closed:
            self._leave()
            return
        act = {"kill": process.kill_group, "show": process.show_stack}.get(message["op"])
        if act is not None:
            for pid, identity in list(self._children.items()):
                if identity == message["id"]:
                    act(pid)
        else:
            self._fork(message, fds)
        for fd in fds:
            close(fd)

    def _fork(self, message: Dict[str, Any], fds: List[int]) -> None:
        operation = self._operations[message["op"]]
        me = getpid()
        try:
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
                code = operation(message, fds) or 0
            except BaseException:  # shown in the log of the run
                traceback.print_exc()
            finally:
                _exit(code)
        self._children[pid] = message["id"]
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
                identity = self._children.pop(pid)
                used = {"max_rss_bytes": usage.ru_maxrss * 1024, "cpu_s": usage.ru_utime + usage.ru_stime}
                self.send({"op": "exit", "id": identity, "status": status, **used})
        for pid in process.children():
            if pid not in self._children:
                process.kill_group(pid)
