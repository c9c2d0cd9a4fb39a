"""The requests of a ``--dry-run`` as a document, in order; nothing is sent."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from triage.publish.github import duplicates
from triage.publish.github.endpoints import ApiRequest, Endpoints
from triage.publish.github.message import Gist, Message, word
from triage.publish.github.post import PostRequest

SCHEMA = "triton-triage/attach/1"
_UNKNOWN_GIST = Gist("{gist_id}", "{gist_url}")
"""Values in braces are known only from responses."""


def plan(endpoints: Endpoints, message: Message, wish: PostRequest) -> dict[str, Any]:
    """The document. ``when`` states the condition of a request that is not always sent."""
    steps = list(_looks(endpoints, message, wish)) + list(_posts(endpoints, message, wish))
    return {
        "schema": SCHEMA,
        "sent": False,
        "api": endpoints.server.api,
        "repository": str(endpoints.repository),
        "requests": [{**request.to_json(), "when": when} for request, when in steps],
    }


def _looks(endpoints: Endpoints, message: Message, wish: PostRequest) -> Iterator[tuple[ApiRequest, str | None]]:
    yield endpoints.user(), None
    yield endpoints.viewer(), "the token is one of GitHub Actions, which may not ask for /user"
    yield endpoints.about(), None
    if wish.issue is None:
        yield endpoints.newest(), None
    else:
        yield endpoints.issue(wish.issue), None
        yield endpoints.comments(wish.issue, 1), "and the pages after it, while they are full"
    for search in duplicates.queries(endpoints, message.signature, message.headline):
        yield search, None if wish.issue is None else "nothing of yours there has the mark"


def _posts(endpoints: Endpoints, message: Message, wish: PostRequest) -> Iterator[tuple[ApiRequest, str | None]]:
    gist = None
    if wish.gist and message.files:
        gist = _UNKNOWN_GIST
        title = f"{message.title} ({word(message.signature)})"
        yield endpoints.gist("{gist_id}"), "the post that is updated names one"
        yield endpoints.edit_gist("{gist_id}", message.files), "the post that is updated names one"
        yield endpoints.make_gist(title, message.files), "no post names one"
    body = message.body(gist)
    if wish.issue is None:
        yield endpoints.open_issue(message.title, body, wish.labels), "no issue has the same signature, or --yes"
    else:
        yield endpoints.comment(wish.issue, body), "nothing of yours there has the mark"
        update = replace(endpoints.edit_comment("{comment_id}", body), purpose="update the comment")
        yield update, "a comment of yours there has the mark"
        yield endpoints.edit_issue(wish.issue, body), "the issue is yours and has the mark"
    if gist is not None:
        yield endpoints.drop_gist("{gist_id}"), "the gist is new, and the post is refused"
