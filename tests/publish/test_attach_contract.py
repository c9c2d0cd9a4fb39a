"""Every request, against a server that is made from GitHub's published OpenAPI description (Prism, from npm).

Prism refuses what the description does not allow: a path, a parameter, a field of the wrong type. It needs node, and
``npm install --prefix FOLDER @stoplight/prism-cli @octokit/openapi``, with FOLDER in ``TRITON_TRIAGE_TEST_NPM``.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from triage.publish.github import content, duplicates, gist
from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.client import Client
from triage.publish.github.endpoints import ApiRequest, Endpoints
from triage.publish.github.faults import RequestRefused
from triage.publish.github.message import Message
from triage.publish.github.plan import plan
from triage.publish.github.post import Attachment, People, PostRequest
from triage.publish.github.token import Token
from triage.publish.github.transport import Patience

pytestmark = pytest.mark.slow
pytest.importorskip("urllib3", reason="the extra 'github' is not installed")

_START_S = 120
_PATHS = [
    "/user",
    "/repos/{owner}/{repo}",
    "/search/issues",
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/issues/{issue_number}",
    "/repos/{owner}/{repo}/issues/{issue_number}/comments",
    "/repos/{owner}/{repo}/issues/comments/{comment_id}",
    "/gists",
    "/gists/{gist_id}",
]
_VENDOR = ["application/vnd.github+json", "application/vnd.github.text-match+json"]
"""GitHub's documentation asks for these; its description lists application/json alone, for what they stand for."""
MESSAGE = Message("It fails", "# It fails", "v2|assertion|x", "Assertion failed: x", {"log.txt": "the log"})


def _described(folder: Path, name: str) -> Path:
    found = folder / "node_modules/@octokit/openapi/generated" / name
    if not found.is_file():
        pytest.skip(f"{found} is not there: npm install --prefix {folder} @octokit/openapi")
    return found


def _unwrap(examples: dict[str, Any]) -> None:
    """Some examples of the description hold another whole one where its value belongs."""
    for name, example in list(examples.items()):
        if list(example.get("value", {})) == ["$ref"]:
            examples[name] = example["value"]


@pytest.fixture(scope="module")
def npm() -> Path:
    folder = Path(os.environ.get("TRITON_TRIAGE_TEST_NPM", ""))
    if not os.environ.get("TRITON_TRIAGE_TEST_NPM") or not (folder / "node_modules/.bin/prism").exists():
        pytest.skip("TRITON_TRIAGE_TEST_NPM names no folder with @stoplight/prism-cli and @octokit/openapi")
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    return folder


@pytest.fixture(scope="module", params=["api.github.com.json", "ghes-3.17.json"])
def prism(request: pytest.FixtureRequest, npm: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that is made from the paths that are used."""
    document = json.loads(_described(npm, request.param).read_text())
    document["paths"] = {path: document["paths"][path] for path in _PATHS}
    document["servers"] = [{"url": "http://localhost"}]
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation.get("responses", {}).values() if isinstance(operation, dict) else ():
                kinds = response.get("content", {})
                for kind in kinds.values():
                    _unwrap(kind.get("examples", {}))
                kinds |= {kind: kinds["application/json"] for kind in _VENDOR if "application/json" in kinds}
    folder = tmp_path_factory.mktemp("prism")
    (folder / "api.json").write_text(json.dumps(document))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(npm / "node_modules/.bin/prism"), "mock", "-h", "127.0.0.1", "-p", str(port)]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([*command, str(folder / "api.json")], stdout=log, stderr=log) as process,
    ):
        until = time.monotonic() + _START_S
        while "is listening" not in (folder / "log").read_text():
            assert process.poll() is None and time.monotonic() < until, (folder / "log").read_text()[-2000:]
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture
def endpoints(prism: str) -> Endpoints:
    return Endpoints(GitHubServer.parse(prism), Repository.parse("octocat/Hello-World"))


@pytest.fixture
def client(endpoints: Endpoints) -> Client:
    patience = Patience(read_s=60, tries=1)
    return Client(endpoints.server, Token("token", "GH_TOKEN"), lambda line: None, patience)


REQUESTS: dict[str, Any] = {
    "user": lambda e: e.user(),
    "about": lambda e: e.about(),
    "search": lambda e: e.search("search", '"triton-triage:signature=0123456789abcdef"'),
    "newest": lambda e: e.newest(),
    "issue": lambda e: e.issue(1347),
    "open": lambda e: e.open_issue("title", "body", ("bug", "nvidia")),
    "open-plain": lambda e: e.open_issue("title", "body", ()),
    "edit-issue": lambda e: e.edit_issue(1347, "body"),
    "comments": lambda e: e.comments(1347, 2),
    "comment": lambda e: e.comment(1347, "body"),
    "edit-comment": lambda e: e.edit_comment(1, "body"),
    "gists": lambda e: e.gists(),
    "gist": lambda e: e.gist("aa5a315d61ae9438b18d"),
    "make-gist": lambda e: e.make_gist("a report", {"log.txt": "text"}),
    "edit-gist": lambda e: e.edit_gist("aa5a315d61ae9438b18d", {"log.txt": "text"}),
    "drop-gist": lambda e: e.drop_gist("aa5a315d61ae9438b18d"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_the_description_allows_the_request(endpoints: Endpoints, client: Client, name: str) -> None:
    request: ApiRequest = REQUESTS[name](endpoints)
    assert client.read(request).status in (200, 201, 204)


@pytest.mark.parametrize("body", [{}, {"body": 3}])
def test_the_server_does_refuse_what_is_not_described(endpoints: Endpoints, client: Client, body: Any) -> None:
    right = endpoints.comment(1347, "body")
    with pytest.raises(RequestRefused) as caught:
        client.read(ApiRequest(right.purpose, right.method, right.url, body))
    assert caught.value.status == 422


def test_an_issue_is_what_the_description_asks_for(npm: Path) -> None:
    """Prism does not look at the body of this request."""
    document = json.loads(_described(npm, "api.github.com.json").read_text())
    content = document["paths"]["/repos/{owner}/{repo}/issues"]["post"]["requestBody"]["content"]
    validator = Draft4Validator(content["application/json"]["schema"])
    endpoints = Endpoints(GitHubServer.parse(None), Repository.parse("octocat/Hello-World"))
    validator.validate(endpoints.open_issue("title", "body", ("bug", "nvidia")).body)
    assert not validator.is_valid({"body": "no title"})


def test_the_answers_are_understood(endpoints: Endpoints, client: Client) -> None:
    """Those that the description gives as examples."""
    assert content.whose(client, endpoints) == "octocat"
    assert next(content.comments(client, endpoints, 1347)).body == "Me too"
    assert content.newest(client, endpoints) == [], "the one example is a pull request"
    assert duplicates.search(client, endpoints, MESSAGE.signature, MESSAGE.headline)
    assert gist.keep(client, endpoints, MESSAGE, "octocat", "").made


@pytest.mark.parametrize(
    "wish",
    [
        PostRequest(),
        PostRequest(issue=1347),
        PostRequest(gist=True, labels=("bug",)),
        PostRequest(issue=1347, gist=True),
    ],
)
def test_a_whole_way(endpoints: Endpoints, client: Client, wish: PostRequest) -> None:
    posted = Attachment(client, endpoints, MESSAGE, wish, People(lambda line: None, lambda question: True)).post()
    assert posted is not None
    assert posted.url.startswith("https://github.com/octocat/Hello-World/issues/")


def test_every_planned_request_is_described(endpoints: Endpoints, client: Client) -> None:
    for wish in (PostRequest(gist=True), PostRequest(issue=1347)):
        for one in plan(endpoints, MESSAGE, wish)["requests"]:
            if one["url"].endswith("/graphql"):
                continue  # is no part of the description of REST
            url = one["url"].replace("{comment_id}", "1").replace("{gist_id}", "aa5a315d61ae9438b18d")
            assert client.read(ApiRequest(one["purpose"], one["method"], url, one["body"])).status < 300
