"""Messages between triage and its servers: one JSON object a SOCK_SEQPACKET packet, file descriptors beside it.

Packets keep their borders, so a message that a dying server has not finished cannot be misread. A message that is
larger than a packet lies in a memory file, whose descriptor is the last beside an empty object.

Every module of the worker that runs after the user's code takes what it needs from the standard library into its own
names when it is imported, which is before that code: a module under test may replace any attribute of ``os`` or
``json`` (see ``__main__.py`` for the builtins).
"""

import array
import socket
from contextlib import suppress
from json.decoder import JSONDecoder
from json.encoder import encode_basestring_ascii
from json.scanner import make_scanner
from os import MFD_CLOEXEC, close, fstat, memfd_create, pread, pwrite, set_inheritable
from stat import S_ISREG
from typing import Any, Dict, List, Optional, Sequence, Tuple

MAX_PACKET = 16 * 1024
"""Bytes of a packet: a dozen fit into Linux's default socket buffer (212,992); most messages have 2 to 10 KB."""
MAX_MESSAGE = 64 << 20
"""Bytes of a message in a memory file. The longest real one, the text of a case, is a few MB."""
_MOST_FDS = 4
_IN_FILE = b"{}"

_array, _SPACE = array.array, socket.CMSG_SPACE(_MOST_FDS * array.array("i").itemsize)
_RIGHTS = (socket.SOL_SOCKET, socket.SCM_RIGHTS)
_sendmsg, _recvmsg = socket.socket.sendmsg, socket.socket.recvmsg
_scan = make_scanner(JSONDecoder())  # type: ignore[arg-type]


class Closed(Exception):
    """The other side is gone, or takes nothing any more."""


class Unsendable(Exception):
    """The message cannot be sent; the other side is unharmed. The text is the reason, in one line."""


class Malformed(Exception):
    """What came is not a message; the text says why."""


def send(sock: socket.socket, message: Dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message. Raises Closed when the other side is gone, Unsendable."""
    try:
        text = dumps(message)
    except (TypeError, RecursionError) as error:
        raise Unsendable("a message to a worker cannot be written as JSON: %s" % error) from None
    send_text(sock, text, fds)


def send_text(sock: socket.socket, text: str, fds: Sequence[int] = ()) -> None:
    """Send a message that is written already, in ASCII. Raises Closed, Unsendable."""
    data = text.encode()
    if len(data) <= MAX_PACKET:
        _send(sock, data, fds)
        return
    if len(data) > MAX_MESSAGE:
        raise Unsendable("a message to a worker has %d bytes; at most %d can be sent" % (len(data), MAX_MESSAGE))
    try:
        file = memfd_create("message", MFD_CLOEXEC)
    except OSError as error:
        raise Unsendable("no memory file for a message of %d bytes: %s" % (len(data), error.strerror)) from None
    try:
        _fill(file, data)
        _send(sock, _IN_FILE, [*fds, file])
    finally:
        close(file)


def _fill(file: int, data: bytes) -> None:
    written = 0
    try:
        while written < len(data):
            written += pwrite(file, data[written:], written)
    except OSError as error:
        raise Unsendable("a message of %d bytes cannot be written: %s" % (len(data), error.strerror)) from None


def _send(sock: socket.socket, data: bytes, fds: Sequence[int]) -> None:
    try:
        _sendmsg(sock, [data], [(*_RIGHTS, _array("i", fds))] if fds else [])
    except BlockingIOError:
        # The buffer holds hundreds of messages: nobody reads them.
        raise Closed("it reads no messages") from None
    except (BrokenPipeError, ConnectionResetError, ConnectionRefusedError) as error:
        raise Closed(str(error)) from None


def receive(sock: socket.socket) -> Tuple[Dict[str, Any], List[int]]:
    """Receive one message and its descriptors (close-on-exec). Raises Closed at the end, Malformed."""
    try:
        data, ancillary, _, _ = _recvmsg(sock, MAX_PACKET, _SPACE)
    except ConnectionResetError as error:
        raise Closed(str(error)) from None
    fds = _array("i")
    for level, kind, payload in ancillary:
        if (level, kind) == _RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    passed = list(fds)
    try:
        if not data:
            raise Closed("end of stream")
        for fd in passed:
            set_inheritable(fd, False)
        if data == _IN_FILE and passed:
            file = passed.pop()
            try:
                data = _read(file)
            finally:
                close(file)
        message = loads(data.decode("ascii"))
        if not isinstance(message, dict):
            raise Malformed("not an object")
    except (Closed, Malformed, UnicodeDecodeError, OSError) as error:
        for fd in passed:
            with suppress(OSError):
                close(fd)
        raise error if isinstance(error, Closed) else Malformed(str(error)) from None
    return message, passed


def _read(file: int) -> bytes:
    """The whole of a memory file. The sender may still change it, so it is neither mapped nor read beyond its size."""
    status = fstat(file)
    if not S_ISREG(status.st_mode) or status.st_size > MAX_MESSAGE:
        raise Malformed("not a message file")
    parts: List[bytes] = []
    size = 0
    while size < status.st_size:
        part = pread(file, status.st_size - size, size)
        if not part:
            raise Malformed("its file became shorter")
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def pair() -> Tuple[socket.socket, socket.socket]:
    """Two connected ends."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def dumps(value: Any) -> str:
    """``json.dumps`` with nothing in it that a module under test can replace. Raises TypeError, RecursionError."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _FLOATS.get(float.__repr__(value)) or float.__repr__(value)
    if isinstance(value, dict):
        return "{%s}" % ",".join(
            ["%s:%s" % (encode_basestring_ascii(str(name)), dumps(item)) for name, item in value.items()]
        )
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join([dumps(item) for item in value])
    raise TypeError("%s is not a value of JSON" % type(value).__name__)


_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def loads(text: str) -> Any:
    """``json.loads``, likewise, of a text without white space around it. Raises Malformed."""
    try:
        value, end = _scan(text, 0)
    except (StopIteration, ValueError, RecursionError) as error:
        raise Malformed("not JSON: %s" % (str(error) or type(error).__name__)) from None
    if end != len(text):
        raise Malformed("more than one JSON value")
    return value


def parse_event(line: bytes, token: str) -> Optional[Dict[str, Any]]:
    """Read one line of a result pipe: ``TOKEN {json}``; None for everything that is not ours."""
    prefix = token.encode() + b" "
    if not line.startswith(prefix):
        return None
    try:
        event = loads(line[len(prefix) :].decode("ascii"))
    except (Malformed, UnicodeDecodeError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("ev"), str) else None
