"""What GitHub refuses and what does not answer: one line with the fix, the right exit code, no token."""

from __future__ import annotations

import gc
import socket
import time

import pytest
from github_asking import QUICK, asking, line
from github_server import TOKEN, GitHub, Reply

from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.client import Client
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.faults import RequestRefused
from triage.publish.github.token import Token

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


@pytest.mark.parametrize(("status", "headers", "reason", "fix", "code"), REFUSALS)
def test_refusals(github: GitHub, status: int, headers: dict[str, str], reason: str, fix: str, code: int) -> None:
    github.fail("GET", "", Reply(status, {"message": reason}, headers))
    text, exit_code = line(lambda: asking(github.url))
    assert text.startswith("cannot look up the repository: ")
    assert fix in text
    assert text.endswith(f"(GitHub says: {reason})")
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


@pytest.mark.parametrize(("status", "headers", "reason"), [row[1:] for row in LIMITS], ids=[row[0] for row in LIMITS])
def test_a_short_wait_is_waited(github: GitHub, status: int, headers: dict[str, str], reason: str) -> None:
    github.fail("GET", "", Reply(status, {"message": reason}, headers))
    notes: list[str] = []
    server = GitHubServer.parse(github.url)
    client = Client(server, Token(TOKEN, "GH_TOKEN"), notes.append, QUICK)
    began = time.monotonic()
    client.read(Endpoints(server, Repository.parse("octo/kernels")).about())
    assert time.monotonic() - began >= 1
    assert notes == ["GitHub asks to wait 1 s (rate limit)"]


@pytest.mark.parametrize(
    ("status", "headers", "reason", "seconds"),
    [
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "in 3000 s"}, "API rate limit", 3000),
        (429, {"Retry-After": "600"}, "", 600),
        (403, {}, "You have exceeded a secondary rate limit", 60),
        (403, {}, "You have triggered an abuse detection mechanism", 60),
        (429, {"Retry-After": "soon"}, "", 60),
        (429, {"Retry-After": "9" * 400}, "", 60),
    ],
)
def test_a_long_wait_is_reported(
    github: GitHub, status: int, headers: dict[str, str], reason: str, seconds: int
) -> None:
    if "X-RateLimit-Reset" in headers:
        # Told as a time of day: that of this test, not of the collection.
        headers = {**headers, "X-RateLimit-Reset": str(int(time.time()) + seconds)}
    github.fail("GET", "", Reply(status, {"message": reason}, headers))
    text, code = line(lambda: asking(github.url))
    assert text.startswith("cannot look up the repository: rate limit; run the same command again after ")
    assert abs(int(text.rpartition("(in ")[2].removesuffix(" s)")) - seconds) < 60
    assert (code, len(github.seen)) == (3, 1)


def test_a_limit_that_stays_is_not_waited_for_for_ever(github: GitHub) -> None:
    github.fail("GET", "", Reply(429, {}, {"Retry-After": "0"}), times=9)
    assert "rate limit" in line(lambda: asking(github.url))[0]
    assert len(github.seen) == QUICK.tries


@pytest.mark.parametrize("raw", [b"{", b"<html>Sign in</html>", b"\xff\xfe", b"[" * 100_000])
def test_not_json(github: GitHub, raw: bytes) -> None:
    gc.collect()  # What earlier tests left cannot be finalized in the depth that the last of these is read in.
    github.fail("GET", "", Reply(200, raw=raw, headers={"Content-Type": "text/html; charset=x"}))
    text, code = line(lambda: asking(github.url))
    assert text.endswith("127.0.0.1 answered 200 with text/html, not JSON: check --api-url and the proxy")
    assert (code, len(github.seen)) == (3, 1)


def test_an_answer_without_end(github: GitHub) -> None:
    github.fail("GET", "", Reply(200, raw=b" " * (2 << 20)), times=3)
    assert "an answer of more than 1 MiB" in line(lambda: asking(github.url))[0]


def test_a_refusal_keeps_its_status(github: GitHub) -> None:
    github.fail("GET", "", Reply(404, {"message": "Not Found"}))
    with pytest.raises(RequestRefused) as caught:
        asking(github.url)
    assert caught.value.status == 404


class TestNoServer:
    def test_nothing_listens(self) -> None:
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
