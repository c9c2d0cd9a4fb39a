"""The secret gist of a post: one for each signature and post, created before the post that links it."""

from __future__ import annotations

from dataclasses import dataclass

from triage.model.errors import TriageError
from triage.publish.github import content, faults
from triage.publish.github.client import Client
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.faults import ApiResponse, RequestRefused
from triage.publish.github.mark import gist_of, word
from triage.publish.github.message import Gist, Message


@dataclass(frozen=True, slots=True)
class PostGist:
    """A gist that a post may link. ``made``: it is new, so nothing links it if the post fails."""

    gist: Gist
    made: bool


def keep(client: Client, endpoints: Endpoints, message: Message, login: str, earlier: str) -> PostGist:
    """The gist with the message's files: the one linked in the ``earlier`` body of the post, updated, or a new one.
    Raises TriageError."""
    known = gist_of(earlier)
    if known is not None and _is_ours(client, endpoints, message, login, known):
        return PostGist(_gist(client.read(endpoints.edit_gist(known, message.files)), endpoints), made=False)
    description = f"{message.title} ({word(message.signature)})"
    request = endpoints.make_gist(description, message.files)

    def landed() -> PostGist | None:
        for gist_ in content.gists(client, endpoints.gists()):
            if gist_.get("description") == description and isinstance(gist_.get("id"), str):
                # It may be an older one of the same bug: then its files are brought up to date, and it stays.
                return PostGist(
                    _gist(client.read(endpoints.edit_gist(gist_["id"], message.files)), endpoints), made=False
                )
        return None

    return client.create(request, lambda answer: PostGist(_gist(answer, endpoints), made=True), landed)


def drop(client: Client, endpoints: Endpoints, gist_: PostGist) -> bool:
    """Delete a gist that no post links. False if it still exists, or may."""
    try:
        client.read(endpoints.drop_gist(gist_.gist.identifier))
    except RequestRefused as error:
        return error.status == faults.GONE
    except TriageError:
        return False
    return True


def _is_ours(client: Client, endpoints: Endpoints, message: Message, login: str, identifier: str) -> bool:
    """Whether the gist is the token owner's for this signature: others may edit a post and link another gist."""
    try:
        document = client.read(endpoints.gist(identifier)).document
    except RequestRefused:
        return False
    if not isinstance(document, dict) or not isinstance(document.get("owner"), dict):
        return False
    owner, description = str(document["owner"].get("login")), str(document.get("description"))
    return owner.lower() == login and word(message.signature) in description


def _gist(answer: ApiResponse, endpoints: Endpoints) -> Gist:
    request = endpoints.gists()
    return Gist(content.text(answer, request, "id"), content.text(answer, request, "html_url"))
