"""GitHub servers that misbehave at random: at most one post, nothing half posted, and an end in time."""

from __future__ import annotations

import random
import time

from github_server import LOGIN, TOKEN, GitHub, Reply, serve

from soak.campaign import Defect, Part, Try
from triage.model.errors import TriageError
from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.client import Client
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.message import Message, gist_of, mark
from triage.publish.github.post import Attachment, People, PostRequest
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience

QUICK = Patience(connect_s=1, read_s=0.2, step_s=0.6, whole_s=2, settle_s=0.5, tries=3, backoff_s=0.01,
                 most_bytes=1 << 20)  # fmt: skip
BOUND_S = QUICK.whole_s + 2 * QUICK.settle_s
MESSAGE = Message(
    title="Assertion failed",
    report="# It failed",
    signature="assertion|llir|supported|NVGPUToLLVMPass.cpp",
    headline="Assertion failed in getPtxAsm",
    files={"log.txt": "the log"},
)


def odd(choose: random.Random) -> Reply | None:
    """An answer that no client expects, or none."""
    documents = [None, [], {}, 7, "x", [None], {"number": "x"}, {"id": -1}, {"message": TOKEN}, {"items": 3}]
    documents += [{"number": 1, "html_url": "javascript:0", "user": {"login": LOGIN}, "body": None}]
    return choose.choice([
        None,
        Reply(choose.choice([400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504, 999]), {"message": "no"}),
        Reply(choose.choice([200, 201, 204, 206, 304]), choose.choice(documents)),
        Reply(200, raw=choose.choice([b"", b"{", b"\xff\xfe", b"[" * 50_000, b" " * (2 << 20), b"<html>"])),
        Reply(200, drips=True),
        Reply(choose.choice([301, 302, 307, 308]), None, {"Location": choose.choice(["/user", "//evil.example", ""])}),
        Reply(429, {}, {"Retry-After": choose.choice(["0", "1", "x", "9" * 50, "-3"])}),
        Reply(200, {}, {"Content-Encoding": "gzip"}),
        Reply(403, {"message": "limit"}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"}),
    ])  # fmt: skip


def attach(current: Try, github: GitHub, wish: PostRequest) -> tuple[str, list[str]]:
    """What came of it, and the notes."""
    notes: list[str] = []
    server = GitHubServer.parse(github.url)
    client = Client(server, Token(TOKEN, "GH_TOKEN"), notes.append, QUICK)
    endpoints = Endpoints(server, Repository.parse("octo/kernels"))
    began = time.monotonic()
    try:
        posted = Attachment(client, endpoints, MESSAGE, wish, People(notes.append)).post()
        result = posted.how if posted else "declined"
    except TriageError as error:
        result = f"error: {error}"
        current.expect("\n" not in result and TOKEN not in result, Defect.INTERNAL, result)
    except Exception as error:
        result = f"error: {error!r}"
        current.report(Defect.INTERNAL, result)
    took = time.monotonic() - began
    current.expect(took < 2 * BOUND_S, Defect.LATE, f"{took:.1f} s")
    return result, notes


def own_posts(github: GitHub) -> dict[int, str]:
    """Body of each post with the mark."""
    posts = {**github.issues, **github.comments}
    return {number: post["body"] for number, post in posts.items() if mark(MESSAGE.signature) in post["body"]}


def misbehaving_servers(part: Part) -> None:
    for current in part.tries():
        choose, github = current.random, GitHub()
        server = serve(github)
        try:
            one(current, choose, github)
        finally:
            server.shutdown()
            server.server_close()


def one(current: Try, choose: random.Random, github: GitHub) -> None:
    issue = github.add_issue() if choose.random() < 0.6 else None
    github.indexed = choose.random() < 0.7
    wish = PostRequest(issue, gist=choose.random() < 0.6, yes=choose.random() < 0.5)
    for _ in range(choose.randint(1, 4)):
        method = choose.choice(["GET", "POST", "POST", "PATCH", "DELETE"])
        path = choose.choice(["", "issues", "comments", "gists", "search", "user"])
        reply = odd(choose)
        # What a server refuses or sends elsewhere it has not carried out.
        after = choose.random() < 0.5 and (reply is None or reply.status // 100 not in (3, 4) or reply.status == 304)
        fault = {"after": after, "delay_s": choose.choice([0, 0, 0.3]), "times": choose.randint(1, 3)}
        github.fail(method, path, reply, **fault)
        current.description += f"{method} {path} {str(reply)[:120]} {fault}; "
    result, notes = attach(current, github, wish)
    # A request that nobody waits for any more may be carried out still.
    time.sleep(0.35)
    current.description += f"{wish}: {result}"
    for step in ("first", "again"):
        posts = own_posts(github)
        current.expect(len(posts) <= 1, Defect.LOST, f"{step}: {len(posts)} posts")
        named = {gist_of(body) for body in posts.values()} - {None, ""}
        current.expect(named <= set(github.gists), Defect.LOST, f"{step}: a post names a gist that does not exist")
        alone = set(github.gists) - named
        known = any("gist" in note for note in notes) or "gist" in result
        current.expect(not alone or known, Defect.LEFT, f"{step}: a gist that nobody was told about: {notes}")
        if step == "first":
            github.faults.clear()
            own = next((number for number in posts if number in github.issues), issue)
            result, notes = attach(current, github, PostRequest(own, gist=wish.gist, yes=True))
            right = not result.startswith("error") and len(own_posts(github)) == 1
            current.expect(right, Defect.LOST, f"without faults: {result}, {len(own_posts(github))} posts")
            notes = notes or ["gist"] * bool(alone)
