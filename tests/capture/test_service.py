"""The guard's service and its clients when something goes wrong between them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import psutil
import pytest
from commands import KERNELS, new_cache

from triage.capture.program import service
from triage.capture.program.service import Gone, Service
from triage.capture.service.start import Settings, end_services, variable
from triage.model.case import Case
from triage.model.target import Target

MISSING = {"op": "compile", "number": 0, "folder": "/no/such/folder"}
"""A question that needs no compiler."""


def described(folder: Path, *command: str) -> str:
    """The description of a service that ``command`` starts."""
    return json.dumps({"folder": str(folder), "command": list(command)})


def asked(client: Service, count: int = 1) -> list[str]:
    """The texts of the answers to questions about a case that does not exist."""
    answers = client.ask([{**MISSING, "number": number} for number in range(count)])
    assert {answer["status"] for answer in answers} == {"undecided"}
    return [answer["text"] for answer in answers]


def connected(folder: Path) -> socket.socket:
    """A connection that is no guard's."""
    (name,) = (path.name for path in folder.iterdir() if stat.S_ISSOCK(path.lstat().st_mode))
    connection = service.connect(str(folder), name)
    assert connection is not None
    return connection


def served(folder: Path) -> list[psutil.Process]:
    """The services of a folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if str(folder) in " ".join(process.info["cmdline"] or ()) and process.pid != os.getpid():
            found.append(process)
    return found


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it comes true within half a minute."""
    until = time.monotonic() + 30
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


@pytest.fixture(scope="module")
def sockets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose path is longer than a socket's may be, for a service that the tests of this module share."""
    folder = tmp_path_factory.mktemp("sockets") / ("long" * 30)
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_TRIAGE_CACHE", str(new_cache(folder.parent / "cache")))
        yield folder
    end_services(folder)


@pytest.fixture
def client(sockets: Path) -> Iterator[Service]:
    """A program's side, connected; the service must answer at the end as well, and be the same."""
    client = Service(variable(sockets, Settings()))
    asked(client)
    before = served(sockets)
    yield client
    assert "no such file" in asked(client)[0]
    assert served(sockets) == before


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n", b"[]\n", b"null\n", b"{}\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"x" * (1 << 21),
        b'{"op": "compile"}\n', b'{"op": "compile", "number": "1", "folder": "/"}\n',
        b'{"op": "compile", "number": 1e999, "folder": "/"}\n', b'{"op": "other", "number": 1, "folder": "/"}\n',
    ],
    ids=lambda line: line[:30].decode("latin-1").strip(),
)  # fmt: skip
def test_it_hangs_up_on_what_is_no_question(client: Service, sockets: Path, line: bytes) -> None:
    with connected(sockets) as connection:
        try:
            connection.sendall(line)
            assert connection.recv(1) == b""
        except ConnectionError:
            pass


@pytest.mark.parametrize("folder", ["\0", "/" + "long" * 5000, "/proc/self/mem", "\ud800", "relative"])
def test_a_folder_that_cannot_be_read_is_undecided(client: Service, folder: str) -> None:
    (answer,) = client.ask([{**MISSING, "folder": folder}])
    assert answer["status"] == "undecided"


def test_clients_that_say_nothing_or_half_a_line_keep_nobody_waiting(client: Service, sockets: Path) -> None:
    silent = [connected(sockets) for _ in range(20)]
    for connection in silent[:10]:
        connection.sendall(b'{"op": "comp')
    began = time.monotonic()
    asked(client)
    assert time.monotonic() - began < 2
    for connection in silent:
        connection.close()


def test_a_client_that_reads_no_answer_is_dropped(client: Service, sockets: Path) -> None:
    with connected(sockets) as connection:
        connection.settimeout(10)
        with pytest.raises((ConnectionError, TimeoutError)):
            for _ in range(20_000):
                connection.sendall(json.dumps(MISSING).encode() + b"\n")
        asked(client)


def test_two_hundred_clients_are_answered(client: Service, sockets: Path) -> None:
    connections = [connected(sockets) for _ in range(200)]
    for connection in connections:
        connection.sendall(json.dumps(MISSING).encode() + b"\n")
    for connection in connections:
        # An answer may come in parts.
        with connection.makefile() as answers:
            assert json.loads(answers.readline())["status"] == "undecided"
        connection.close()


def test_many_questions_at_once_are_answered(client: Service) -> None:
    assert len(asked(client, 5000)) == 5000


def test_threads_ask_together(client: Service) -> None:
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.extend(asked(client, 10))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 200


@pytest.mark.slow
def test_a_target_newer_than_the_table_is_a_notice(client: Service, tmp_path: Path) -> None:
    shutil.copy(KERNELS, tmp_path)
    types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    case = Case(tmp_path, KERNELS.name, "add", types, {"BLOCK": 64}, target=Target.parse("cuda:160"))
    (tmp_path / "case.json").write_text(json.dumps(case.to_json()))
    (answer,) = client.ask([{**MISSING, "folder": str(tmp_path)}])
    assert [notice.partition(" is ")[0] for notice in answer["notices"]] == ["cuda:160"]


@pytest.mark.slow
def test_one_that_was_stopped_is_continued(client: Service, sockets: Path) -> None:
    for process in served(sockets):
        process.suspend()
    began = time.monotonic()
    asked(client)
    assert time.monotonic() - began < 2 * 3 * service.SIGN_S


def test_what_keeps_getting_stopped_is_given_up(
    client: Service, sockets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (process,) = served(sockets)
    other = Service(client.description)
    monkeypatch.setattr(service, "resume", lambda pid: None)
    monkeypatch.setattr(service, "SIGN_S", 0.05)
    process.suspend()
    with pytest.raises(Gone, match="the guard's service was stopped"):
        asked(other)
    began = time.monotonic()
    with pytest.raises(Gone, match="the guard's service was stopped"):
        asked(other)
    assert time.monotonic() - began < 0.05, "the next compile does not wait"
    monkeypatch.undo()
    process.resume()


def test_a_signal_handler_of_the_program_ends_the_wait(client: Service, sockets: Path) -> None:
    """TimeoutError is what an alarm commonly raises, and an OSError."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("the program's")

    (process,) = served(sockets)
    process.suspend()
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError, match="the program's"):
            asked(client)
    finally:
        signal.signal(signal.SIGALRM, before)
        process.resume()


def test_one_that_is_killed_is_replaced_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_TRIAGE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "sockets"
    client = Service(variable(folder, Settings()))
    # As a program may have set them.
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN), signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])
    try:
        asked(client)
        descriptors = list(client._present.values())
        for process in served(folder):
            process.kill()
        asked(client)
        assert len(list(folder.glob("*-*"))) == 1, "what a killed one left is removed"
        (second,) = served(folder)
        assert second.children() == []
        for path in folder.iterdir():
            if stat.S_ISSOCK(path.lstat().st_mode):
                path.unlink()
        descriptors += client._present.values()
        asked(client)
        (third,) = (process for process in served(folder) if process != second)
        third.suspend()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD, signal.SIGTERM])
        signal.signal(signal.SIGCHLD, before[0])
        signal.signal(signal.SIGPIPE, before[1])
        for descriptor in (*descriptors, *client._present.values()):
            os.close(descriptor)
        end_services(folder)
    assert eventually(lambda: not served(folder) and not folder.exists())


PYTHON = sys.executable
SLEEPS = "import os, sys, time; os.write(int(sys.argv[-1]), b'%d\\n' % os.getpid()); time.sleep(100)"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("/no/such/python",), "does not start: .*/no/such/python: (not found|No such file or directory)"),
        ((PYTHON, "-c", "raise ImportError('no module named x')"), "does not start: ImportError: no module named x"),
        ((PYTHON, "-c", ""), "does not start: it was killed"),
        ((PYTHON, "-c", SLEEPS), "does not start: "),
        (("sleep",), "does not start: "),
    ],
    ids=["missing", "raises", "dies", "hangs", "no service"],
)
def test_what_does_not_start_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], reason: str
) -> None:
    monkeypatch.setattr(service, "SIGN_S", 0.05)
    client = Service(described(tmp_path, *command))
    with pytest.raises(Gone, match=reason):
        asked(client)
    monkeypatch.undo()
    began = time.monotonic()
    for other in (client, Service(client.description)):
        with pytest.raises(Gone, match=reason):
            asked(other)
    assert time.monotonic() - began < 0.1, "neither its next compile nor another process waits for the same"
    assert eventually(lambda: not served(tmp_path)), "one that is still starting ends when it finds nobody"


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Gone, match="Not a directory"):
        asked(Service(described(tmp_path / "file" / "folder", "true")))
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    if os.geteuid() == 0:
        os.chown(foreign, 12345, 12345)
        with pytest.raises(Gone, match="belongs to another user"):
            asked(Service(described(foreign, "true")))
