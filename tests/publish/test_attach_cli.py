"""``triage attach`` as a user starts it, against a server on a real socket."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from commands import Run, Triage, start_triage
from github_server import TOKEN, GitHub, Reply
from golden_files import Golden
from markdown_it import MarkdownIt

import triage
from triage.publish.github.message import digest

pytest.importorskip("urllib3", reason="the extra 'github' is not installed")

HEADLINE = "input and other must have equal reduction dimensions"


@pytest.fixture(scope="session")
def finished(check: Triage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``triage check -o`` leaves of a case that fails."""
    folder = tmp_path_factory.mktemp("finished")
    assert check("dot-inner-extents", "--no-suggest", "-o", folder).code == 1
    return folder


Attach = Callable[..., Run]


@pytest.fixture
def attach(cli: Triage, finished: Path, github: GitHub) -> Attach:
    """``triage attach FOLDER --repo octo/kernels --api-url …``, with a token."""

    def run(*arguments: str, **variables: str) -> Run:
        own = {"GH_ENTERPRISE_TOKEN": TOKEN, "GH_TOKEN": "", "GITHUB_TOKEN": ""}
        where = ["attach", finished, "--repo", "octo/kernels", "--api-url", github.url]
        return cli(*where, *arguments, **{**own, **variables})

    return run


def test_an_issue_and_then_its_update(attach: Attach, github: GitHub, golden: Golden) -> None:
    done = attach("--label", "bug")
    (number,) = github.issues
    assert (done.code, done.out, done.err) == (0, f"opened: {github.issues[number]['html_url']}\n", "")
    assert HEADLINE in github.issues[number]["title"]
    assert "### Describe the bug" in github.issues[number]["body"]
    again = attach()
    assert (again.code, again.out) == (2, "")
    golden(again.err.splitlines()[-1])
    assert attach("--issue", str(number)).out == f"updated: {github.issues[number]['html_url']}\n"


def test_a_gist_has_the_long_artifacts(attach: Attach, github: GitHub) -> None:
    assert attach("--gist", "--title", "my own\ntitle").code == 0
    (gist,) = github.gists.values()
    assert {"report.json", "log.txt"} <= set(gist["files"])
    (issue,) = github.issues.values()
    assert issue["title"] == "my own title"


def test_a_dry_run_prints_the_requests_and_sends_none(attach: Attach, github: GitHub) -> None:
    done = attach("--dry-run", "--gist", GH_ENTERPRISE_TOKEN="")
    assert (done.code, done.err, github.seen) == (0, "", [])
    assert done.document["schema"] == "triton-triage/attach/1"
    requests = done.document["requests"]
    assert [(one["method"], urlsplit(one["url"]).path) for one in requests] == [
        ("GET", "/user"),
        ("POST", "/graphql"),
        ("GET", "/repos/octo/kernels"),
        ("GET", "/repos/octo/kernels/issues"),
        ("GET", "/search/issues"),
        ("GET", "/search/issues"),
        ("GET", "/gists/{gist_id}"),
        ("PATCH", "/gists/{gist_id}"),
        ("POST", "/gists"),
        ("POST", "/repos/octo/kernels/issues"),
        ("DELETE", "/gists/{gist_id}"),
    ]
    attach("--gist")
    sent = github.sent("POST")
    assert [requests[8]["body"], requests[9]["body"]["title"]] == [sent[0].body, sent[1].body["title"]]


def test_what_is_posted_is_scrubbed(attach: Attach, github: GitHub) -> None:
    secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
    done = attach("--gist", "--title", f"fails with {secret} at /home/mallory/kernels/k.py")
    assert done.code == 0
    posted = json.dumps([one.body for one in github.sent("POST")])
    assert [text for text in (secret, "mallory", str(Path.home()) + "/") if text in posted] == []


def test_no_token_says_how_to_get_one(attach: Attach, github: GitHub, golden: Golden, tmp_path: Path) -> None:
    done = attach(GH_ENTERPRISE_TOKEN="", GH_TOKEN=TOKEN, PATH=str(tmp_path))
    assert (done.code, done.out, github.seen) == (3, "", [])
    golden(done.err.replace(urlsplit(github.url).netloc, "HOST"))


def test_without_the_extra_only_posting_does_not_work(
    attach: Attach, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "urllib3", None)
    assert attach("--dry-run").code == 0
    assert attach("--open").code == 0
    done = attach()
    assert (done.code, done.out) == (3, "")
    golden(done.err)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(401, {"message": f"bad {TOKEN}"}), 3),
        (Reply(404, {"message": "Not Found"}), 2),
        (Reply(200, raw=b"<html>"), 3),
        (Reply(301, None, {"Location": "https://evil.example/"}), 3),
    ],
    ids=["refused", "not found", "not JSON", "redirected"],
)
def test_what_fails_is_one_line_without_the_token(
    attach: Attach, github: GitHub, golden: Golden, reply: Reply, code: int
) -> None:
    github.fail("GET", "/repos/octo/kernels$", reply)
    done = attach()
    golden(done.err)
    assert TOKEN not in done.err + done.out
    assert (done.code, len(done.err.splitlines())) == (code, 1)


def test_nor_does_a_traceback_show_the_token(empty_cache: Path, finished: Path, github: GitHub) -> None:
    github.fail("GET", "/repos/octo/kernels$", Reply(401, {"message": f"bad {TOKEN}"}))
    arguments = ["attach", finished, "--repo", "octo/kernels", "--api-url", github.url, "--debug"]
    done = start_triage(empty_cache, *arguments, GH_ENTERPRISE_TOKEN=TOKEN)
    assert "Traceback" in done.err
    assert TOKEN not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--issue", "3", "--new"],
        ["--issue", "3", "--label", "bug"],
        ["--issue", "0"],
        ["--title", " "],
        ["--repo", "kernels"],
        ["--api-url", "http://ghe.example.com"],
    ],
    ids=" ".join,
)
def test_bad_arguments(attach: Attach, github: GitHub, golden: Golden, arguments: list[str]) -> None:
    done = attach(*arguments)
    golden(done.err)
    assert (done.code, done.out, github.seen, done.err.count("\n")) == (2, "", [], 1)


def test_what_compiles_is_nothing_to_attach(cli: Triage, finished: Path, tmp_path: Path) -> None:
    document = json.loads((finished / "report.json").read_text())
    document |= {"diagnosis": None, "outcome": {**document["outcome"], "status": "ok", "stage": None}}
    (tmp_path / "report.json").write_text(json.dumps(document))
    done = cli("attach", tmp_path, "--repo", "octo/kernels", "--dry-run")
    assert (done.code, done.out) == (2, "")
    assert "there is no failure to attach" in done.err


class TestOpen:
    def test_the_address_is_short_enough_and_filled_in(self, attach: Attach, github: GitHub, finished: Path) -> None:
        done = attach("--open", "--label", "bug", GH_ENTERPRISE_TOKEN="")
        url = done.out.strip()
        fields = parse_qs(urlsplit(url).query)
        assert (done.code, github.seen, url.startswith(f"{github.url}/octo/kernels/issues/new?")) == (0, [], True)
        assert len(url) <= 8_000
        assert HEADLINE in fields["title"][0]
        assert fields["body"][0].startswith("### Describe the bug")
        assert "triton-triage:signature=" in fields["body"][0]
        assert fields["labels"] == ["bug"]

    def test_what_was_left_out_is_said(self, cli: Triage, finished: Path, tmp_path: Path) -> None:
        document = json.loads((finished / "report.json").read_text())
        (tmp_path / "log.txt").write_text("a line of the log\n" * 3_000)
        document["artifacts"] = {"log": str(tmp_path / "log.txt")}
        document["diagnosis"]["message"] = "é" * 50_000
        (tmp_path / "report.json").write_text(json.dumps(document))
        done = cli("attach", tmp_path, "--repo", "octo/kernels", "--open")
        assert (done.code, len(done.out.strip()) <= 8_000) == (0, True)
        assert done.out.startswith("https://github.com/octo/kernels/issues/new?")
        assert done.err.startswith("triage: the URL contains a part of the report, which names what was left out; ")


HOSTILE = [
    "--> <script>alert(1)</script> <!-- triton-triage:signature=0000000000000000 -->",
    "``` </details> ~~~~ @everyone #1 octo/kernels#2",
    "\x00\x1b[31mred\x1b]0;t\x07 \u202e",
    "a\r\nb\n\n# title\n\n![x](https://evil.example/x.png)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_place(cli: Triage, finished: Path, tmp_path: Path, text: str) -> None:
    document = json.loads((finished / "report.json").read_text())
    document["diagnosis"] |= {"headline": text, "message": text, "signature": f"v2|{text}", "pass": text}
    document["artifacts"] = {"log": str(tmp_path / "log.txt")}
    (tmp_path / "log.txt").write_text(text)
    (tmp_path / "report.json").write_text(json.dumps(document))
    done = cli("attach", tmp_path, "--repo", "octo/kernels", "--dry-run", "--gist")
    assert done.code == 0, done.err
    posted = next(one["body"] for one in done.document["requests"] if one["url"].endswith("/kernels/issues"))
    assert not set(posted["title"]) & set("\r\n\x00\x1b\u202e")
    marks = re.findall(r"<!-- triton-triage:signature=([0-9a-f]+) -->", posted["body"])
    assert marks[-1] == digest(f"v2|{text}")
    tokens = MarkdownIt("commonmark").enable("table").parse(posted["body"])
    html = [token.content for token in tokens if token.type == "html_block"]
    html += [child.content for token in tokens for child in token.children or () if child.type == "html_inline"]
    own = rf"</?(details|summary|sub|br)\b|<!-- triton-triage:(gist=|signature={marks[-1]})"
    assert [one for one in html if not re.match(own, one.strip())] == []
    assert not [child for token in tokens for child in token.children or () if child.type == "image"]


@pytest.mark.parametrize(("typed", "opened"), [(b"y\n", True), (b"\n", False)])
def test_on_a_terminal_a_duplicate_is_asked_about(
    finished: Path, github: GitHub, empty_cache: Path, typed: bytes, opened: bool
) -> None:
    words = "AssertionError input and other must have equal reduction dimensions"
    github.add_issue(words)
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(triage.__file__).parent.parent),
        "TRITON_TRIAGE_CACHE": str(empty_cache),
        "GH_ENTERPRISE_TOKEN": TOKEN,
    }
    command = [sys.executable, "-m", "triage", "attach", finished, "--repo", "octo/kernels", "--api-url", github.url]
    done = subprocess.run(command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=environment, check=False)
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "Open another issue all the same? [y/N]" in said
    assert done.returncode == 0
    assert done.stdout.decode().startswith("opened: " if opened else "nothing was posted")
    assert len(github.issues) == 1 + opened
