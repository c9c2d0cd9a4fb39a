"""The secret gist of a post: one for each signature and post, made before the post that names it."""

from __future__ import annotations

from dataclasses import dataclass

from triage.model.errors import TriageError
from triage.publish.github import content, faults
from triage.publish.github.client import Client
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.faults import Answer, Refused
from triage.publish.github.mark import gist_of, word
from triage.publish.github.message import Gist, Message


@dataclass(frozen=True, slots=True)
class Kept:
    """A gist that a post may name. ``made``: it is new, and nobody knows it when the post fails."""

    gist: Gist
    made: bool


def keep(client: Client, endpoints: Endpoints, message: Message, login: str, earlier: str) -> Kept:
    """The gist with the message's files: that of the ``earlier`` body of the post, brought up to date, or a new one.

    Raises TriageError."""
    known = gist_of(earlier)
    if known is not None and _is_ours(client, endpoints, message, login, known):
        return Kept(_gist(client.read(endpoints.edit_gist(known, message.files)), endpoints), made=False)
    description = f"{message.title} ({word(message.signature)})"
    request = endpoints.make_gist(description, message.files)

    def landed() -> Kept | None:
        for one in content.gists(client, endpoints.gists()):
            if one.get("description") == description and isinstance(one.get("id"), str):
                # It may be an older one of the same bug: then its files are brought up to date, and it stays.
                return Kept(_gist(client.read(endpoints.edit_gist(one["id"], message.files)), endpoints), made=False)
        return None

    return client.create(request, lambda answer: Kept(_gist(answer, endpoints), made=True), landed)


def drop(client: Client, endpoints: Endpoints, kept: Kept) -> bool:
    """Delete a gist that no post names. False when it is still there, or may be."""
    try:
        client.read(endpoints.drop_gist(kept.gist.identifier))
    except Refused as error:
        return error.status == faults.GONE
    except TriageError:
        return False
    return True


def _is_ours(client: Client, endpoints: Endpoints, message: Message, login: str, identifier: str) -> bool:
    """Others may edit a post, and could name a gist there that holds something else."""
    try:
        document = client.read(endpoints.gist(identifier)).document
    except Refused:
        return False
    if not isinstance(document, dict) or not isinstance(document.get("owner"), dict):
        return False
    owner, description = str(document["owner"].get("login")), str(document.get("description"))
    return owner.lower() == login and word(message.signature) in description


def _gist(answer: Answer, endpoints: Endpoints) -> Gist:
    request = endpoints.gists()
    return Gist(content.text(answer, request, "id"), content.text(answer, request, "html_url"))
