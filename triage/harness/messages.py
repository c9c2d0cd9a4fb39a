"""What servers report to triage, as typed values. A case server has run the user's code: no message of it is believed
before it has been read by this schema and fits what the server was asked for (``servers.py``)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.model.document import decode
from triage.model.errors import InputError


@dataclass(frozen=True, slots=True)
class Ready:
    """A server can be used, or never will be (``ok``), because of what ``event`` says. ``reads``: what a case
    server's module read as it was imported (``reads.py``). ``triton_key``: the library's hash of itself."""

    ok: bool
    environment: Mapping[str, str] = field(default_factory=dict)
    triton_key: str | None = None
    reads: Mapping[str, Any] | None = None
    event: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The process that was asked for as ``id`` exists."""

    id: str
    pid: int


@dataclass(frozen=True, slots=True)
class Exited:
    """The process ended with the wait status ``status``, or ended all its compiles well and ``waits``, or could
    not be started (``fork_failed``: why)."""

    id: str
    status: int = 0
    max_rss_bytes: int = 0
    cpu_s: float = 0.0
    fork_failed: str = ""
    waits: bool = False


Message = Ready | Started | Exited
_TYPES: dict[Any, Any] = {"ready": Ready, "started": Started, "exit": Exited}


def parse(document: dict[str, Any]) -> Message:
    """The message. Raises InputError for everything else."""
    op = document.get("op")
    if not isinstance(op, str) or op not in _TYPES:
        raise InputError("a message of no known kind")
    message: Message = decode(_TYPES[op], document, op)
    if isinstance(message, Exited) and not (
        0 <= message.status <= 0xFFFF and message.max_rss_bytes >= 0 and 0 <= message.cpu_s < float("inf")
    ):
        raise InputError("an end that no process can have")
    return message
