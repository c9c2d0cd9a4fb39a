"""Existing issues with the same signature, and issues with a similar headline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from triage.publish.github import faults, mark
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
    marked = endpoints.search("search for the signature", f'"{mark.digest(signature)}"')
    words = _words(headline)
    return [marked, endpoints.search("search for the headline", words)] if words else [marked]


def search(client: Client, endpoints: Endpoints, signature: str, headline: str) -> list[Similar]:
    """What the searches find, each issue once, those with the same signature first. Raises TriageError."""
    found: dict[int, Similar] = {}
    by_signature, *others = queries(endpoints, signature, headline)
    for request in (by_signature, *others):
        document = client.read(request).document
        items = document.get("items") if isinstance(document, dict) else None
        if not isinstance(items, list):
            raise faults.unexpected(request, "list of issues")
        for item in items:
            one = _similar(item, mark.digest(signature))
            if one is not None and not (one.number in found and found[one.number].exact):
                found[one.number] = one
        if request is by_signature and document.get("incomplete_results") is True and not found:
            raise faults.unfinished(request)
    return sorted(found.values(), key=lambda one: (not one.exact, one.state != "open"))


def _similar(item: Any, word: str) -> Similar | None:
    if not isinstance(item, dict) or not isinstance(item.get("number"), int):
        return None
    title, state, url = (str(item.get(key) or "") for key in ("title", "state", "html_url"))
    # The search is fuzzy: only what was found says whether it is the same.
    return Similar(item["number"], title, state, url, any(word in text for text in _texts(item)))


def _texts(item: dict[str, Any]) -> Iterator[str]:
    yield str(item.get("body") or "")
    matches = item.get("text_matches")
    for match in matches if isinstance(matches, list) else ():
        yield str(match.get("fragment") or "") if isinstance(match, dict) else ""


def _words(headline: str) -> str:
    """Search words of a headline, lower-cased because AND, OR and NOT would be operators."""
    words: Iterable[str] = dict.fromkeys(word.lower() for word in _WORD.findall(headline))
    chosen = ""
    for word in words:
        if len(chosen) + len(word) + 1 > _MOST_QUERY:
            break
        chosen = f"{chosen} {word}".strip()
    return chosen
