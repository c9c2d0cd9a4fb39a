"""The URL of a new issue with title and text filled in, for users without a token.

Triton's bug form cannot be prefilled: its fields have no ``id``, which GitHub requires
(.github/ISSUE_TEMPLATE/bug.yml). Blank issues are allowed there, so the text has the form's headings, in its order."""

from urllib.parse import urlencode

from triage.publish.document import Document
from triage.publish.formats import markdown
from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.message import last_line

_MOST_URL = 8_000
"""Bytes: GitHub answers URLs of more than 8,192 with status 414."""
_STEP = 0.8
"""Factor by which the room shrinks: about six steps from a long report to one that fits."""
_LEAST = 200
"""Characters below which nothing of a report remains."""


def prefilled(
    server: GitHubServer,
    repository: Repository,
    document: Document,
    title: str,
    signature: str,
    labels: tuple[str, ...],
) -> tuple[str, bool]:
    """A URL with as much of the report as fits, and whether parts were left out; the text names them."""
    whole = markdown.render(document)
    body, room = whole, len(whole)
    end = last_line(signature)
    while len(url := _url(server, repository, title, f"{body}\n{end}\n", labels)) > _MOST_URL:
        room = int(min(room, _MOST_URL) * _STEP)
        body = markdown.render(document, room) if room >= _LEAST else "The report was too long for an address."
        if room < _LEAST:
            return _url(server, repository, title, f"{body}\n{end}\n", ()), True
    return url, body != whole


def _url(server: GitHubServer, repository: Repository, title: str, body: str, labels: tuple[str, ...]) -> str:
    fields = {"title": title, "body": body, **({"labels": ",".join(labels)} if labels else {})}
    return f"{server.web}/{repository}/issues/new?{urlencode(fields)}"
