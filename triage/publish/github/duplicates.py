"""Existing issues with the same signature, and issues with a similar headline."""

import re
from dataclasses import dataclass
from typing import Any

from triage.model.errors import EnvironmentFault
from triage.publish.github import faults, message
from triage.publish.github.client import Client
from triage.publish.github.endpoints import ApiRequest, Endpoints

_MOST_QUERY = 200
"""Characters of search words: GitHub takes 256 without qualifiers, and a long query finds nothing."""
_WORD = re.compile(r"[A-Za-z0-9_]{2,}")


@dataclass(frozen=True, slots=True)
class Similar:
    """A possible duplicate. ``exact``: the issue or a comment on it contains the signature's digest."""

    number: int
    title: str
    state: str
    url: str
    exact: bool


def queries(endpoints: Endpoints, signature: str, headline: str) -> list[ApiRequest]:
    """The searches: for the signature's digest, then for the headline's words."""
    marked = endpoints.search("search for the signature", f'"{message.digest(signature)}"')
    words = ""
    # Lower-cased because AND, OR and NOT would be operators.
    for word in dict.fromkeys(word.lower() for word in _WORD.findall(headline)):
        if len(words) + len(word) + 1 > _MOST_QUERY:
            break
        words = f"{words} {word}".strip()
    return [marked, endpoints.search("search for the headline", words)] if words else [marked]


def search(client: Client, endpoints: Endpoints, signature: str, headline: str) -> list[Similar]:
    """What the searches find, each issue once, those with the same signature first. Raises TriageError."""
    issues: dict[int, Similar] = {}
    by_signature, *others = queries(endpoints, signature, headline)
    for request in (by_signature, *others):
        document = client.read(request).document
        items = document.get("items") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise faults.unexpected(request, "list of issues")
        for item in items:
            issue = _similar(item, message.digest(signature))
            if issue is not None and not (issue.number in issues and issues[issue.number].exact):
                issues[issue.number] = issue
        if request is by_signature and document.get("incomplete_results") is True and not issues:
            # GitHub aborted the search, so missing results prove nothing.
            raise EnvironmentFault(f"cannot {request.purpose}: GitHub did not finish it; try again later")
    return sorted(issues.values(), key=lambda issue: (not issue.exact, issue.state != "open"))


def _similar(item: Any, word: str) -> Similar | None:
    if not isinstance(item, dict) or not isinstance(item.get("number"), int):
        return None
    title, state, url = (str(item.get(key) or "") for key in ("title", "state", "html_url"))
    matches = item.get("text_matches")
    listed = matches if isinstance(matches, list) else []
    fragments = [match.get("fragment") for match in listed if isinstance(match, dict)]
    # The search is fuzzy: only the text that it returns states whether it is the same.
    exact = any(word in str(text or "") for text in (item.get("body"), *fragments))
    return Similar(item["number"], title, state, url, exact)
