"""Everything that can go wrong between here and GitHub: one line with the mend, the right exit code, no token."""

from __future__ import annotations

import gzip
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from github_server import TOKEN, GitHub, Reply, drip, serve

from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.publish.github import token
from triage.publish.github.address import GitHubServer, Repository, same_origin
from triage.publish.github.client import Client
from triage.publish.github.endpoints import ApiRequest, Endpoints
from triage.publish.github.faults import RequestRefused
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience

pytest.importorskip("urllib3", reason="the extra 'github' is not installed")

QUICK = Patience(connect_s=2, read_s=0.15, step_s=1.5, settle_s=0.3, tries=3, backoff_s=0.01, most_bytes=1 << 20)


def asking(url: str, path: str = "/repos/octo/kernels", patience: Patience = QUICK) -> Any:
    """One look, with the token."""
    client = Client(GitHubServer.parse(url), Token(TOKEN, "GH_TOKEN"), lambda line: None, patience)
    return client.read(ApiRequest("look up the repository", "GET", f"{GitHubServer.parse(url).api}{path}")).document


def line(problem: Callable[[], Any]) -> tuple[str, int]:
    """The line and exit code of what fails."""
    with pytest.raises(TriageError) as caught:
        problem()
    text = str(caught.value)
    assert "\n" not in text
    assert TOKEN.lower() not in text.lower()
    return text, caught.value.exit_code


REFUSALS = [
    (401, {}, "Bad credentials", "the token of GH_TOKEN is not valid any more", 3),
    (403, {}, "Resource not accessible", "it needs the right to write issues", 3),
    (403, {"X-GitHub-SSO": "required; url=https://x"}, "SAML", "single sign-on: authorize the token", 3),
    (403, {}, "Repository was archived so is read-only.", "the repository is archived", 3),
    (404, {}, "Not Found", "not found: check --repo and --issue", 2),
    (410, {}, "Issues are disabled for this repo", "deleted, or issues are switched off", 2),
    (422, {}, "Validation Failed", "GitHub does not accept the values", 2),
    (418, {}, "teapot", "answered with status 418", 3),
]


@pytest.mark.parametrize(("status", "headers", "said", "mend", "code"), REFUSALS)
def test_refusals(github: GitHub, status: int, headers: dict[str, str], said: str, mend: str, code: int) -> None:
    github.fail("GET", "", Reply(status, {"message": said}, headers))
    text, exit_code = line(lambda: asking(github.url))
    assert text.startswith("cannot look up the repository: ")
    assert mend in text
    assert text.endswith(f"(GitHub says: {said})")
    assert (exit_code, len(github.seen)) == (code, 1), "a refusal is final"


def test_what_github_complains_of_is_named(github: GitHub) -> None:
    errors = [{"resource": "Label", "field": "name", "code": "invalid"}, {"message": "too long"}, "odd"]
    github.fail("GET", "", Reply(422, {"message": "Validation Failed", "errors": errors}))
    assert line(lambda: asking(github.url))[0].endswith("(GitHub says: Validation Failed; name invalid; too long; odd)")


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_look_is_repeated_when_the_server_has_trouble(github: GitHub, status: int) -> None:
    github.fail("GET", "", Reply(status, raw=b"<html>"), times=2)
    assert asking(github.url)["full_name"] == "octo/kernels"
    github.fail("GET", "", Reply(status), times=3)
    assert line(lambda: asking(github.url)) == (
        f"cannot look up the repository: 127.0.0.1 has trouble (status {status}); try again later",
        3,
    )


@pytest.mark.parametrize(
    ("reply", "delay_s", "text"),
    [(None, 0, "the connection broke: RemoteDisconnected"), (Reply(200), 0.25, "no answer within 0.15 s")],
)
def test_a_look_is_repeated_without_an_answer(github: GitHub, reply: Reply | None, delay_s: float, text: str) -> None:
    github.fail("GET", "", reply, delay_s=delay_s, times=2)
    assert asking(github.url)["full_name"] == "octo/kernels"
    github.fail("GET", "", reply, delay_s=delay_s, times=3)
    assert line(lambda: asking(github.url)) == (f"cannot look up the repository: {text}; try again later", 3)


LIMITS = [
    ("retry-after", 429, {"Retry-After": "1"}, "slow down"),
    ("reset", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"}, "API rate limit exceeded"),
]


@pytest.mark.parametrize(("status", "headers", "said"), [one[1:] for one in LIMITS], ids=[one[0] for one in LIMITS])
def test_a_short_wait_is_waited(github: GitHub, status: int, headers: dict[str, str], said: str) -> None:
    github.fail("GET", "", Reply(status, {"message": said}, headers))
    notes: list[str] = []
    server = GitHubServer.parse(github.url)
    client = Client(server, Token(TOKEN, "GH_TOKEN"), notes.append, QUICK)
    began = time.monotonic()
    client.read(Endpoints(server, Repository.parse("octo/kernels")).about())
    assert time.monotonic() - began >= 1
    assert notes == ["GitHub asks to wait 1 s (rate limit)"]


@pytest.mark.parametrize(
    ("status", "headers", "said", "seconds"),
    [
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "in 3000 s"}, "API rate limit", 3000),
        (429, {"Retry-After": "600"}, "", 600),
        (403, {}, "You have exceeded a secondary rate limit", 60),
        (403, {}, "You have triggered an abuse detection mechanism", 60),
        (429, {"Retry-After": "soon"}, "", 60),
        (429, {"Retry-After": "9" * 400}, "", 60),
    ],
)
def test_a_long_wait_is_told(github: GitHub, status: int, headers: dict[str, str], said: str, seconds: int) -> None:
    if "X-RateLimit-Reset" in headers:
        # Told as a time of day: that of this test, not of the collection.
        headers = {**headers, "X-RateLimit-Reset": str(int(time.time()) + seconds)}
    github.fail("GET", "", Reply(status, {"message": said}, headers))
    text, code = line(lambda: asking(github.url))
    assert text.startswith("cannot look up the repository: rate limit; run the same command again after ")
    assert abs(int(text.rpartition("(in ")[2].removesuffix(" s)")) - seconds) < 60
    assert (code, len(github.seen)) == (3, 1)


def test_a_limit_that_stays_is_not_waited_for_for_ever(github: GitHub) -> None:
    github.fail("GET", "", Reply(429, {}, {"Retry-After": "0"}), times=9)
    assert "rate limit" in line(lambda: asking(github.url))[0]
    assert len(github.seen) == QUICK.tries


@pytest.mark.parametrize("raw", [b"{", b"<html>Sign in</html>", b"\xff\xfe", b"[" * 100_000])
def test_no_json(github: GitHub, raw: bytes) -> None:
    github.fail("GET", "", Reply(200, raw=raw, headers={"Content-Type": "text/html; charset=x"}))
    text, code = line(lambda: asking(github.url))
    assert text.endswith("127.0.0.1 answered 200 with text/html, not JSON: check --api-url and the proxy")
    assert (code, len(github.seen)) == (3, 1)


def test_an_answer_without_end(github: GitHub) -> None:
    github.fail("GET", "", Reply(200, raw=b" " * (2 << 20)), times=3)
    assert "an answer of more than 1 MiB" in line(lambda: asking(github.url))[0]


class TestNoServer:
    def test_nobody_listens(self) -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{held.getsockname()[1]}"
        text, code = line(lambda: asking(url))
        assert text == "cannot look up the repository: no connection: Connection refused; is there a network?"
        assert code == 3

    def test_the_name_is_not_known(self) -> None:
        text, code = line(lambda: asking("https://ghe.invalid"))
        assert text.startswith("cannot look up the repository: the name ghe.invalid is not known here")
        assert code == 3


def _deaf(connection: socket.socket) -> None:
    time.sleep(5)


def _zipped(connection: socket.socket) -> None:
    body = gzip.compress(bytes(20 << 20), 1)
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

    @pytest.mark.parametrize("what", SLOW)
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


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One that nobody has signed, for localhost."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    key, signed = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(signed)]
    subprocess.run(command, check=True, capture_output=True)
    return key, signed


class TestTls:
    @pytest.fixture
    def url(self, certificate: tuple[Path, Path], github: GitHub) -> Any:
        server = serve(github)
        key, signed = certificate
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(signed, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield f"https://localhost:{server.server_address[1]}"
        server.shutdown()
        server.server_close()

    def test_a_certificate_that_nobody_trusts(self, url: str, github: GitHub) -> None:
        text, code = line(lambda: asking(url))
        assert "TLS with localhost failed: self" in text
        assert text.endswith("where your company signs, name its certificates in SSL_CERT_FILE")
        assert (code, github.seen) == (3, [])

    def test_the_mend_mends(self, url: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
        assert asking(url)["full_name"] == "octo/kernels"

    def test_another_name(self, url: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
        assert (
            "TLS with 127.0.0.1 failed: IP address mismatch"
            in line(lambda: asking(url.replace("localhost", "127.0.0.1")))[0]
        )

    def test_no_tls_at_all(self, github: GitHub) -> None:
        assert "TLS with 127.0.0.1 failed" in line(lambda: asking(github.url.replace("http:", "https:")))[0]


class TestToken:
    @pytest.fixture
    def other(self) -> Any:
        """Somebody else's server."""
        made = GitHub()
        server = serve(made)
        yield made
        server.shutdown()
        server.server_close()

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_it_is_not_sent_elsewhere(self, github: GitHub, other: GitHub, status: int) -> None:
        github.fail("GET", "", Reply(status, {"message": "Moved"}, {"Location": f"{other.url}/repos/octo/kernels"}))
        text, code = line(lambda: asking(github.url))
        assert text == (
            "cannot look up the repository: redirected to 127.0.0.1, which gets nothing from here: check --api-url"
        )
        assert (code, other.seen) == (3, [])

    @pytest.mark.parametrize(
        "location", ["//evil.example/x", "ftp://127.0.0.1/", "http://[", "", "https://@127.0.0.1/"]
    )
    def test_nor_to_what_is_no_address(self, github: GitHub, location: str) -> None:
        github.fail("GET", "", Reply(307, {"message": "Moved"}, {"Location": location}), times=9)
        line(lambda: asking(github.url))

    def test_a_circle_of_redirects_ends(self, github: GitHub) -> None:
        github.fail("GET", "", Reply(301, None, {"Location": f"{github.url}/user"}), times=99)
        line(lambda: asking(github.url))
        assert len(github.seen) < 10

    def test_a_server_that_says_it_back(self, github: GitHub) -> None:
        github.fail("GET", "", Reply(403, {"message": f"you sent Bearer {TOKEN}"}))
        assert "you sent Bearer ***" in line(lambda: asking(github.url))[0]

    def test_a_server_that_says_it_back_elsewhere(self, github: GitHub) -> None:
        github.fail("GET", "", Reply(200, raw=b"{", headers={"Content-Type": TOKEN}))
        assert "answered 200 with ***" in line(lambda: asking(github.url))[0]
        github.fail("GET", "", Reply(301, None, {"Location": f"https://{TOKEN}.example/"}))
        line(lambda: asking(github.url))

    def test_it_shows_in_no_repr(self) -> None:
        made = Token(TOKEN, "GH_TOKEN")
        assert TOKEN not in f"{made!r} {made} {vars(Client)}"

    @pytest.mark.parametrize("value", ["two words", "line\nbreak", "ünicode", "\x00"])
    def test_one_that_no_header_can_hold(self, value: str) -> None:
        with pytest.raises(EnvironmentFault) as caught:
            Token(value, "GH_TOKEN")
        assert value not in str(caught.value)

    @pytest.mark.parametrize(
        ("api_url", "environ", "source"),
        [
            (None, {"GH_TOKEN": "a", "GITHUB_TOKEN": "b"}, "GH_TOKEN"),
            (None, {"GH_TOKEN": " ", "GITHUB_TOKEN": "b"}, "GITHUB_TOKEN"),
            ("https://api.octo.ghe.com", {"GITHUB_TOKEN": "b"}, "GITHUB_TOKEN"),
            ("https://ghe.example.com", {"GH_TOKEN": "a", "GH_ENTERPRISE_TOKEN": "c"}, "GH_ENTERPRISE_TOKEN"),
            ("https://ghe.example.com", {"GITHUB_ENTERPRISE_TOKEN": "d"}, "GITHUB_ENTERPRISE_TOKEN"),
        ],
    )
    def test_where_it_comes_from(self, api_url: str | None, environ: dict[str, str], source: str) -> None:
        assert token.find(GitHubServer.parse(api_url), {**environ, "PATH": ""}).source == source

    @pytest.mark.parametrize(
        ("api_url", "environ", "names"),
        [
            (None, {"GH_ENTERPRISE_TOKEN": "c"}, "no token for github.com: set GH_TOKEN"),
            ("https://ghe.example.com", {"GH_TOKEN": "a"}, "no token for ghe.example.com: set GH_ENTERPRISE_TOKEN"),
        ],
    )
    def test_a_token_for_another_server_is_none(self, api_url: str | None, environ: dict[str, str], names: str) -> None:
        with pytest.raises(EnvironmentFault, match=names):
            token.find(GitHubServer.parse(api_url), {**environ, "PATH": ""})

    def test_gh_is_asked_for_the_host(self, tmp_path: Path) -> None:
        gh = tmp_path / "gh"
        gh.write_text('#!/bin/sh\n[ "$*" = "auth token --hostname ghe.example.com" ] && echo from-gh\n')
        gh.chmod(0o755)
        found = token.find(GitHubServer.parse("https://ghe.example.com"), {"PATH": str(tmp_path)})
        assert (found.authorization(), found.source) == ("Bearer from-gh", "gh auth token")

    def test_a_gh_that_knows_none(self, tmp_path: Path) -> None:
        gh = tmp_path / "gh"
        gh.write_text("#!/bin/sh\necho not logged in; exit 1\n")
        gh.chmod(0o755)
        with pytest.raises(EnvironmentFault, match=r"no token for github\.com"):
            token.find(GitHubServer.parse(None), {"PATH": str(tmp_path)})


class TestProxy:
    @pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "http://user:pa55word@127.0.0.1:9"])
    def test_the_one_of_the_environment_is_used(self, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
        monkeypatch.setenv("https_proxy", proxy)
        text, _ = line(lambda: asking("https://api.github.com"))
        assert "the proxy of the environment does not work: Connection refused" in text
        assert "pa55word" not in text

    def test_not_for_localhost(self, monkeypatch: pytest.MonkeyPatch, github: GitHub) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        assert asking(github.url)["full_name"] == "octo/kernels"

    def test_one_that_is_no_url(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("https_proxy", "socks5://user:pa55word@127.0.0.1:9")
        text, _ = line(lambda: asking("https://api.github.com"))
        assert "must be an http(s):// URL" in text
        assert "pa55word" not in text


SERVERS = [
    (None, "https://api.github.com", "https://github.com", "github.com", False),
    ("https://api.github.com/", "https://api.github.com", "https://github.com", "github.com", False),
    ("https://ghe.example.com", "https://ghe.example.com/api/v3", "https://ghe.example.com", "ghe.example.com", True),
    ("https://ghe.ex:8443/api/v3/", "https://ghe.ex:8443/api/v3", "https://ghe.ex:8443", "ghe.ex:8443", True),
    ("https://api.octo.ghe.com", "https://api.octo.ghe.com", "https://octo.ghe.com", "octo.ghe.com", False),
    ("http://localhost:4010", "http://localhost:4010", "http://localhost:4010", "localhost:4010", True),
]  # fmt: skip


@pytest.mark.parametrize(("given", "api", "web", "host", "enterprise"), SERVERS)
def test_servers(given: str | None, api: str, web: str, host: str, enterprise: bool) -> None:
    server = GitHubServer.parse(given)
    assert (server.api, server.web, server.host, server.enterprise) == (api, web, host, enterprise)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("http://ghe.example.com", "https:// only"),
        ("http://localhost.evil.example", "https:// only"),
        ("ghe.example.com", "no address of an API"),
        ("ftp://ghe.example.com", "no address of an API"),
        ("https://", "no address of an API"),
        ("https://ghe.example.com?x=1", "no address of an API"),
        ("https://ghe.example.com:99999", "Port out of range"),
        ("https://[::1", "Invalid IPv6 URL"),
        ("https://me:pa55word@ghe.example.com", "no user or password"),
        ("https://github.com", "that is the web site; the API is at https://api.github.com"),
        ("https://ghe.exam ple.com", "no address of an API"),
        ("", "no address of an API"),
    ],
)
def test_what_is_no_server(given: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        GitHubServer.parse(given)
    assert text in str(caught.value)
    assert "pa55word" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "kernels",
        "octo/",
        "/kernels",
        "octo/kernels/x",
        "https://github.com/octo/kernels",
        "octo/..",
        "oc to/k",
        "o?/k",
        "",
    ],
)
def test_what_is_no_repository(text: str) -> None:
    with pytest.raises(InputError, match="write OWNER/NAME"):
        Repository.parse(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a/x", "https://a:443/y", True),
        ("https://a/x", "https://A/y", True),
        ("https://a/x", "http://a/x", False),
        ("https://a/x", "https://a.evil/x", False),
        ("https://a/x", "https://a@evil/x", False),
        ("https://a/x", "https://a:444/x", False),
        ("https://a/x", "https://a:x/", False),
    ],
)
def test_the_same_origin(one: str, other: str, same: bool) -> None:
    assert same_origin(one, other) is same


def test_a_refusal_keeps_its_status(github: GitHub) -> None:
    github.fail("GET", "", Reply(404, {"message": "Not Found"}))
    with pytest.raises(RequestRefused) as caught:
        asking(github.url)
    assert caught.value.status == 404
