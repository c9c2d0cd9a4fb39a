"""Messages between triage and its servers: one JSON object a SOCK_SEQPACKET packet, file descriptors beside it.

Packets keep their borders, so a message that a dying server has not finished cannot be misread.
"""

from __future__ import annotations

import array
import json
import os
import socket
from typing import Any, Dict, List, Optional, Sequence, Tuple

MAX_PACKET = 192 * 1024
"""Bytes a packet may have: Linux's default socket buffer (212,992) less its own overhead."""
MAX_FDS = 4


class Closed(Exception):
    """The other side is gone."""


def send(sock: socket.socket, message: Dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send one message. Raises Closed when the other side is gone, ValueError when the message is too large."""
    data = json.dumps(message).encode()
    if len(data) > MAX_PACKET:
        raise ValueError("message of %d bytes is over the %d of a packet" % (len(data), MAX_PACKET))
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        sock.sendmsg([data], ancillary)
    except (BrokenPipeError, ConnectionResetError, ConnectionRefusedError) as error:
        raise Closed(str(error)) from None


def receive(sock: socket.socket) -> Tuple[Dict[str, Any], List[int]]:
    """Receive one message and its descriptors (close-on-exec). Raises Closed at the end."""
    fds = array.array("i")
    try:
        data, ancillary, _, _ = sock.recvmsg(MAX_PACKET, socket.CMSG_SPACE(MAX_FDS * fds.itemsize))
    except ConnectionResetError as error:
        raise Closed(str(error)) from None
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    if not data:
        raise Closed("end of stream")
    for fd in fds:
        os.set_inheritable(fd, False)
    return json.loads(data), list(fds)


def pair() -> Tuple[socket.socket, socket.socket]:
    """Two connected ends."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def parse_event(line: bytes, token: str) -> Optional[Dict[str, Any]]:
    """Read one line of a result pipe: ``TOKEN {json}``; None for everything that is not ours."""
    prefix = token.encode() + b" "
    if not line.startswith(prefix):
        return None
    try:
        event = json.loads(line[len(prefix) :])
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("ev"), str) else None
