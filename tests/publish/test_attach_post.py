"""Posting: what is opened, commented and updated, and that nothing is posted twice or half."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from github_server import LOGIN, TOKEN, GitHub, Reply
from hypothesis import given
from hypothesis import strategies as st

from triage.model.errors import EnvironmentFault, InputError, TriageError
from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.client import Client
from triage.publish.github.duplicates import queries
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.message import Message, digest, gist_of, mark
from triage.publish.github.plan import plan
from triage.publish.github.post import Attachment, People, Posted, PostRequest
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience

pytest.importorskip("urllib3", reason="the extra 'github' is not installed")

SIGNATURE = 'assertion|llir|supported --> && "WGMMA"|NVGPUToLLVMPass.cpp'
MESSAGE = Message(
    title="Assertion failed in getPtxAsm",
    report="# It failed\n\nhere",
    signature=SIGNATURE,
    headline="Assertion failed in WGMMAOpPattern::getPtxAsm: not supported",
    files={"log.txt": "the log", "ir.mlir": "module {}"},
)
QUICK = Patience(connect_s=2, read_s=0.3, step_s=2, settle_s=2, tries=3, backoff_s=0.01)


class Desk:
    """Attaches to the server, and keeps what it said."""

    def __init__(self, github: GitHub) -> None:
        self.github, self.notes, self.asked = github, [], []  # type: ignore[var-annotated]

    def attach(
        self, *, answer: bool | None = None, repo: str = "octo/kernels", patience: Patience = QUICK, **wish: Any
    ) -> Posted | None:
        def ask(question: str) -> bool:
            self.asked.append(question)
            return bool(answer)

        server = GitHubServer.parse(self.github.url)
        client = Client(server, Token(TOKEN, "GH_TOKEN"), self.notes.append, patience)
        people = People(self.notes.append, ask if answer is not None else None)
        endpoints = Endpoints(server, Repository.parse(repo))
        return Attachment(client, endpoints, MESSAGE, PostRequest(**wish), people).post()


@pytest.fixture
def desk(github: GitHub) -> Desk:
    return Desk(github)


def test_an_issue_is_opened(desk: Desk, github: GitHub) -> None:
    posted = desk.attach(labels=("bug", "nvidia"))
    (issue,) = github.issues.values()
    assert posted == Posted("opened", issue["html_url"])
    assert (issue["title"], issue["body"]) == (
        MESSAGE.title,
        f"# It failed\n\nhere\n\nSignature `{digest(SIGNATURE)}` {mark(SIGNATURE)}\n",
    )
    assert [one["name"] for one in issue["labels"]] == ["bug", "nvidia"]
    assert desk.notes == []


def test_an_issue_is_commented_on(desk: Desk, github: GitHub) -> None:
    number = github.add_issue()
    posted = desk.attach(issue=number)
    (comment,) = github.comments.values()
    assert posted == Posted("commented", comment["html_url"])
    assert comment["body"].endswith(f"{mark(SIGNATURE)}\n")


def test_a_comment_that_was_made_is_updated_on_whichever_page(desk: Desk, github: GitHub) -> None:
    number = github.add_issue()
    for count in range(250):
        github.add_comment(number, f"me too {count} {mark('another bug')}")
    desk.attach(issue=number)
    own = max(github.comments)
    github.comments[own]["body"] = f"older text {mark(SIGNATURE)}"
    for _ in range(60):
        github.add_comment(number, "and me")
    posted = desk.attach(issue=number)
    assert posted == Posted("updated", github.comments[own]["html_url"])
    assert "older" not in github.comments[own]["body"]
    assert len(github.comments) == 311


def test_somebody_else_s_comment_with_the_mark_is_left_alone(desk: Desk, github: GitHub) -> None:
    number = github.add_issue()
    other = github.add_comment(number, f"quoted {mark(SIGNATURE)}")
    assert desk.attach(issue=number, yes=True).how == "commented"  # type: ignore[union-attr]
    assert github.comments[other]["body"] == f"quoted {mark(SIGNATURE)}"
    assert github.sent("PATCH") == []


def test_a_mark_that_is_quoted_in_a_post_of_one_s_own_is_not_its_mark(desk: Desk, github: GitHub) -> None:
    number = github.add_issue()
    own = github.add_comment(number, f"```\n{mark(SIGNATURE)}\n```\n{mark('another bug')}", login=LOGIN)
    assert desk.attach(issue=number).how == "commented"  # type: ignore[union-attr]
    assert "another bug" not in github.comments[own]["body"]
    assert mark("another bug") in github.comments[own]["body"]


def test_an_issue_of_one_s_own_with_the_mark_is_updated(desk: Desk, github: GitHub) -> None:
    desk.attach()
    (number,) = github.issues
    assert desk.attach(issue=number) == Posted("updated", github.issues[number]["html_url"])
    assert github.comments == {}


def test_logins_are_compared_as_github_does(desk: Desk, github: GitHub) -> None:
    """A token of GitHub Actions may not ask for /user."""
    github.user_reply = Reply(403, {"message": "Resource not accessible by integration"})
    github.login = "github-actions[bot]"
    number = github.add_issue()
    assert [desk.attach(issue=number).how for _ in range(2)] == ["commented", "updated"]  # type: ignore[union-attr]


@pytest.mark.parametrize("where", ["in the issue", "in a comment"])
@pytest.mark.parametrize("state", ["open", "closed"])
def test_no_second_issue_without_being_told_to(desk: Desk, github: GitHub, where: str, state: str) -> None:
    number = github.add_issue("something", mark(SIGNATURE) if where == "in the issue" else "", state=state)
    if where == "in a comment":
        github.add_comment(number, mark(SIGNATURE))
    with pytest.raises(
        InputError, match=rf"octo/kernels#{number} has the same signature: use --issue {number}, or --yes"
    ):
        desk.attach()
    assert github.sent("POST") == []
    assert desk.notes == [f"same signature: #{number} something ({state}) {github.issues[number]['html_url']}"]
    assert desk.attach(yes=True).how == "opened"  # type: ignore[union-attr]


def test_no_second_issue_before_the_search_knows_the_first(desk: Desk, github: GitHub) -> None:
    github.indexed = False
    desk.attach()
    with pytest.raises(InputError, match="same signature"):
        desk.attach()
    assert len(github.issues) == 1


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_it_is_asked(desk: Desk, github: GitHub, answer: bool) -> None:
    github.add_issue("something", mark(SIGNATURE))
    posted = desk.attach(answer=answer)
    assert desk.asked == ["Open another issue all the same?"]
    assert (posted is not None, len(github.issues)) == (answer, 1 + answer)


def test_what_reads_alike_is_shown_and_no_hindrance_without_a_terminal(desk: Desk, github: GitHub) -> None:
    words = "Assertion failed in WGMMAOpPattern getPtxAsm not supported"
    number = github.add_issue(words)
    assert desk.attach().how == "opened"  # type: ignore[union-attr]
    assert desk.notes == [f"reads alike: #{number} {words} (open) {github.issues[number]['html_url']}"]


def test_that_duplicates_could_not_be_looked_for_is_not_that_there_are_none(desk: Desk, github: GitHub) -> None:
    github.fail("GET", "/search", Reply(503), times=3)
    with pytest.raises(EnvironmentFault, match="there may be such an issue: --yes opens one all the same"):
        desk.attach()
    assert github.issues == {}
    github.fail("GET", "/search", Reply(422, {"message": "Validation Failed"}), times=2)
    assert desk.attach(yes=True).how == "opened"  # type: ignore[union-attr]


def test_a_search_that_github_gave_up_tells_nothing(desk: Desk, github: GitHub) -> None:
    github.fail("GET", "/search", Reply(200, {"total_count": 0, "incomplete_results": True, "items": []}))
    with pytest.raises(EnvironmentFault, match=r"GitHub did not finish it.*there may be such an issue"):
        desk.attach()


def test_a_comment_does_not_need_the_search(desk: Desk, github: GitHub) -> None:
    number = github.add_issue()
    github.fail("GET", "/search", Reply(422, {"message": "Validation Failed"}))
    assert desk.attach(issue=number).how == "commented"  # type: ignore[union-attr]
    assert desk.notes == [
        "duplicates were not looked for: cannot search for the signature: GitHub does not accept the values "
        "(GitHub says: Validation Failed)"
    ]


def test_labels_that_were_left_out_are_named(desk: Desk, github: GitHub) -> None:
    github.may_label = False
    desk.attach(labels=("bug",))
    assert desk.notes == ["GitHub left out the labels bug: the token may not set them"]


def test_a_renamed_repository_is_followed(desk: Desk, github: GitHub) -> None:
    github.renamed = {"octo/old": "octo/kernels"}
    assert desk.attach(repo="octo/old").how == "opened"  # type: ignore[union-attr]
    assert desk.notes == ["octo/old is called octo/kernels now"]


def test_a_redirected_post_is_repeated_as_it_was(desk: Desk, github: GitHub) -> None:
    number = github.add_issue()
    there = f"{github.url}/repos/octo/kernels/issues/{number}/comments"
    github.fail("POST", "/comments", Reply(307, {"message": "Moved"}, {"Location": there}))
    assert desk.attach(issue=number).how == "commented"  # type: ignore[union-attr]
    first, second = github.sent("POST")
    assert first.body == second.body


@pytest.mark.parametrize(
    ("change", "line"),
    [({"archived": True}, "is archived"), ({"has_issues": False}, "has no issues")],
)
def test_a_repository_that_takes_no_issues(desk: Desk, github: GitHub, change: dict[str, Any], line: str) -> None:
    github.repository |= change
    with pytest.raises(InputError, match=line):
        desk.attach()


class TestGist:
    def test_it_is_made_before_the_post_and_named_there(self, desk: Desk, github: GitHub) -> None:
        desk.attach(gist=True)
        (gist,) = github.gists.values()
        (issue,) = github.issues.values()
        assert (gist["public"], gist["files"]["log.txt"]) == (False, {"content": "the log"})
        assert f"Long artifacts (`log.txt`, `ir.mlir`): {gist['html_url']}" in issue["body"]
        assert gist_of(issue["body"]) == gist["id"]
        assert [one.path for one in github.sent("POST")] == ["/gists", "/repos/octo/kernels/issues"]

    def test_an_update_keeps_it(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        for _ in range(2):
            desk.attach(issue=number, gist=True)
        assert len(github.gists) == 1

    def test_another_gist_that_somebody_wrote_into_the_post_is_not_touched(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        desk.attach(issue=number, gist=True)
        github.gists["abc123"] = {"id": "abc123", "description": "notes", "owner": {"login": LOGIN}, "files": {}}
        (comment,) = github.comments.values()
        comment["body"] = f"{mark(SIGNATURE)}<!-- triton-triage:gist=abc123 -->"
        desk.attach(issue=number, gist=True)
        assert github.gists["abc123"]["files"] == {}

    def test_it_is_deleted_when_the_post_is_refused(self, desk: Desk, github: GitHub) -> None:
        github.fail("POST", "/issues$", Reply(403, {"message": "Resource not accessible by personal access token"}))
        with pytest.raises(TriageError, match="may not do that"):
            desk.attach(gist=True)
        assert (github.gists, github.issues, desk.notes) == ({}, {}, [])

    def test_it_is_named_when_it_cannot_be_deleted(self, desk: Desk, github: GitHub) -> None:
        github.fail("POST", "/issues$", Reply(422, {"message": "Validation Failed"}))
        github.fail("DELETE", "/gists", Reply(500), times=3)
        with pytest.raises(TriageError):
            desk.attach(gist=True)
        (gist,) = github.gists.values()
        assert desk.notes == [f"the gist still exists: {gist['html_url']}"]

    def test_it_stays_when_the_post_may_be_there(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        github.fail("POST", "/comments$", Reply(502), after=True)
        # The first read looks for an earlier comment; the three that follow, for what became of the post.
        github.fail("GET", "/comments$", Reply(200, []))
        github.fail("GET", "/comments$", None, times=3)
        with pytest.raises(EnvironmentFault, match="could not tell whether this was done"):
            desk.attach(issue=number, gist=True)
        assert len(github.gists) == 1
        assert desk.notes == [f"the gist still exists: {next(iter(github.gists.values()))['html_url']}"]

    @pytest.mark.parametrize("can_look", [True, pytest.param(False, marks=pytest.mark.slow)])
    def test_it_is_named_when_the_post_takes_too_long(self, desk: Desk, github: GitHub, can_look: bool) -> None:
        """The time for finding out what was posted begins when that for posting is over."""
        number = github.add_issue()
        github.fail("POST", "/comments", Reply(200, drips=True), times=9)
        if not can_look:
            # The first look is for a comment to update.
            github.fail("GET", f"/issues/{number}/comments", Reply(200, []))
            github.fail("GET", f"/issues/{number}/comments", Reply(200, drips=True), times=9)
        began = time.monotonic()
        with pytest.raises(EnvironmentFault, match=r"no whole answer within 0\.\d s" if can_look else "could not tell"):
            desk.attach(issue=number, gist=True, patience=Patience(step_s=0.5, settle_s=0.3))
        assert time.monotonic() - began < 2
        assert github.comments == {}
        assert desk.notes[-1].startswith("the gist still exists: ")

    def test_one_that_was_made_without_an_answer_is_named_when_the_post_fails(self, desk: Desk, github: GitHub) -> None:
        github.fail("POST", "/gists", None, after=True)
        github.fail("POST", "/issues$", Reply(403, {}))
        with pytest.raises(TriageError, match="may not do that"):
            desk.attach(gist=True)
        assert desk.notes == [f"the gist still exists: {next(iter(github.gists.values()))['html_url']}"]

    def test_it_is_deleted_when_the_post_would_have_to_wait_for_long(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        github.fail("POST", "/comments", Reply(429, {}, {"Retry-After": "999999999"}))
        with pytest.raises(TriageError, match="rate limit"):
            desk.attach(issue=number, gist=True)
        assert github.gists == {}

    def test_it_has_time_of_its_own_to_be_deleted(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        github.fail("POST", "/comments", Reply(403, {}), delay_s=0.5)
        github.fail("DELETE", "/gists", Reply(502))
        with pytest.raises(TriageError, match="may not do that"):
            desk.attach(issue=number, gist=True, patience=Patience(whole_s=0.8, backoff_s=0.2))
        assert github.gists == {}

    def test_an_interrupted_post_is_named(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        github.fail("POST", "/comments", Reply(200, drips=True))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            desk.attach(issue=number, gist=True)
        assert desk.notes[-2:] == [
            f"interrupted; it is not known whether this was done: comment on issue {number} of octo/kernels",
            f"the gist still exists: {next(iter(github.gists.values()))['html_url']}",
        ]

    def test_without_the_right_to_write_gists_they_are_not_found(self, desk: Desk, github: GitHub) -> None:
        github.fail("POST", "/gists", Reply(404, {"message": "Not Found"}))
        with pytest.raises(TriageError, match=r"may not write gists: give it that right \(scope gist\)") as caught:
            desk.attach(gist=True)
        assert (caught.value.exit_code, github.issues) == (3, {})

    def test_it_stays_when_the_update_may_have_been_carried_out(self, desk: Desk, github: GitHub) -> None:
        number = github.add_issue()
        desk.attach(issue=number)
        github.fail("PATCH", "/comments/", None, after=True, times=3)
        with pytest.raises(EnvironmentFault, match="the connection broke"):
            desk.attach(issue=number, gist=True)
        (gist,) = github.gists.values()
        assert desk.notes[-1] == f"the gist still exists: {gist['html_url']}"
        assert gist["html_url"] in next(iter(github.comments.values()))["body"]

    def test_one_that_was_made_without_an_answer_is_found(self, desk: Desk, github: GitHub) -> None:
        github.fail("POST", "/gists", None, after=True)
        desk.attach(gist=True)
        assert len(github.gists) == 1


LOST: list[tuple[str, Callable[[GitHub, str], None]]] = [
    ("no answer", lambda github, path: github.fail("POST", path, Reply(201, {}), after=True, delay_s=0.6)),
    ("closed", lambda github, path: github.fail("POST", path, None, after=True)),
    ("502", lambda github, path: github.fail("POST", path, Reply(502, raw=b"<html>"), after=True)),
    ("304", lambda github, path: github.fail("POST", path, Reply(304), after=True)),
    ("no JSON", lambda github, path: github.fail("POST", path, Reply(201, raw=b"{"), after=True)),
    ("other JSON", lambda github, path: github.fail("POST", path, Reply(201, ["?"]), after=True)),
]
NOT_DONE: list[tuple[str, Callable[[GitHub, str], None]]] = [
    ("closed", lambda github, path: github.fail("POST", path, None)),
    ("502", lambda github, path: github.fail("POST", path, Reply(502, {"message": "GitHubServer Error"}))),
    (
        "limited",
        lambda github, path: github.fail("POST", path, Reply(429, {"message": "slow"}, {"Retry-After": "0"})),
    ),
]


@pytest.mark.parametrize("fail", [fail for _, fail in LOST], ids=[name for name, _ in LOST])
@pytest.mark.parametrize("new", [True, False], ids=["issue", "comment"])
def test_a_post_that_was_carried_out_without_an_answer_is_not_repeated(
    desk: Desk, github: GitHub, fail: Callable[[GitHub, str], None], new: bool
) -> None:
    older = github.add_issue("older", mark(SIGNATURE), login=LOGIN)
    number = None if new else github.add_issue()
    fail(github, "/issues$" if new else "/comments$")
    posted = desk.attach(issue=number, yes=True)
    assert len(github.sent("POST")) == 1
    made = [one for one in [*github.issues.values(), *github.comments.values()] if mark(SIGNATURE) in one["body"]]
    assert made[0]["number"] == older
    assert posted == Posted("opened" if new else "commented", made[-1]["html_url"])
    assert len(made) == 2


@pytest.mark.parametrize("fail", [fail for _, fail in NOT_DONE], ids=[name for name, _ in NOT_DONE])
@pytest.mark.parametrize("new", [True, False], ids=["issue", "comment"])
def test_a_post_that_was_not_carried_out_is_repeated(
    desk: Desk, github: GitHub, fail: Callable[[GitHub, str], None], new: bool
) -> None:
    number = None if new else github.add_issue()
    fail(github, "/issues$" if new else "/comments$")
    assert desk.attach(issue=number) is not None
    assert len(github.sent("POST")) == 2
    posts = [one for one in [*github.issues.values(), *github.comments.values()] if mark(SIGNATURE) in one["body"]]
    assert len(posts) == 1


@pytest.mark.parametrize("wish", [{}, {"issue": 7}, {"issue": 7, "gist": True}, {"gist": True, "labels": ("bug",)}])
def test_the_plan_names_every_request_that_is_sent(desk: Desk, github: GitHub, wish: dict[str, Any]) -> None:
    github.issues[7] = {**github.issues.pop(github.add_issue()), "number": 7}
    server = GitHubServer.parse(github.url)
    endpoints = Endpoints(server, Repository.parse("octo/kernels"))
    document = plan(endpoints, MESSAGE, PostRequest(**wish))
    desk.attach(**wish)
    if "issue" in wish:
        desk.attach(**wish)
    sent = {(one.method, one.path) for one in github.seen}
    planned = {(one["method"], one["url"].removeprefix(github.url).partition("?")[0]) for one in document["requests"]}
    known = {"{comment_id}": str(next(iter(github.comments), "")), "{gist_id}": next(iter(github.gists), "")}
    assert sent <= {(method, _filled(path, known)) for method, path in planned}
    bodies = [one["body"] for one in document["requests"] if one["method"] == "POST" and "/issues" in one["url"]]
    known["{gist_url}"] = next((one["html_url"] for one in github.gists.values()), "")
    assert [_filled(body["body"], known) for body in bodies] == [github.sent("POST")[-1].body["body"]]
    assert TOKEN not in str(document)
    assert {one["headers"]["Authorization"] for one in document["requests"]} == {"[redacted]"}


def _filled(text: str, known: dict[str, str]) -> str:
    """A plan's text, with what only an answer tells."""
    for name, value in known.items():
        text = text.replace(name, value)
    return text


@given(st.text())
def test_any_signature_has_a_mark_that_is_one_comment(signature: str) -> None:
    assert re.fullmatch(r"<!-- triton-triage:signature=[0-9a-f]{16} -->", mark(signature))


@given(st.text() | st.text('AND OR NOT : " repo:x/y is:pr ').map(lambda text: text * 40))
def test_any_headline_is_searched_for_in_words(headline: str) -> None:
    endpoints = Endpoints(GitHubServer.parse(None), Repository.parse("octo/kernels"))
    for request in queries(endpoints, "s", headline)[1:]:
        query = parse_qs(urlsplit(request.url).query)["q"][0]
        words = query.removeprefix("repo:octo/kernels is:issue ")
        assert re.fullmatch(r"[a-z0-9_]+( [a-z0-9_]+)*", words)
        assert len(words) <= 256


def test_the_mark_holds_nothing_of_the_signature(desk: Desk, github: GitHub) -> None:
    desk.attach()
    (issue,) = github.issues.values()
    assert issue["body"].count("-->") == 1
    assert digest(SIGNATURE) in github.sent("GET")[3].query["q"]
