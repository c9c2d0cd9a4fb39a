"""Slow and broken servers: a step ends at its time, with one line."""

from __future__ import annotations

import gzip
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache

import pytest
from github_asking import asking, line
from github_server import TOKEN, GitHub, Reply, drip
from rows import one_in

from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.client import Client
from triage.publish.github.endpoints import ApiRequest, Endpoints
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience


def _deaf(connection: socket.socket) -> None:
    time.sleep(5)


@cache
def _zeros() -> bytes:
    return gzip.compress(bytes(20 << 20), 1)


def _zipped(connection: socket.socket) -> None:
    body = _zeros()
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    with suppress(OSError):
        connection.sendall(head.encode() + body)


def _drips(first: bytes, piece: bytes = b" ", pause_s: float = 0.05) -> Callable[[socket.socket], None]:
    def drips(connection: socket.socket) -> None:
        if first:
            connection.recv(1 << 16)
        drip(connection, first, piece, pause_s)

    return drips


_OK = b"HTTP/1.1 200 OK\r\n"
SLOW: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "body": (_drips(_OK + b"Content-Length: 1000\r\n\r\n"), "http"),
    "body without end": (_drips(_OK + b"\r\n"), "http"),
    "chunks": (_drips(_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"), "http"),
    "chunk's size": (_drips(_OK + b"Transfer-Encoding: chunked\r\n\r\n1;"), "http"),
    "trailers": (_drips(_OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n", 0), "http"),
    "status": (_drips(b"HTTP/1.1 200 "), "http"),
    "header": (_drips(_OK + b"X-Long: "), "http"),
    "continue": (_drips(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", 0.001), "http"),
    "silence": (_deaf, "http"),
    "TLS, silence": (_deaf, "https"),
    "TLS, drips": (_drips(b"", b"\x16\x03\x03\x40\x00"), "https"),
}


@pytest.fixture
def misbehaves() -> Iterator[Callable[[Callable[[socket.socket], None]], int]]:
    """Starts a server that treats each connection so; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept(behave: Callable[[socket.socket], None]) -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threading.Thread(target=behave, args=(connection,), daemon=True).start()

        def start(behave: Callable[[socket.socket], None]) -> int:
            threading.Thread(target=accept, args=(behave,), daemon=True).start()
            return int(listening.getsockname()[1])

        yield start
        listening.shutdown(socket.SHUT_RDWR)


Misbehaves = Callable[[Callable[[socket.socket], None]], int]


class TestBounds:
    """Only a complete answer is progress: whatever else a server does, a step ends at its time."""

    @pytest.mark.parametrize("what", one_in(3, SLOW))
    def test_a_slow_answer(self, misbehaves: Misbehaves, what: str) -> None:
        behave, scheme = SLOW[what]
        patience = Patience(connect_s=5, read_s=5, step_s=0.4)
        began = time.monotonic()
        text, code = line(lambda: asking(f"{scheme}://127.0.0.1:{misbehaves(behave)}", patience=patience))
        assert time.monotonic() - began < 2
        assert re.fullmatch(r"cannot look up the repository: no whole answer within 0\.\d s; try again later", text)
        assert code == 3

    def test_a_deaf_tls_server_is_connected_to_again(self, misbehaves: Misbehaves) -> None:
        patience = Patience(connect_s=0.1, tries=2, backoff_s=0.01)
        text, code = line(lambda: asking(f"https://127.0.0.1:{misbehaves(_deaf)}", patience=patience))
        assert "no TLS connection within 0.1 s" in text
        assert code == 3

    def test_a_proxy_that_drips(self, misbehaves: Misbehaves, monkeypatch: pytest.MonkeyPatch) -> None:
        port = misbehaves(_drips(b"HTTP/1.1 200 Connected\r\n", b"X: y\r\n"))
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        text, _ = line(lambda: asking("https://api.github.com", patience=Patience(step_s=0.4)))
        assert re.search(r"no whole answer within 0\.\d s", text)

    def test_an_upload_that_nobody_reads_is_cut_off(self, misbehaves: Misbehaves) -> None:
        """Not one byte of it arrives after the end: what is half sent never becomes whole."""
        cut = threading.Event()

        def reads_late(connection: socket.socket) -> None:
            time.sleep(0.6)
            with suppress(OSError):
                while connection.recv(1 << 20):
                    pass
            cut.set()

        server = GitHubServer.parse(f"http://127.0.0.1:{misbehaves(reads_late)}")
        client = Client(server, Token(TOKEN, "GH_TOKEN"), lambda line: None, Patience(step_s=0.4))
        request = ApiRequest("upload", "PATCH", f"{server.api}/x", {"body": "x" * (16 << 20)})
        text, _ = line(lambda: client.read(request))
        assert re.fullmatch(r"cannot upload: no whole answer within 0\.\d s; try again later", text)
        assert cut.wait(5)

    def test_an_answer_that_unpacks_without_end(self, misbehaves: Misbehaves) -> None:
        _zeros()  # That takes as long as may be waited for an answer.
        text, _ = line(lambda: asking(f"http://127.0.0.1:{misbehaves(_zipped)}"))
        assert "answered 200 with something, not JSON" in text

    @pytest.mark.parametrize(
        "raw",
        [
            _OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
            _OK + b"X: y\r\n" * 1_000 + b"\r\n",
            _OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            _OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n{}",
            _OK + b"Content-Length: 5\r\n\r\n{}",
            b"\x00" * 100,
            b"HTTP/9.9 777777 \r\n\r\n",
        ],
    )
    def test_what_is_not_http(self, misbehaves: Misbehaves, raw: bytes) -> None:
        def send(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                connection.recv(1 << 16)
                connection.sendall(raw)

        assert line(lambda: asking(f"http://127.0.0.1:{misbehaves(send)}"))[1] == 3

    def test_trying_again_and_redirects_are_no_progress(self, github: GitHub) -> None:
        github.fail("GET", "", Reply(502), delay_s=0.15, times=99)
        patience = Patience(step_s=0.5, tries=99, backoff_s=0.01)
        began = time.monotonic()
        line(lambda: asking(github.url, patience=patience))
        assert time.monotonic() - began < 1.5

    def test_no_thread_is_left(self, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
        def start(thread: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", start)
        text, code = line(lambda: asking(github.url))
        assert (text, code) == ("cannot post: no further thread may be started; raise `ulimit -u`", 3)

    def test_all_steps_together(self, github: GitHub) -> None:
        server = GitHubServer.parse(github.url)
        client = Client(server, Token(TOKEN, "GH_TOKEN"), lambda line: None, Patience(whole_s=0.5))
        github.fail("GET", "", Reply(200, {}), delay_s=0.2, times=99)
        began = time.monotonic()

        def ask_for_ever() -> None:
            while True:
                client.read(Endpoints(server, Repository.parse("octo/kernels")).about())

        assert line(ask_for_ever)[1] == 3
        assert time.monotonic() - began < 1.5
