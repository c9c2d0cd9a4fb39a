"""Requests as GitHub asks of its clients: retries where safe, waits, redirects; any other answer is a one-line error.

Reads, updates and deletions may be repeated. A creation is repeated only if the request certainly did not arrive, or a
look-up shows that it was not carried out."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

from triage.model.errors import EnvironmentFault, TriageError
from triage.publish.github import faults
from triage.publish.github.address import GitHubServer, same_origin
from triage.publish.github.endpoints import ApiRequest
from triage.publish.github.faults import ApiResponse, Unanswered, Undone
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience, Transport

T = TypeVar("T")

_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 307, 308)
"""GitHub sends these for what was renamed or moved, and asks to repeat the request as it was
(docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api)."""


class Client:
    """Talks to one server with one token. ``note`` receives a line before each wait."""

    def __init__(
        self, server: GitHubServer, token: Token, note: Callable[[str], None], patience: Patience | None = None
    ):
        self._server, self._token, self._note = server, token, note
        self._patience = patience or Patience()
        self._transport = Transport(self._patience)

    def read(self, request: ApiRequest) -> ApiResponse:
        """Send a request that may be repeated: a read, an update, a deletion. Raises TriageError."""
        for attempt in range(self._patience.tries):
            try:
                return self._answered(request)
            except Unanswered as error:
                if not error.again or attempt + 1 == self._patience.tries:
                    raise
                self._back_off(attempt)
        raise AssertionError("the last attempt returns or raises")

    def create(self, request: ApiRequest, parse: Callable[[ApiResponse], T], landed: Callable[[], T | None]) -> T:
        """Send a request that creates something. ``parse`` reads the response; ``landed`` looks up whether it exists.

        Raises TriageError; Undone when it is unknown whether the request was carried out."""
        for attempt in range(self._patience.tries):
            try:
                return parse(self._answered(request))
            except Unanswered as error:
                self._back_off(attempt)
                try:
                    existing = landed() if error.maybe_done else None
                except TriageError as unclear:
                    why = f"{request.purpose}; the same command finds out ({unclear})"
                    raise Undone(f"could not tell whether this was done: {why}") from None
                if existing is not None:
                    return existing
                if not error.again or attempt + 1 == self._patience.tries:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _answered(self, request: ApiRequest) -> ApiResponse:
        try:
            return self._carried_out(request)
        except TriageError as error:
            # It quotes the server, which may echo what it received.
            error.args = (self._token.hidden(str(error)),)
            raise

    def _carried_out(self, request: ApiRequest) -> ApiResponse:
        """One successful response, after the waits and redirects that the server asks for."""
        sent = request
        waits = redirects = 0
        while True:
            answer = self._exchange(sent)
            if answer.status in _REDIRECTS and "location" in answer.headers and redirects < _MOST_REDIRECTS:
                url = answer.headers["location"]
                with suppress(ValueError):  # not a URL, and so not this server's
                    url = urljoin(sent.url, url)
                sent = replace(sent, url=url)
                redirects += 1
            elif (seconds := faults.waiting_s(answer)) is not None:
                if seconds > self._patience.longest_wait_s or waits + 1 >= self._patience.tries:
                    raise faults.rate_limited(request, answer, seconds)
                self._note(f"GitHub asks to wait {seconds:.0f} s (rate limit)")
                time.sleep(seconds)
                waits += 1
            elif answer.status >= 500:
                # The server may have carried out the request.
                why = f"{urlsplit(request.url).hostname} has trouble (status {answer.status}); try again later"
                raise Unanswered(request, why, maybe_done=True)
            elif answer.status >= 300:
                raise faults.refusal(request, answer, self._token)
            else:
                return answer

    def _exchange(self, request: ApiRequest) -> ApiResponse:
        # The one place where the token is handed on: only the server that was asked for gets it.
        if not same_origin(request.url, self._server.api):
            try:
                host = urlsplit(request.url).hostname or "no host"
            except ValueError:
                host = "an invalid address"
            line = f"cannot {request.purpose}: redirected to {host}, which gets nothing from here: check --api-url"
            raise EnvironmentFault(line)
        return self._transport.exchange(request, self._token.authorization())

    def _back_off(self, attempt: int) -> None:
        time.sleep(self._patience.backoff_s * 2**attempt)
