"""Sends one request with urllib3.

urllib3 has no dependencies, sends no stored credentials (~/.netrc), keeps no cookies and follows no redirects by
itself, and its exceptions separate requests that cannot have arrived from those that may have: this decides where a
token goes and what may be repeated. Responses are bounded in time and size. Uses the system's certificates and the
proxy set in the environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from triage.model.errors import EnvironmentFault
from triage.publish.github import faults
from triage.publish.github.address import is_loopback
from triage.publish.github.endpoints import ApiRequest
from triage.publish.github.faults import ApiResponse, Unanswered

if TYPE_CHECKING:
    import urllib3

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts in seconds, and number of tries.

    ``step_s`` bounds one step: a request until its answer is complete, with its tries, redirects and waits for a rate
    limit; nothing else counts as progress. ``whole_s`` bounds all steps together. Beyond both, finding out whether a
    creation was carried out has ``settle_s``, and so has deleting its gist."""

    connect_s: float = 10
    read_s: float = 30
    step_s: float = 60
    # The 100 pages of an issue with ten thousand comments, at two seconds each, and a slow upload.
    whole_s: float = 300
    settle_s: float = 10
    tries: int = 4
    backoff_s: float = 1
    # A page of a hundred of the longest comments is 6.5 MB, and twice that where its letters are escaped.
    most_bytes: int = 32 << 20


class Transport:
    """Connections to one server. Raises EnvironmentFault without urllib3."""

    def __init__(self, patience: Patience) -> None:
        try:
            import urllib3

            from triage.publish.github import sending
        except ImportError:
            raise EnvironmentFault(
                "posting needs a library that is not installed: pip install 'triton-triage[github]'; "
                "--dry-run and --open work without"
            ) from None
        self._urllib3, self._sending, self._patience = urllib3, sending, patience
        self._pools: dict[tuple[str, str], urllib3.PoolManager] = {}

    def exchange(self, request: ApiRequest, authorization: str, within_s: float) -> ApiResponse:
        """Send once, and wait that long for the whole answer. Raises Unanswered."""
        errors = self._urllib3.exceptions
        pool = self._pool(request.url)
        sent = self._sending.Sending(lambda: self._send(pool, request, authorization))
        try:
            answer = sent.wait(within_s)
        except errors.NameResolutionError:
            why = (
                f"the name {urlsplit(request.url).hostname} is not known here: is there a network, is --api-url right?"
            )
            raise Unanswered(request, why, maybe_done=False) from None
        except errors.NewConnectionError as error:
            why = f"no connection: {_reason(error)}; is there a network?"
            raise Unanswered(request, why, maybe_done=False) from None
        except errors.ConnectTimeoutError:
            why = f"no connection within {self._patience.connect_s:g} s"
            raise Unanswered(request, why, maybe_done=False) from None
        except errors.ProxyError as error:
            why = f"the proxy of the environment does not work: {_reason(error)}"
            raise Unanswered(request, why, maybe_done=False) from None
        except errors.SSLError as error:
            raise faults.untrusted(request, error) from None
        except errors.ReadTimeoutError:
            if not sent.connected:
                why = f"no TLS connection within {self._patience.connect_s:g} s; check --api-url and the proxy"
                raise Unanswered(request, why, maybe_done=False) from None
            raise _lost(request, f"no answer within {self._patience.read_s:g} s") from None
        except errors.HTTPError as error:
            raise _lost(request, f"the connection broke: {_reason(error)}") from None
        if answer is None:
            # Its thread may still hold a connection of theirs.
            self._pools.clear()
            raise _lost(request, f"no whole answer within {round(within_s, 1):g} s", sent.connected)
        return answer

    def _send(self, pool: urllib3.PoolManager, request: ApiRequest, authorization: str) -> ApiResponse:
        patience = self._patience
        timeout = self._urllib3.Timeout(connect=patience.connect_s, read=patience.read_s)
        response = pool.request(
            request.method,
            request.url,
            body=json.dumps(request.body).encode() if request.body is not None else None,
            headers={**request.headers(), "Authorization": authorization},
            redirect=False,
            retries=False,
            preload_content=False,
            # Nothing was asked to be compressed; a few bytes may unpack to gigabytes.
            decode_content=False,
            timeout=timeout,
        )
        try:
            received = bytearray()
            while chunk := response.read1(_CHUNK):
                received += chunk
                if len(received) > patience.most_bytes:
                    raise _lost(request, f"an answer of more than {patience.most_bytes >> 20} MiB")
        finally:
            response.close()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return ApiResponse(response.status, headers, _document(request, response.status, headers, bytes(received)))

    def _pool(self, url: str) -> urllib3.PoolManager:
        parts = urlsplit(url)
        server = (parts.scheme, parts.netloc)
        if server not in self._pools:
            self._pools[server] = self._new_pool(parts.scheme, parts.hostname or "")
        return self._pools[server]

    def _new_pool(self, scheme: str, host: str) -> urllib3.PoolManager:
        manager = self._manager(scheme, host)
        manager.pool_classes_by_scheme = self._sending.POOLS
        return manager

    def _manager(self, scheme: str, host: str) -> urllib3.PoolManager:
        proxies = getproxies()
        proxy = proxies.get(scheme) or proxies.get("all")
        if not proxy or is_loopback(host) or proxy_bypass(host):
            return self._urllib3.PoolManager()
        try:
            credentials = self._urllib3.util.parse_url(proxy).auth
            headers = self._urllib3.make_headers(proxy_basic_auth=credentials) if credentials else None
            return self._urllib3.ProxyManager(proxy, proxy_headers=headers)
        except (self._urllib3.exceptions.HTTPError, ValueError):
            # The URL is not shown: it may hold a password.
            raise EnvironmentFault(
                f"the proxy that {scheme}_proxy names cannot be used: it must be an http(s):// URL"
            ) from None


def _document(request: ApiRequest, status: int, headers: Mapping[str, str], received: bytes) -> Any:
    """The JSON of a response; None without a body, or if a refusal or redirect has another content type."""
    if not received.strip():
        return None
    try:
        return json.loads(received)
    except (ValueError, RecursionError):
        if status >= 300:
            return None
        kind = headers.get("content-type", "something").partition(";")[0][:60]
        kind = kind if kind != "application/json" else "broken text"
        host = urlsplit(request.url).hostname
        why = f"{host} answered {status} with {kind}, not JSON: check --api-url and the proxy"
        raise Unanswered(request, why, maybe_done=True, again=False) from None


def _lost(request: ApiRequest, why: str, maybe_done: bool = True) -> Unanswered:
    return Unanswered(request, f"{why}; try again later", maybe_done)


def _reason(error: BaseException) -> str:
    """The innermost cause, without urllib3's object names."""
    inner = error
    while following := getattr(inner, "original_error", None) or inner.__cause__ or inner.__context__:
        inner = following
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    return type(inner).__name__
