"""Errors as one line with the fix: requests that GitHub refused, and requests without a usable response."""

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from triage.model.errors import EnvironmentFault, TriageError
from triage.publish.github.endpoints import ApiRequest
from triage.publish.github.token import Token

GONE = 404
_INPUT_STATUSES = (GONE, 410, 422)
"""Statuses caused by the command line: no such repository or issue, deleted, or invalid values."""
_MOST_MESSAGE = 300
"""Characters of the server's message quoted in an error line."""
_SECONDARY_S = 60
"""GitHub: without other instructions wait at least a minute after a secondary rate limit."""


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """One response: header names are lower-case, ``document`` is the JSON body or None without one."""

    status: int
    headers: Mapping[str, str]
    document: Any


class RequestRefused(TriageError):
    """GitHub refused the request."""

    def __init__(self, line: str, status: int, wrong_input: bool = False) -> None:
        super().__init__(line)
        self.status = status
        self.exit_code = 2 if wrong_input else 3


class Unanswered(EnvironmentFault):
    """No usable response. ``maybe_done``: the request may have arrived and been carried out. ``again``: another try
    may help."""

    def __init__(self, request: ApiRequest, why: str, maybe_done: bool, again: bool = True) -> None:
        super().__init__(f"cannot {request.purpose}: {why}")
        self.maybe_done, self.again = maybe_done, again


class Undone(EnvironmentFault):
    """It is unknown whether something was posted; never read as posted or as not posted."""


def refusal(request: ApiRequest, answer: ApiResponse, token: Token) -> RequestRefused:
    """The error for a 4xx response."""
    message = _server_message(answer.document)
    quoted = f" (GitHub says: {message})" if message else ""
    line = f"cannot {request.purpose}: {_fix(request, answer, token)}{quoted}"
    # Without the right to write gists they are "not found", whatever was given.
    return RequestRefused(line, answer.status, answer.status in _INPUT_STATUSES and not _is_gist(request))


def _fix(request: ApiRequest, answer: ApiResponse, token: Token) -> str:
    match answer.status:
        case 401:
            return f"the token of {token.source} is not valid any more, or not for this server: make a new one"
        case 403 if "archived" in _server_message(answer.document).lower():
            return "the repository is archived, and takes nothing any more"
        case 403 if "x-github-sso" in answer.headers:
            return f"the organization asks for single sign-on: authorize the token of {token.source} for it"
        case 403 | 404 if _is_gist(request):
            return f"the token of {token.source} may not write gists: give it that right (scope gist), or leave --gist"
        case 403:
            return f"the token of {token.source} may not do that: it needs the right to write issues (scope repo)"
        case 404:
            return f"not found: check --repo and --issue, and that the token of {token.source} may see the repository"
        case 410:
            return "deleted, or issues are switched off there: name another with --issue or --repo"
        case 422:
            return "GitHub does not accept the values"
        case _:
            return f"answered with status {answer.status}"


def _is_gist(request: ApiRequest) -> bool:
    return urlsplit(request.url).path.partition("/gists")[1] != ""


def waiting_s(answer: ApiResponse) -> float | None:
    """Seconds that GitHub asks to wait before a retry; None if it is not about rate limits.

    Source: docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api."""
    if answer.status not in (403, 429):
        return None
    if (after := _number(answer.headers.get("retry-after"))) is not None:
        return after
    reset = _number(answer.headers.get("x-ratelimit-reset"))
    if answer.headers.get("x-ratelimit-remaining", "").strip() == "0" and reset is not None:
        return max(reset - time.time(), 1)
    message = _server_message(answer.document).lower()
    # Older Enterprise Servers call it abuse.
    if answer.status == 429 or "rate limit" in message or "abuse detection" in message:
        return _SECONDARY_S
    return None


def rate_limited(request: ApiRequest, answer: ApiResponse, seconds: float) -> RequestRefused:
    """The wait is too long, or waiting did not help."""
    at = time.strftime("%H:%M:%S", time.localtime(time.time() + min(seconds, 1e9)))
    line = f"cannot {request.purpose}: rate limit; run the same command again after {at} (in {seconds:.0f} s)"
    return RequestRefused(line, answer.status)


def unexpected(request: ApiRequest, what: str) -> Unanswered:
    """The JSON does not have the shape that GitHub documents."""
    why = f"the answer holds no {what}: is --api-url the API of a GitHub?"
    return Unanswered(request, why, maybe_done=True, again=False)


def untrusted(request: ApiRequest, error: BaseException) -> Unanswered:
    """TLS could not be verified or negotiated."""
    reason = error
    while not isinstance(reason, ssl.SSLError) and (reason.args and isinstance(reason.args[0], BaseException)):
        reason = reason.args[0]
    begin = f"TLS with {urlsplit(request.url).hostname} failed"
    if isinstance(reason, ssl.SSLCertVerificationError):
        fix = "where your company signs, name its certificates in SSL_CERT_FILE"
        return Unanswered(request, f"{begin}: {reason.verify_message}; {fix}", maybe_done=False, again=False)
    # What fails later than the greeting may have arrived.
    text = getattr(reason, "reason", None) or "no agreement"
    return Unanswered(request, f"{begin}: {text}; check --api-url and the proxy", maybe_done=True, again=False)


def _server_message(document: Any) -> str:
    """The server's own words: its message and the fields that it rejects."""
    if not isinstance(document, dict):
        return ""
    texts = [str(document.get("message") or "")]
    errors = document.get("errors")
    for error in errors[:3] if isinstance(errors, list) else ():
        if isinstance(error, dict):
            fields = " ".join(str(error[key]) for key in ("field", "code") if key in error)
            texts.append(str(error.get("message") or fields))
        else:
            texts.append(str(error))
    return "; ".join(text for text in texts if text)[:_MOST_MESSAGE]


def _number(text: str | None) -> int | None:
    stripped = (text or "").strip()
    # Seconds since 1970 have ten digits; a longer number is not a time.
    return int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) <= 10 else None
