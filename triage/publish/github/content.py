"""Parses server responses, which are as untrusted as a log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from triage.publish.github import faults
from triage.publish.github.client import Client
from triage.publish.github.endpoints import PAGE, ApiRequest, Endpoints
from triage.publish.github.faults import ApiResponse, RequestRefused

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
    except RequestRefused as error:
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
        elements = _elements(client.read(request), request)
        yield from (post(element, request, "id") for element in elements)
        if len(elements) < PAGE:
            return


def newest(client: Client, endpoints: Endpoints) -> list[Post]:
    """The newest issues, without pull requests, which GitHub counts among them."""
    request = endpoints.newest()
    elements = _elements(client.read(request), request)
    return [post(element, request, "number") for element in elements if "pull_request" not in _object(element)]


def gists(client: Client, request: ApiRequest) -> list[dict[str, Any]]:
    """The newest gists of the token's owner."""
    return [_object(element) for element in _elements(client.read(request), request)]


def post(document: Any, request: ApiRequest, key: str) -> Post:
    """An issue (``key`` is ``number``) or a comment (``id``). Raises Unanswered for anything else."""
    object_ = _object(document)
    identifier, url = object_.get(key), object_.get("html_url")
    if not isinstance(identifier, int) or not isinstance(url, str):
        raise faults.unexpected(request, f"{key} and address of a post")
    # The author is null where the account was deleted, the body where it is empty.
    author, body = _object(object_.get("user")).get("login"), object_.get("body")
    return Post(identifier, url, _plain(str(author or "")), str(body or ""))


def text(answer: ApiResponse, request: ApiRequest, key: str) -> str:
    """A required text field."""
    value = _object(answer.document).get(key)
    if not isinstance(value, str) or not value:
        raise faults.unexpected(request, key)
    return value


def flag(answer: ApiResponse, key: str, default: bool) -> bool:
    """A boolean that older servers may omit."""
    value = _object(answer.document).get(key)
    return value if isinstance(value, bool) else default


def names(answer: ApiResponse, key: str) -> set[str]:
    """Names of the objects in a list, lower-cased as GitHub compares labels."""
    objects = _object(answer.document).get(key)
    return {str(_object(object_).get("name")).lower() for object_ in objects} if isinstance(objects, list) else set()


def _plain(login: str) -> str:
    """The login in lower case without ``[bot]``: GraphQL and REST spell an app's login differently."""
    return login.lower().removesuffix("[bot]")


def _elements(answer: ApiResponse, request: ApiRequest) -> list[Any]:
    if not isinstance(answer.document, list):
        raise faults.unexpected(request, "list")
    return answer.document


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
