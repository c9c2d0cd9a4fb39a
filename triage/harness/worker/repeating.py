"""A child of a fork server that acts on several messages, one after the other, while all ends well."""

import socket
from os import dup
from typing import Any, Callable, Dict, List, Optional

from . import wire

Operation = Callable[[Dict[str, Any], List[int]], Optional[bool]]
"""Runs in the forked child, with a message and its descriptors, which it closes. True where it ended well, and this
process is as it was before."""


def act(operation: Operation, message: Dict[str, Any], fds: List[int], end: Optional[socket.socket]) -> None:
    """Act on the message, then on it with the changes of each of its ``next``; then on each message that comes through
    ``end``. Return when an operation has not ended well, or the server wants no more."""
    while True:
        *requests, last = [message, *({**message, **changes} for changes in message.get("next", ()))]
        for request in requests:
            if not operation(request, [dup(fd) for fd in fds]):
                return
        if not operation(last, fds) or end is None:
            return
        wire.send(end, {})
        try:
            message, fds = wire.receive(end)
        except wire.Closed:
            return
