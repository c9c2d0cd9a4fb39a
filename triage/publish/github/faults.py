"""What went wrong, as one line with the mend: what GitHub refused, and what kept a request from being answered."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from triage.model.errors import EnvironmentFault, TriageError
from triage.publish.github.endpoints import Request
from triage.publish.github.token import Token

GONE = 404
_INPUT_STATUSES = (GONE, 410, 422)
"""What the command line got wrong: no such repository or issue, deleted, or values that GitHub does not take."""
_MOST_MESSAGE = 300
"""Characters of a server's own words that a line quotes."""
_SECONDARY_S = 60
"""GitHub: without another word, wait at least a minute after a secondary rate limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: header names are lower-case, ``document`` is the JSON body or None without one."""

    status: int
    headers: Mapping[str, str]
    document: Any


class Refused(TriageError):
    """GitHub answered, and it was a no."""

    def __init__(self, line: str, status: int, wrong_input: bool = False) -> None:
        super().__init__(line)
        self.status = status
        self.exit_code = 2 if wrong_input else 3


class Unanswered(EnvironmentFault):
    """No answer that can be used. ``maybe_done``: the request may have arrived, and been carried out."""

    def __init__(self, line: str, maybe_done: bool, again: bool = True) -> None:
        super().__init__(line)
        self.maybe_done, self.again = maybe_done, again


class Undone(EnvironmentFault):
    """It is not known whether something was posted: the third answer, never read as one of the others."""


def refusal(request: Request, answer: Answer, token: Token) -> Refused:
    """An answer of 4xx as a line."""
    said = _said(answer.document)
    quoted = f" (GitHub says: {said})" if said else ""
    line = f"cannot {request.purpose}: {_mend(request, answer, token)}{quoted}"
    # Without the right to write gists they are "not found", whatever was given.
    return Refused(line, answer.status, answer.status in _INPUT_STATUSES and not _is_gist(request))


def _mend(request: Request, answer: Answer, token: Token) -> str:
    match answer.status:
        case 401:
            return f"the token of {token.source} is not valid any more, or not for this server: make a new one"
        case 403 if "archived" in _said(answer.document).lower():
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


def _is_gist(request: Request) -> bool:
    return urlsplit(request.url).path.partition("/gists")[1] != ""


def waiting_s(answer: Answer) -> float | None:
    """Seconds that GitHub asks to wait before the request is sent again; None where it is no matter of rate.

    Source: docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api.
    """
    if answer.status not in (403, 429):
        return None
    if (after := _number(answer.headers.get("retry-after"))) is not None:
        return after
    reset = _number(answer.headers.get("x-ratelimit-reset"))
    if answer.headers.get("x-ratelimit-remaining", "").strip() == "0" and reset is not None:
        return max(reset - time.time(), 1)
    said = _said(answer.document).lower()
    # Older Enterprise Servers call it abuse.
    if answer.status == 429 or "rate limit" in said or "abuse detection" in said:
        return _SECONDARY_S
    return None


def rate_limited(request: Request, answer: Answer, seconds: float) -> Refused:
    """A wait that is too long, or that did not help."""
    at = time.strftime("%H:%M:%S", time.localtime(time.time() + min(seconds, 1e9)))
    line = f"cannot {request.purpose}: rate limit; run the same command again after {at} (in {seconds:.0f} s)"
    return Refused(line, answer.status)


def failing_server(request: Request, answer: Answer) -> Unanswered:
    """An answer of 5xx: the server may have done it all the same."""
    host = urlsplit(request.url).hostname
    line = f"cannot {request.purpose}: {host} has trouble (status {answer.status}); try again later"
    return Unanswered(line, maybe_done=True)


def no_json(request: Request, status: int, kind: str) -> Unanswered:
    """An answer that is not GitHub's."""
    host = urlsplit(request.url).hostname
    line = f"cannot {request.purpose}: {host} answered {status} with {kind}, not JSON: check --api-url and the proxy"
    return Unanswered(line, maybe_done=True, again=False)


def unexpected(request: Request, what: str) -> Unanswered:
    """JSON of another shape than GitHub documents."""
    line = f"cannot {request.purpose}: the answer holds no {what}: is --api-url the API of a GitHub?"
    return Unanswered(line, maybe_done=True, again=False)


def unfinished(request: Request) -> EnvironmentFault:
    """A search that GitHub gave up: what it has not found may be there."""
    return EnvironmentFault(f"cannot {request.purpose}: GitHub did not finish it; try again later")


def elsewhere(request: Request) -> EnvironmentFault:
    """A redirect to another host, which is not followed: it would get the token."""
    try:
        host = urlsplit(request.url).hostname or "no host"
    except ValueError:
        host = "what is no address"
    line = f"cannot {request.purpose}: redirected to {host}, which gets nothing from here: check --api-url"
    return EnvironmentFault(line)


def untrusted(request: Request, error: BaseException) -> Unanswered:
    """TLS that cannot be trusted or agreed on."""
    host = urlsplit(request.url).hostname
    reason = error
    while not isinstance(reason, ssl.SSLError) and (reason.args and isinstance(reason.args[0], BaseException)):
        reason = reason.args[0]
    begin = f"cannot {request.purpose}: TLS with {host} failed"
    if isinstance(reason, ssl.SSLCertVerificationError):
        mend = "where your company signs, name its certificates in SSL_CERT_FILE"
        return Unanswered(f"{begin}: {reason.verify_message}; {mend}", maybe_done=False, again=False)
    # What fails later than the greeting may have arrived.
    text = getattr(reason, "reason", None) or "no agreement"
    return Unanswered(f"{begin}: {text}; check --api-url and the proxy", maybe_done=True, again=False)


def _said(document: Any) -> str:
    """A refusal in the server's own words: its message and the fields that it complains of."""
    if not isinstance(document, dict):
        return ""
    errors = document.get("errors")
    details = [_detail(one) for one in errors[:3]] if isinstance(errors, list) else []
    texts = [str(document.get("message") or ""), *details]
    return "; ".join(text for text in texts if text)[:_MOST_MESSAGE]


def _detail(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    return str(error.get("message") or " ".join(str(error[key]) for key in ("field", "code") if key in error))


def _number(text: str | None) -> int | None:
    stripped = (text or "").strip()
    # Seconds since 1970 have ten digits; what is longer is no time.
    return int(stripped) if stripped.isascii() and stripped.isdigit() and len(stripped) <= 10 else None
