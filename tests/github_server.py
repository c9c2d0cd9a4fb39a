"""A small GitHub on a real socket: it keeps issues, comments and gists, and fails in any way that it is told to.

A plugin of conftest.py. What is answered has the shape of GitHub's published description; whether it does is checked
elsewhere, against a server that is made from that description.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
LOGIN = "Mona"


@dataclass
class Seen:
    """One request that arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Reply:
    """An answer; ``raw`` replaces the JSON. ``drips``: its head, a byte at a time, without end."""

    status: int
    document: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    drips: bool = False


@dataclass
class Fault:
    """What happens to a request in place of an answer, or, ``after``, once it was carried out. ``reply`` None: the
    connection is closed. ``delay_s``: silence first."""

    reply: Reply | None
    after: bool = False
    delay_s: float = 0


class GitHub:
    """The state of the server, and its faults: each is used up by one request that fits."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.faults: list[tuple[str, re.Pattern[str], Fault]] = []
        self.repository: dict[str, Any] = {"full_name": "octo/kernels", "has_issues": True, "archived": False}
        self.renamed: dict[str, str] = {}
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, dict[str, Any]] = {}
        self.gists: dict[str, dict[str, Any]] = {}
        self.login = LOGIN
        self.may_label = True
        self.indexed = True
        self.user_reply: Reply | None = None
        self.url = ""
        self._lock = threading.RLock()
        self._next = 100

    def fail(
        self, method: str, path: str, reply: Reply | None, *, after: bool = False, delay_s: float = 0, times: int = 1
    ) -> None:
        """Let the next ``times`` requests whose path fits fail."""
        self.faults += [(method, re.compile(path), Fault(reply, after, delay_s))] * times

    def sent(self, method: str) -> list[Seen]:
        """What arrived with this method."""
        return [one for one in self.seen if one.method == method]

    def add_issue(self, title: str = "an issue", body: str = "", login: str = "hubot", state: str = "open") -> int:
        number = self._identifier()
        self.issues[number] = {
            "number": number,
            "title": title,
            "body": body,
            "state": state,
            "html_url": f"{self.url}/octo/kernels/issues/{number}",
            "user": {"login": login, "type": "User"},
            "labels": [],
        }
        return number

    def add_comment(self, issue: int, body: str, login: str = "hubot") -> int:
        number = self._identifier()
        self.comments[number] = {
            "id": number,
            "issue": issue,
            "body": body,
            "html_url": f"{self.url}/octo/kernels/issues/{issue}#issuecomment-{number}",
            "user": {"login": login, "type": "User"},
        }
        return number

    def answer(self, one: Seen) -> Reply | None:
        """What GitHub would answer; None closes the connection."""
        with self._lock:
            self.seen.append(one)
            fault = self._fault(one)
        if fault is None:
            with self._lock:
                return self._answer(one)
        if fault.after:
            with self._lock:
                self._answer(one)
        time.sleep(fault.delay_s)
        return fault.reply

    def _fault(self, one: Seen) -> Fault | None:
        for place, (method, path, fault) in enumerate(self.faults):
            if method == one.method and path.search(one.path):
                del self.faults[place]
                return fault
        return None

    def _identifier(self) -> int:
        self._next += 1
        return self._next

    def _answer(self, one: Seen) -> Reply:
        if one.headers.get("Authorization") != f"Bearer {TOKEN}":
            return Reply(401, {"message": "Bad credentials"})
        for old, new in self.renamed.items():
            if one.path.startswith(f"/repos/{old}"):
                query = f"?{'&'.join(f'{key}={value}' for key, value in one.query.items())}" if one.query else ""
                location = f"{self.url}{one.path.replace(old, new, 1)}{query}"
                return Reply(301 if one.method == "GET" else 307, {"message": "Moved"}, {"Location": location})
        routes: list[tuple[str, str, Callable[..., Reply]]] = [
            ("GET", r"/user", lambda: self.user_reply or Reply(200, {"login": self.login})),
            ("POST", r"/graphql", lambda: Reply(200, {"data": {"viewer": {"login": self.login}}})),
            ("GET", r"/repos/octo/kernels", lambda: Reply(200, self.repository)),
            ("GET", r"/search/issues", lambda: self._search(one.query["q"])),
            ("GET", r"/repos/octo/kernels/issues", lambda: Reply(200, list(reversed(self.issues.values()))[:100])),
            ("POST", r"/repos/octo/kernels/issues", lambda: self._open(one.body)),
            ("GET", r"/repos/octo/kernels/issues/(\d+)", lambda number: self._one(self.issues, int(number))),
            (
                "PATCH",
                r"/repos/octo/kernels/issues/(\d+)",
                lambda number: self._edit(self.issues, int(number), one.body),
            ),
            ("GET", r"/repos/octo/kernels/issues/(\d+)/comments", lambda number: self._page(int(number), one.query)),
            ("POST", r"/repos/octo/kernels/issues/(\d+)/comments", lambda number: self._comment(int(number), one.body)),
            (
                "PATCH",
                r"/repos/octo/kernels/issues/comments/(\d+)",
                lambda key: self._edit(self.comments, int(key), one.body),
            ),
            ("GET", r"/gists", lambda: Reply(200, list(reversed(self.gists.values())))),
            ("POST", r"/gists", lambda: self._gist(one.body)),
            ("GET", r"/gists/(\w+)", lambda key: self._one(self.gists, key)),
            ("PATCH", r"/gists/(\w+)", lambda key: self._edit(self.gists, key, one.body)),
            ("DELETE", r"/gists/(\w+)", self._drop),
        ]
        for method, pattern, make in routes:
            if method == one.method and (match := re.fullmatch(pattern, one.path)):
                return make(*match.groups())
        return Reply(404, {"message": "Not Found"})

    def _search(self, query: str) -> Reply:
        words = [word.strip('"').lower() for word in query.split() if not re.match(r"(repo|is):", word)]
        items = []
        for issue in self.issues.values() if self.indexed else ():
            texts = [issue["title"], issue["body"] or ""]
            texts += [one["body"] for one in self.comments.values() if one["issue"] == issue["number"]]
            if all(any(word in text.lower() for text in texts) for word in words):
                items.append({**issue, "text_matches": [{"fragment": text} for text in texts]})
        return Reply(200, {"total_count": len(items), "incomplete_results": False, "items": items})

    def _open(self, body: dict[str, Any]) -> Reply:
        number = self.add_issue(body["title"], body["body"], self.login)
        self.issues[number]["labels"] = [{"name": one} for one in body.get("labels", []) if self.may_label]
        return Reply(201, self.issues[number])

    def _comment(self, issue: int, body: dict[str, Any]) -> Reply:
        if issue not in self.issues:
            return Reply(404, {"message": "Not Found"})
        return Reply(201, self.comments[self.add_comment(issue, body["body"], self.login)])

    def _page(self, issue: int, query: dict[str, str]) -> Reply:
        found = [one for one in self.comments.values() if one["issue"] == issue]
        page, size = int(query.get("page", 1)), int(query.get("per_page", 30))
        return Reply(200, found[(page - 1) * size : page * size])

    def _gist(self, body: dict[str, Any]) -> Reply:
        key = f"{self._identifier():032x}"
        owner = {"login": self.login}
        self.gists[key] = {**body, "id": key, "html_url": f"https://gist.github.com/{key}", "owner": owner}
        return Reply(201, self.gists[key])

    def _drop(self, key: str) -> Reply:
        return Reply(204) if self.gists.pop(key, None) else Reply(404, {"message": "Not Found"})

    @staticmethod
    def _one(kept: dict[Any, dict[str, Any]], key: Any) -> Reply:
        return Reply(200, kept[key]) if key in kept else Reply(404, {"message": "Not Found"})

    def _edit(self, kept: dict[Any, dict[str, Any]], key: Any, body: dict[str, Any]) -> Reply:
        if key in kept:
            kept[key].update(body)
        return self._one(kept, key)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: else each answer waits for the delayed acknowledgement of the first.
    wbufsize = -1
    github: GitHub

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        reply = self.github.answer(Seen(self.command, parts.path, query, dict(self.headers.items()), body))
        if reply is None:
            self.close_connection = True
            return
        if reply.drips:
            drip(self.connection, b"HTTP/1.1 200 OK\r\nX-Long: ")
            self.close_connection = True
            return
        raw = (
            reply.raw
            if reply.raw is not None
            else b""
            if reply.document is None
            else json.dumps(reply.document).encode()
        )
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = do_PATCH = do_DELETE = _handle

    def log_message(self, format: str, *arguments: Any) -> None:
        """Not on standard error."""


def drip(connection: socket.socket, first: bytes = b"", piece: bytes = b"x", pause_s: float = 0.05) -> None:
    """Send a little at a time, never the end, until the other side has gone."""
    with suppress(OSError):
        connection.sendall(first)
        while True:
            connection.sendall(piece)
            time.sleep(pause_s)


def serve(github: GitHub) -> ThreadingHTTPServer:
    """Start it; ``github.url`` is where it listens."""
    handler = type("Handler", (_Handler,), {"github": github})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda request, address: None  # type: ignore[method-assign]
    github.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A GitHub for one test."""
    made = GitHub()
    server = serve(made)
    yield made
    server.shutdown()
    server.server_close()
