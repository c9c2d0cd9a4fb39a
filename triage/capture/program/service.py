"""The guard's service: a process that compiles in isolation, reached over a socket.

It is started on first use, by exec and never a bare fork, and detached from the program. One service serves all
processes of a program with the same interpreter and the same compiler variables; it ends when they have.

Whatever becomes of it, the program goes on: a service that was killed is started anew, one that was stopped is
continued, and where none can be had the program learns that within seconds, and compiles without."""

import errno
import fcntl
import hashlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Dict, Iterator, List, Optional

from . import interrupts

VARIABLE = "TRITON_TRIAGE_GUARD_SERVICE"
"""JSON: ``folder`` for sockets, and the ``command`` that starts a service."""
READY = b"ready"
"""The line that a started service sends when it listens. The lines before are its process id, and what went wrong."""
_LOCATIONS = ("TRITON_CACHE_DIR", "TRITON_DUMP_DIR", "TRITON_HOME", "TRITON_OVERRIDE_DIR", "TRITON_PRINT_AUTOTUNING")
"""Locations and output settings, in which workers of a pool may differ."""
COMPILER = (
    "TRITON_", "MLIR_", "LLVM_", "DISABLE_", "PTXAS_", "NVPTX_", "AMDGCN_", "USE_IR_LOC", "USE_TTGIR_LOC",
    "ENABLE_LSR_DEBUG", "ALLOW_LHS_TMEM_LAYOUT_CONVERSION", "STORE_TMEM_TO_GLOBAL_BYPASS_SMEM", "ROCM_PATH", "HIP_PATH",
)  # fmt: skip
"""As in harness/environment.py."""
_DECIDES_NOT = ("TRITON_TRIAGE_", "TRITON_CACHE_DIR", "TRITON_HOME")
"""Triage's own variables, and locations: tests with separate caches shall share a service."""
SIGN_S = 1.0
"""A service that starts or works on a question sends an empty line so often, as a sign of life."""
_STOPPED_SIGNS = 3
"""Missing signs after which a service that was stopped (SIGSTOP) is continued; as many again end the wait."""
_LOST_SIGNS = 60
"""Missing signs after which any service is abandoned. A compile that takes all memory makes the machine swap, and the
program must not compile just that one itself."""
_START_SIGNS = 10
"""The same for a service that starts, whose first sign takes a start of Python, from a cold network disk."""
_POLL_S = 0.005
_START_POLLS = int(60 / _POLL_S)
"""How long to wait for a service that another process starts: as long as one may take to import triage."""
_REST_S = 60.0
"""How long none is started after one did not start: a fault of the machine slows a program down once a minute."""
_MOST_OPEN = 256
"""Questions that wait for their answers: more than compile at once, and they fit into the socket's buffer."""
_MOST_REASON = 300
_MOST_RECORD = 1 << 12


def compiler_variables() -> Dict[str, str]:
    """Environment variables of this process that change what a compile produces, sorted."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(COMPILER) and not name.startswith(_DECIDES_NOT)
    }


class Gone(Exception):
    """No service answers, and none can be started; the text is the reason."""


class _Unusable(Exception):
    """A service does not start, or gives no sign of life; the text is the reason. To try again takes seconds."""


class Service:
    """A process's connection to its service."""

    def __init__(self, text: str) -> None:
        self.description = text
        settings = json.loads(text)
        self._folder, self._command = str(settings["folder"]), [str(part) for part in settings["command"]]
        # Plain numbers that are never closed: the program may have closed one, and have a file of its own there.
        self._present: Dict[int, int] = {}
        self._failure = (-_REST_S, "")

    def hello(self) -> None:
        """Start a service in the background, while the program still imports what it needs."""
        name = self._name()

        def start() -> None:
            try:
                if not self._answers(name):
                    self._start(name)
            except Exception:
                pass  # the first request reports it

        try:
            threading.Thread(target=start, daemon=True).start()
        except RuntimeError:
            pass  # no more threads, or the interpreter is about to end

    def ask(self, messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """The answers to some messages, processed concurrently. Raises Gone."""
        failed_at, reason = self._failure
        try:
            if time.monotonic() - failed_at < _REST_S:
                raise Gone(reason)
            try:
                return self._ask(messages)
            except (OSError, ValueError):
                interrupts.reraise()
                # The service died or was killed: start another, once.
                return self._ask(messages)
        except _Unusable as unusable:
            reason = "the guard's service %s" % unusable
            self._failure = (time.monotonic(), reason)
            raise Gone(reason) from None
        except Exception as error:
            interrupts.reraise()
            raise Gone("the guard's service: %s" % (str(error) or type(error).__name__)[:_MOST_REASON]) from None

    def _ask(self, messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        with self._reach() as connection:
            by_number: Dict[int, Dict[str, Any]] = {}
            lines, sent = _lines(connection, _LOST_SIGNS, _peer(connection)), 0
            while len(by_number) < len(messages):
                if sent < len(messages) and sent - len(by_number) <= _MOST_OPEN // 2:
                    batch = messages[sent : len(by_number) + _MOST_OPEN]
                    sent += len(batch)
                    text = "".join(json.dumps(message) + "\n" for message in batch)
                    # The program may have set SIGPIPE to end it.
                    connection.sendall(text.encode("utf-8"), socket.MSG_NOSIGNAL)
                answer = json.loads(next(lines))
                by_number[int(answer["number"])] = answer
        return [by_number[number] for number in range(len(messages))]

    def _reach(self) -> socket.socket:
        name, started = self._name(), False
        for _ in range(_START_POLLS):
            connection = self._connect(name)
            if connection is not None:
                self._stay(name)
                return connection
            if started:
                raise _Unusable("listens, and cannot be reached in %s" % self._folder)
            started = self._start(name)
            if not started:
                time.sleep(_POLL_S)
        raise _Unusable("is not there after %d s" % (_START_POLLS * _POLL_S))

    def _stay(self, name: str) -> None:
        """Hold one connection until this process ends: the service stays that long."""
        if os.getpid() not in self._present:
            connection = self._connect(name)
            if connection is not None:
                self._present[os.getpid()] = _out_of_the_way(connection)

    def _connect(self, name: str) -> Optional[socket.socket]:
        return connect(self._folder, name)

    def _start(self, name: str) -> bool:
        """Start the service; false if another process is doing so. The lock is held until the service listens or has
        failed, and while an earlier one shuts down. Raises _Unusable if it fails, or failed lately."""
        path = os.path.join(self._folder, name)
        os.makedirs(self._folder, 0o700, exist_ok=True)
        lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            # A service that ended has removed the file, and the lock of a removed file excludes no process.
            if not os.fstat(lock).st_nlink or self._answers(name):
                return False
            failed_at, _, problem = os.pread(lock, _MOST_RECORD, 0).decode("utf-8", "replace").partition(" ")
            if not problem or time.monotonic() - float(failed_at) > _REST_S:
                # Without last words it was killed: once more.
                launched = self._launch(path, lock) or self._launch(path, lock)
                if launched == READY:
                    return True
                problem = launched.decode("utf-8", "replace")[:_MOST_REASON] or "it was killed"
                # Another process of the program shall not wait for the same; on a full disk each does.
                with suppress(OSError):
                    os.ftruncate(lock, 0)
                    record = "%.3f %s" % (time.monotonic(), problem)
                    os.pwrite(lock, record.encode("utf-8", "replace"), 0)
            raise _Unusable("does not start: %s" % problem)
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # also for a child that the program has forked in between
            os.close(lock)

    def _launch(self, path: str, lock: int) -> bytes:
        """The last line of a service that was started: READY, or why it ended."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_TRIAGE_CAPT")}
        # Its first connection exists before it listens, so that it ends with a program that never asks.
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.settimeout(SIGN_S)
        process_id, last = 0, b""
        try:
            with theirs:
                # While this runs, the program has a child that it did not start: its os.wait() would return it. A shell
                # is gone in a millisecond, a start of Python takes a hundred.
                shell = ["/bin/sh", "-c", '"$0" "$@" &'] if os.access("/bin/sh", os.X_OK) else []
                subprocess.run(
                    [*shell, *self._command, path, sys.executable, str(lock), str(theirs.fileno())],
                    env={**variables, "TRITON_TRIAGE_GUARD": ""},
                    stdin=subprocess.DEVNULL,
                    stdout=theirs.fileno(),
                    stderr=theirs.fileno(),
                    pass_fds=(lock, theirs.fileno()),
                    check=False,
                    timeout=_START_SIGNS * SIGN_S,
                )
            for line in _lines(ours, _START_SIGNS):
                if line.isdigit() and not process_id:
                    process_id = int(line)
                    continue
                last = line
                if last == READY:
                    self._present[os.getpid()] = _out_of_the_way(ours)
                    break
        except ConnectionError:
            pass  # it ended
        except (OSError, subprocess.SubprocessError, _Unusable) as error:
            interrupts.reraise()
            hangs = isinstance(error, subprocess.TimeoutExpired)
            last = b"it gives no sign of life" if hangs else str(error).encode("utf-8", "replace")
            if process_id:
                os.kill(process_id, signal.SIGKILL)  # it exists: its end of the socket is open
        finally:
            ours.close()
        return last

    def _answers(self, name: str) -> bool:
        connection = self._connect(name)
        if connection is not None:
            connection.close()
        return connection is not None

    def _name(self) -> str:
        variables = [item for item in compiler_variables().items() if item[0] not in _LOCATIONS]
        identity = [sys.executable, variables]
        digest = hashlib.sha256(json.dumps(identity).encode("utf-8", "replace")).hexdigest()
        return digest[:16]


def connect(path: str, name: str) -> Optional[socket.socket]:
    """A connection to the service that listens at ``name`` in the folder ``path``, None without one. Raises OSError, in
    a folder that is not this user's as well, and _Unusable where nothing accepts it."""
    try:
        folder = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(SIGN_S)
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "%s belongs to another user" % path)
        for _ in range(2 * _STOPPED_SIGNS):
            try:
                # A socket's path may have 107 bytes, fewer than a folder's.
                connection.connect("/proc/self/fd/%d/%s" % (folder, name))
                return connection
            except BlockingIOError:  # too many wait to be accepted
                time.sleep(SIGN_S)
        raise _Unusable("accepts no connection")
    except (FileNotFoundError, ConnectionError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(folder)


def listener(folder: str, name: str) -> Optional[int]:
    """The process that listens there; None without one. Raises OSError."""
    try:
        connection = connect(folder, name)
    except _Unusable:
        return 0
    if connection is None:
        return None
    with connection:
        return _peer(connection)


def _lines(connection: socket.socket, most_missing: int, peer: int = 0) -> Iterator[bytes]:
    """The lines that a service sends, signs of life left out. ``peer``: its process, if known, which is continued if it
    was stopped. Raises _Unusable, and ConnectionError at the end."""
    rest, missing = b"", 0
    while True:
        try:
            data = connection.recv(1 << 16)
        except socket.timeout:
            interrupts.reraise()
            missing += 1
            if missing % _STOPPED_SIGNS == 0 and peer and is_stopped(peer):
                if missing > _STOPPED_SIGNS:
                    raise _Unusable("was stopped, and again") from None
                resume(peer)
            if missing >= most_missing:
                raise _Unusable("gives no sign of life for %d s" % (missing * SIGN_S)) from None
            continue
        if not data:
            raise ConnectionResetError(errno.ECONNRESET, "it ended")
        missing = 0
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line:
                yield line


def _peer(connection: socket.socket) -> int:
    """The process that listens at the other end; 0 if it is in another namespace."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[0])


def is_stopped(pid: int) -> bool:
    """Whether the process was stopped by a signal or a debugger."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except OSError:
        return False


def resume(pid: int) -> None:
    """Continue a process and those below it."""
    try:
        os.kill(pid, signal.SIGCONT)
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            children = file.read().split()
    except OSError:
        return
    for child in children:
        resume(int(child))


def _out_of_the_way(connection: socket.socket) -> int:
    """Move a connection that stays to a descriptor that the program will hardly have or expect: not a standard stream
    that it had closed, nor the lowest free number, which its next file would have got."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        number = fcntl.fcntl(connection, fcntl.F_DUPFD_CLOEXEC, min(most, 1024) // 2)
    except OSError:
        return connection.detach()
    connection.close()
    return number
