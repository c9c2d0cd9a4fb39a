"""Certificates, tokens and proxies: whom the token is sent to."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from github_asking import asking, line
from github_server import TOKEN, GitHub, Reply, serve

from triage.model.errors import EnvironmentFault
from triage.publish.github import token
from triage.publish.github.address import GitHubServer
from triage.publish.github.client import Client
from triage.publish.github.token import Token


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

    def test_the_fix_works(self, url: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
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
