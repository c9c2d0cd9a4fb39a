"""Server and repository, parsed once so that no other code builds URLs from user input."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from triage.model.errors import InputError

_GITHUB = "github.com"
_RESIDENCY = ".ghe.com"
"""GitHub.com with data residency: SUBDOMAIN.ghe.com, whose API is at api.SUBDOMAIN.ghe.com."""
_ENTERPRISE_PATH = "/api/v3"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9_.-]{1,100}")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9a-fA-F:.]+")


@dataclass(frozen=True, slots=True)
class GitHubServer:
    """A GitHub server: ``api`` and ``web`` are URLs without trailing slash, ``host`` is its name in ``gh``."""

    api: str
    web: str
    host: str

    @property
    def enterprise(self) -> bool:
        """Whether it is an Enterprise Server, which never gets a token for GitHub.com."""
        return self.host != _GITHUB and not self.host.endswith(_RESIDENCY)

    @property
    def graphql(self) -> str:
        """The GraphQL endpoint, beside ``/v3`` on an Enterprise Server."""
        return f"{self.api.removesuffix('/v3')}/graphql"

    @classmethod
    def parse(cls, api_url: str | None) -> GitHubServer:
        """The server named by ``--api-url``; GitHub.com without one. Raises InputError, which never shows credentials
        in the URL."""
        if api_url is None:
            return cls("https://api.github.com", "https://github.com", _GITHUB)
        parts, host, port = _parts(api_url)
        authority = f"[{host}]{port}" if ":" in host else f"{host}{port}"
        path = parts.path.rstrip("/")
        if host.startswith("api.") and (host == f"api.{_GITHUB}" or host.endswith(_RESIDENCY)):
            bare = host.removeprefix("api.")
            return cls(f"{parts.scheme}://{authority}{path}", f"{parts.scheme}://{bare}{port}", bare)
        if host == _GITHUB or host.endswith(_RESIDENCY):
            raise InputError(f"--api-url {host}: that is the web site; the API is at https://api.{host}")
        if not path and not is_loopback(host):
            path = _ENTERPRISE_PATH
        web = f"{parts.scheme}://{authority}{path.removesuffix(_ENTERPRISE_PATH)}"
        return cls(f"{parts.scheme}://{authority}{path}", web, f"{host}{port}")


@dataclass(frozen=True, slots=True)
class Repository:
    """``owner/name``."""

    full_name: str

    def __str__(self) -> str:
        return self.full_name

    @classmethod
    def parse(cls, text: str) -> Repository:
        """Raises InputError unless the text is OWNER/NAME."""
        if not _REPOSITORY.fullmatch(text) or text.endswith(("/.", "/..")):
            raise InputError(f"--repo {text!r}: write OWNER/NAME, such as triton-lang/triton")
        return cls(text)


def same_origin(first: str, second: str) -> bool:
    """Whether two URLs have the same scheme, host and port, so that the second may receive the first one's
    credentials."""
    try:
        return _origin(first) == _origin(second)
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether the host is this machine, so that traffic to it cannot be read on the way."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _parts(api_url: str) -> tuple[SplitResult, str, str]:
    example = "write a URL such as https://ghe.example.com/api/v3"
    try:
        parts = urlsplit(api_url)
        host, port = (parts.hostname or "").lower(), f":{parts.port}" if parts.port else ""
    except ValueError as error:
        raise InputError(f"--api-url: {error}; {example}") from None
    if parts.username is not None or parts.password is not None:
        raise InputError("--api-url: no user or password may stand in it; the token comes from the environment")
    if parts.scheme not in ("https", "http") or not _HOST.fullmatch(host) or parts.query or parts.fragment:
        raise InputError(f"--api-url {api_url!r}: no address of an API; {example}")
    if parts.scheme == "http" and not is_loopback(host):
        raise InputError(f"--api-url http://{host}: a token is sent over https:// only, but for localhost")
    return parts, host, port
