"""Messages: any size, nothing that a module under test can break, and nothing misread."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.harness import messages
from triage.harness.messages import Exited, Ready, Started
from triage.harness.worker import wire
from triage.model.errors import InputError

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    ours, theirs = wire.pair()
    ours.settimeout(10)
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.mark.parametrize("size", [10, wire.MAX_PACKET - 10, wire.MAX_PACKET, 192 << 10, 5 << 20])
def test_a_message_of_any_size_arrives_with_its_descriptors(ends: Ends, size: int) -> None:
    ours, theirs = ends
    read, write = os.pipe()
    open_before = psutil.Process().num_fds()
    wire.send(theirs, {"op": "x", "text": "y" * size}, [write])
    message, (passed,) = wire.receive(ours)
    assert message == {"op": "x", "text": "y" * size}
    os.write(passed, b"through")
    assert os.read(read, 100) == b"through"
    assert not os.get_inheritable(passed)
    os.close(passed)
    assert psutil.Process().num_fds() == open_before
    os.close(read)
    os.close(write)


def test_a_message_that_cannot_be_sent_says_why(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    _, theirs = ends
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for bad in ({"x": object()}, {"x": deep}, {"x": b"bytes"}):
        with pytest.raises(wire.Unsendable, match="JSON"):
            wire.send(theirs, bad)
    monkeypatch.setattr(wire, "MAX_MESSAGE", 100_000)
    with pytest.raises(wire.Unsendable, match="at most 100000") as failure:
        wire.send(theirs, {"x": "y" * 100_000})
    assert "\n" not in str(failure.value)


def test_a_peer_that_reads_nothing_does_not_block(ends: Ends) -> None:
    ours, _ = ends
    ours.setblocking(False)
    with pytest.raises(wire.Closed):
        for _ in range(1000):
            wire.send(ours, {"x": "y" * 10_000})


GARBAGE = [b"garbage", b"[1]", b"null", b"{}x", b'{"op": "rea', b"\xff", b"[" * 16_000, b"9" * 16_000, b"{" * 5]


@pytest.mark.parametrize("data", GARBAGE)
def test_what_is_not_a_message_is_malformed(ends: Ends, data: bytes) -> None:
    ours, theirs = ends
    theirs.send(data)
    with pytest.raises(wire.Malformed):
        wire.receive(ours)


def test_a_file_that_is_not_a_message_is_malformed_and_closed(ends: Ends) -> None:
    """A pipe would block, and a device has no end."""
    ours, theirs = ends
    read, write = os.pipe()
    zero = os.open("/dev/zero", os.O_RDONLY)
    empty = os.memfd_create("empty")
    sparse = os.memfd_create("sparse")
    os.truncate(sparse, wire.MAX_MESSAGE + 1)
    before = psutil.Process().num_fds()
    for fd in (read, zero, empty, sparse):
        socket.send_fds(theirs, [b"{}"], [fd])
        with pytest.raises(wire.Malformed):
            wire.receive(ours)
    assert psutil.Process().num_fds() == before
    for fd in (read, write, zero, empty, sparse):
        os.close(fd)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_the_text_is_what_json_reads(value: Any) -> None:
    assert json.loads(wire.dumps(value)) == value
    assert wire.loads(wire.dumps(value)) == value


def test_nothing_of_json_that_can_be_replaced_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dumps", "loads", "JSONEncoder", "JSONDecoder"):
        monkeypatch.setattr(json, name, None)
    monkeypatch.setattr("json.encoder.JSONEncoder.iterencode", None)
    assert wire.loads(wire.dumps({"a": [1, None]})) == {"a": [1, None]}


READ = [
    ({"op": "started", "id": "3", "pid": 7}, Started("3", 7)),
    ({"op": "exit", "id": "3", "status": 9, "max_rss_bytes": 5}, Exited("3", 9, 5)),
    ({"op": "exit", "id": "3", "fork_failed": "no"}, Exited("3", fork_failed="no")),
    ({"op": "ready", "ok": True, "reads": {"began": 1}}, Ready(True, reads={"began": 1})),
]


@pytest.mark.parametrize(("document", "message"), READ)
def test_a_report_of_a_server_is_a_value(document: dict[str, Any], message: messages.Message) -> None:
    assert messages.parse(document) == message


FORGED: list[dict[str, Any]] = [
    {},
    {"op": 3},
    {"op": []},
    {"op": "kill", "id": "3"},
    {"op": "ready"},
    {"op": "ready", "ok": 1},
    {"op": "ready", "ok": True, "reads": 3},
    {"op": "ready", "ok": True, "reads": [3]},
    {"op": "ready", "ok": True, "environment": {"triton": 3}},
    {"op": "ready", "ok": False, "event": []},
    {"op": "started", "id": "3"},
    {"op": "started", "id": 3, "pid": 7},
    {"op": "started", "id": "3", "pid": True},
    {"op": "exit", "status": 0},
    {"op": "exit", "id": "3", "status": -1},
    {"op": "exit", "id": "3", "status": 1 << 20},
    {"op": "exit", "id": "3", "status": 0.5},
    {"op": "exit", "id": "3", "status": 0, "max_rss_bytes": -1},
    {"op": "exit", "id": "3", "status": 0, "cpu_s": float("inf")},
]


@pytest.mark.parametrize("document", FORGED, ids=json.dumps)
def test_a_report_that_no_server_makes_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        messages.parse(document)
