"""All requests, as values that show what would be sent, without the token.

Source of paths, parameters and limits: GitHub's published OpenAPI description (api.github.com, version 2022-11-28)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from triage._version import __version__
from triage.publish.github.address import GitHubServer, Repository

PAGE = 100
"""Elements a page: the maximum of GitHub's lists."""
FEW = 5
"""Issues that a search shows: as many as a user reads before posting."""
_VERSION = "2022-11-28"
_JSON = "application/vnd.github+json"
_TEXT_MATCH = "application/vnd.github.text-match+json"
"""Makes a search return where it matched: the issue's text, or a comment's."""
_VIEWER = "query { viewer { login } }"


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request. ``purpose`` describes it in error messages."""

    purpose: str
    method: str
    url: str
    body: Mapping[str, Any] | None = None
    accept: str = _JSON

    def headers(self) -> dict[str, str]:
        """All headers except the one with the token."""
        headers = {
            "Accept": self.accept,
            "User-Agent": f"triton-triage/{__version__}",
            "X-GitHub-Api-Version": _VERSION,
        }
        return {**headers, "Content-Type": "application/json"} if self.body is not None else headers

    def to_json(self) -> dict[str, Any]:
        """What would be sent, without the token."""
        return {
            "purpose": self.purpose,
            "method": self.method,
            "url": self.url,
            "headers": {**self.headers(), "Authorization": "[redacted]"},
            "body": dict(self.body) if self.body is not None else None,
        }


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Requests to one repository of one server. Numbers and identifiers may be placeholder text in a plan."""

    server: GitHubServer
    repository: Repository

    def user(self) -> ApiRequest:
        return ApiRequest("ask whose token it is", "GET", f"{self.server.api}/user")

    def viewer(self) -> ApiRequest:
        """The same for a GitHub Actions token, which may not query ``/user``."""
        body = {"query": _VIEWER}
        return ApiRequest("ask whose token it is", "POST", self.server.graphql, body)

    def about(self) -> ApiRequest:
        return ApiRequest(f"look up the repository {self.repository}", "GET", self._url())

    def search(self, purpose: str, query: str) -> ApiRequest:
        parameters = urlencode({"q": f"repo:{self.repository} is:issue {query}", "per_page": FEW})
        return ApiRequest(purpose, "GET", f"{self.server.api}/search/issues?{parameters}", accept=_TEXT_MATCH)

    def issue(self, number: int) -> ApiRequest:
        return ApiRequest(f"look up issue {number} of {self.repository}", "GET", self._url(f"issues/{number}"))

    def newest(self) -> ApiRequest:
        """The newest issues, closed ones included: search finds an issue only minutes after it was opened."""
        parameters = urlencode({"state": "all", "sort": "created", "direction": "desc", "per_page": PAGE})
        return ApiRequest(f"read the newest issues of {self.repository}", "GET", self._url(f"issues?{parameters}"))

    def open_issue(self, title: str, body: str, labels: tuple[str, ...]) -> ApiRequest:
        document = {"title": title, "body": body, **({"labels": list(labels)} if labels else {})}
        return ApiRequest(f"open an issue in {self.repository}", "POST", self._url("issues"), document)

    def edit_issue(self, number: int | str, body: str) -> ApiRequest:
        purpose = f"update issue {number} of {self.repository}"
        return ApiRequest(purpose, "PATCH", self._url(f"issues/{number}"), {"body": body})

    def comments(self, number: int, page: int) -> ApiRequest:
        parameters = urlencode({"per_page": PAGE, "page": page})
        purpose = f"read the comments of issue {number} of {self.repository}"
        return ApiRequest(purpose, "GET", self._url(f"issues/{number}/comments?{parameters}"))

    def comment(self, number: int, body: str) -> ApiRequest:
        purpose = f"comment on issue {number} of {self.repository}"
        return ApiRequest(purpose, "POST", self._url(f"issues/{number}/comments"), {"body": body})

    def edit_comment(self, identifier: int | str, body: str) -> ApiRequest:
        purpose = f"update comment {identifier} in {self.repository}"
        return ApiRequest(purpose, "PATCH", self._url(f"issues/comments/{identifier}"), {"body": body})

    def gists(self) -> ApiRequest:
        return ApiRequest("look for the gist", "GET", f"{self.server.api}/gists?{urlencode({'per_page': PAGE})}")

    def gist(self, identifier: str) -> ApiRequest:
        return ApiRequest("look up the gist", "GET", self._gist(identifier))

    def make_gist(self, description: str, files: Mapping[str, str]) -> ApiRequest:
        body = {"description": description, "public": False, "files": _files(files)}
        return ApiRequest("make a secret gist", "POST", f"{self.server.api}/gists", body)

    def edit_gist(self, identifier: str, files: Mapping[str, str]) -> ApiRequest:
        return ApiRequest("update the gist", "PATCH", self._gist(identifier), {"files": _files(files)})

    def drop_gist(self, identifier: str) -> ApiRequest:
        return ApiRequest("delete the gist", "DELETE", self._gist(identifier))

    def _url(self, path: str = "") -> str:
        return f"{self.server.api}/repos/{self.repository}{'/' if path else ''}{path}"

    def _gist(self, identifier: str) -> str:
        return f"{self.server.api}/gists/{quote(identifier, safe='{}')}"


def _files(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {name: {"content": text} for name, text in files.items()}
