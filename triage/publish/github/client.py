"""Requests as GitHub asks of its clients: retries where safe, waits, redirects; any other answer is a one-line error.

Reads, updates and deletions may be repeated. A creation is repeated only if the request certainly did not arrive, or a
look-up shows that it was not carried out.

Everything is bounded: see :class:`Patience`. Progress is a complete answer that the next step needs, never a byte, a
redirect or another try."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
        self._left_s = self._patience.whole_s
        self._until: float | None = None

    def read(self, request: ApiRequest) -> ApiResponse:
        """Send a request that may be repeated: a read, an update, a deletion. Raises TriageError."""
        with self._step():
            for attempt in range(self._patience.tries):
                try:
                    return self._answered(request)
                except Unanswered as error:
                    if not self._may_retry(error, attempt):
                        raise
                    self._back_off(attempt)
        raise AssertionError("the last attempt returns or raises")

    def tidy(self, request: ApiRequest) -> ApiResponse:
        """As ``read``, for what is undone after a step has failed, perhaps because time was over."""
        with self._settling():
            return self.read(request)

    def create(self, request: ApiRequest, parse: Callable[[ApiResponse], T], landed: Callable[[], T | None]) -> T:
        """Send a request that creates something. ``parse`` reads the response; ``landed`` looks up whether it exists.

        Raises TriageError; Undone when it is unknown whether the request was carried out."""
        with self._step():
            for attempt in range(self._patience.tries):
                try:
                    return parse(self._answered(request))
                except Unanswered as error:
                    self._back_off(attempt)
                    existing = self._looked_up(request, landed) if error.maybe_done else None
                    if existing is not None:
                        return existing
                    if not self._may_retry(error, attempt):
                        raise
                except KeyboardInterrupt:
                    self._note(f"interrupted; it is not known whether this was done: {request.purpose}")
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _looked_up(self, request: ApiRequest, landed: Callable[[], T | None]) -> T | None:
        try:
            with self._settling():
                return landed()
        except TriageError as unclear:
            why = f"{request.purpose}; the same command finds out ({unclear})"
            raise Undone(f"could not tell whether this was done: {why}") from None

    @contextmanager
    def _step(self) -> Iterator[None]:
        """Bounds the requests within; those of a look-up belong to the step that it is for."""
        if self._until is not None:
            yield
            return
        began = time.monotonic()
        self._until = began + min(self._patience.step_s, self._left_s)
        try:
            yield
        finally:
            self._until = None
            self._left_s -= time.monotonic() - began

    @contextmanager
    def _settling(self) -> Iterator[None]:
        """Time of its own for the requests within, even where the step's is over."""
        before, self._until = self._until, time.monotonic() + self._patience.settle_s
        try:
            yield
        finally:
            self._until = before

    def _remaining_s(self) -> float:
        return self._until - time.monotonic() if self._until is not None else 0

    def _may_retry(self, error: Unanswered, attempt: int) -> bool:
        return error.again and attempt + 1 < self._patience.tries and self._remaining_s() > 0

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
                if seconds > self._remaining_s() or waits + 1 >= self._patience.tries:
                    raise faults.rate_limited(request, answer, seconds)
                self._note(f"GitHub asks to wait {seconds:.0f} s (rate limit)")
                time.sleep(seconds)
                waits += 1
            elif answer.status >= 500:
                # The server may have carried out the request.
                why = f"{urlsplit(request.url).hostname} has trouble (status {answer.status}); try again later"
                raise Unanswered(request, why, maybe_done=True)
            elif answer.status >= 400:
                raise faults.refusal(request, answer, self._token)
            elif answer.status >= 300:
                why = f"answered with status {answer.status}: is --api-url the API of a GitHub?"
                raise Unanswered(request, why, maybe_done=True, again=False)
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
        remaining = self._remaining_s()
        if remaining <= 0:
            bounds = f"{self._patience.step_s:g} s for a step, {self._patience.whole_s:g} s in all"
            raise Unanswered(request, f"its time is over ({bounds}); try again later", maybe_done=False, again=False)
        return self._transport.exchange(request, self._token.authorization(), remaining)

    def _back_off(self, attempt: int) -> None:
        time.sleep(min(self._patience.backoff_s * 2**attempt, max(self._remaining_s(), 0)))
