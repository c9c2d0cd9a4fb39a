"""The secret gist of a post: one for each signature and post, created before the post that links it."""

from dataclasses import replace

from triage.model.errors import TriageError
from triage.publish.github import content, faults
from triage.publish.github.client import Client
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.faults import ApiResponse, RequestRefused
from triage.publish.github.message import Gist, Message, gist_of, word


def keep(client: Client, endpoints: Endpoints, message: Message, login: str, earlier: str) -> Gist:
    """The gist with the message's files: the one linked in the ``earlier`` body of the post, updated, or a new one.
    Raises TriageError."""

    def updated(identifier: str) -> Gist:
        return _gist(client.read(endpoints.edit_gist(identifier, message.files)), endpoints)

    known = gist_of(earlier)
    if known is not None and _is_ours(client, endpoints, message, login, known):
        return updated(known)
    description = f"{message.title} ({word(message.signature)})"

    def landed() -> Gist | None:
        for listed in content.gists(client, endpoints.gists()):
            if listed.get("description") == description and isinstance(listed.get("id"), str):
                # It may be an older one of the same bug: then its files are brought up to date, and it stays.
                return updated(listed["id"])
        return None

    request = endpoints.make_gist(description, message.files)
    return client.create(request, lambda answer: replace(_gist(answer, endpoints), new=True), landed)


def drop(client: Client, endpoints: Endpoints, gist: Gist) -> bool:
    """Delete a gist that no post links. False if it still exists, or may."""
    try:
        client.tidy(endpoints.drop_gist(gist.identifier))
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
