"""What stands in a server's answers, read with care: an answer is as foreign as a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from triage.publish.github import faults
from triage.publish.github.client import Client
from triage.publish.github.endpoints import PAGE, Endpoints, Request
from triage.publish.github.faults import Answer, Refused

_MOST_PAGES = 100
"""Ten thousand comments: where an issue has more, the mark is looked for in the first ten thousand."""


@dataclass(frozen=True, slots=True)
class Post:
    """An issue or comment: ``identifier`` is an issue's number, or a comment's id."""

    identifier: int
    url: str
    author: str
    body: str


def whose(client: Client, endpoints: Endpoints) -> str:
    """The login of the token's owner."""
    try:
        request = endpoints.user()
        document = client.read(request).document
    except Refused as error:
        if error.status != 403:
            raise
        request = endpoints.viewer()
        data = _object(client.read(request).document).get("data")
        document = _object(data).get("viewer")
    login = _object(document).get("login")
    if not isinstance(login, str) or not login:
        raise faults.unexpected(request, "login")
    return _plain(login)


def comments(client: Client, endpoints: Endpoints, number: int) -> Iterator[Post]:
    """All comments of an issue, page by page."""
    for page in range(1, _MOST_PAGES + 1):
        request = endpoints.comments(number, page)
        found = _elements(client.read(request), request)
        yield from (post(one, request, "id") for one in found)
        if len(found) < PAGE:
            return


def newest(client: Client, endpoints: Endpoints) -> list[Post]:
    """The newest issues, without pull requests, which GitHub counts among them."""
    request = endpoints.newest()
    found = _elements(client.read(request), request)
    return [post(one, request, "number") for one in found if "pull_request" not in _object(one)]


def gists(client: Client, request: Request) -> list[dict[str, Any]]:
    """The newest gists of the token's owner."""
    return [_object(one) for one in _elements(client.read(request), request)]


def post(document: Any, request: Request, key: str) -> Post:
    """An issue (``key`` is ``number``) or a comment (``id``). Raises Unanswered for what is neither."""
    found = _object(document)
    identifier, url = found.get(key), found.get("html_url")
    if not isinstance(identifier, int) or not isinstance(url, str):
        raise faults.unexpected(request, f"{key} and address of a post")
    # The author is null where the account was deleted, the body where it is empty.
    author, body = _object(found.get("user")).get("login"), found.get("body")
    return Post(identifier, url, _plain(str(author or "")), str(body or ""))


def text(answer: Answer, request: Request, key: str) -> str:
    """A text that must be there."""
    value = _object(answer.document).get(key)
    if not isinstance(value, str) or not value:
        raise faults.unexpected(request, key)
    return value


def flag(answer: Answer, key: str, otherwise: bool) -> bool:
    """A boolean that older servers may not send."""
    value = _object(answer.document).get(key)
    return value if isinstance(value, bool) else otherwise


def names(answer: Answer, key: str) -> set[str]:
    """The names of the objects in a list, in lower case, which is how GitHub compares labels."""
    found = _object(answer.document).get(key)
    return {str(_object(one).get("name")).lower() for one in found} if isinstance(found, list) else set()


def _plain(login: str) -> str:
    """GraphQL and REST spell an app's login differently; upper and lower case are the same to GitHub."""
    return login.lower().removesuffix("[bot]")


def _elements(answer: Answer, request: Request) -> list[Any]:
    if not isinstance(answer.document, list):
        raise faults.unexpected(request, "list")
    return answer.document


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
