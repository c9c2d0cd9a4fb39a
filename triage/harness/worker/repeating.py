"""A child of a fork server that acts on several messages, one after the other, while all ends well."""

import socket
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any, Callable, Dict, List, Optional

from . import wire

Operation = Callable[[Dict[str, Any], List[int]], Optional[bool]]
"""Runs in the forked child, with a message and its descriptors, which it closes. True where it ended well, and this
process is as it was before."""


def act(operation: Operation, message: Dict[str, Any], fds: List[int], end: Optional[socket.socket]) -> None:
    """Act on the message, and on each that then comes through ``end``, until one has not ended well or the server wants
    no more. What every operation but the last used is told to the server."""
    used_s = 0.0
    while operation(message, fds) and end is not None:
        own, below = getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN)
        total_s = own.ru_utime + own.ru_stime + below.ru_utime + below.ru_stime
        # The most resident memory is that of all operations so far.
        wire.send(end, {"cpu_s": total_s - used_s, "max_rss_bytes": own.ru_maxrss * 1024})
        used_s = total_s
        try:
            message, fds = wire.receive(end)
        except wire.Closed:
            return
