"""Addresses of servers and repositories."""

from __future__ import annotations

import pytest

from triage.model.errors import InputError
from triage.publish.github.address import GitHubServer, Repository, same_origin

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
