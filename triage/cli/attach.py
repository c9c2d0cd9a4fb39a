"""``triage attach``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from triage.cli.options import case_options, compile_options
from triage.cli.report import finished_for
from triage.model.errors import InputError
from triage.publish.compose.whole import compose, files, scrubber_for
from triage.publish.document import Document
from triage.publish.formats import markdown
from triage.publish.github import token
from triage.publish.github.address import GitHubServer, Repository
from triage.publish.github.client import Client
from triage.publish.github.endpoints import Endpoints
from triage.publish.github.message import MOST_TITLE, Message
from triage.publish.github.plan import plan
from triage.publish.github.post import Attachment, People, PostRequest
from triage.publish.github.prefilled import prefilled
from triage.publish.visible import one_line


@click.command("attach")
@click.argument("place", metavar="CASE|FOLDER")
@click.option("--repo", required=True, metavar="OWNER/NAME", help="Where: triton-lang/triton, …")
@click.option("--issue", type=click.IntRange(min=1), metavar="N", help="Comment on this issue, or update the comment.")
@click.option("--new", is_flag=True, help="Open an issue, which is what happens without --issue.")
@click.option("--title", metavar="TEXT", help="Of the new issue. [the headline]")
@click.option("--label", "labels", multiple=True, metavar="L", help="For the new issue; several times.")
@click.option("--gist", is_flag=True, help="Put log, IR and reproducer into a secret gist.")
@click.option("--yes", is_flag=True, help="Post although there may be such an issue, and ask nothing.")
@click.option("--dry-run", is_flag=True, help="Print the requests as JSON, and send nothing.")
@click.option("--open", "open_", is_flag=True, help="Print the address of a pre-filled issue; needs no token.")
@click.option("--api-url", metavar="URL", help="Of an Enterprise Server: https://ghe.example.com/api/v3.")
@click.option("--anonymize", is_flag=True, help="From the reduction with its names changed, and nothing else.")
@case_options
@compile_options
@click.option("--budget", metavar="N|SECONDSs", help="For a CASE, as for check.")
@click.option("--kb", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Entries of your own.")
def command(
    place: str,
    repo: str,
    issue: int | None,
    new: bool,
    title: str | None,
    labels: tuple[str, ...],
    gist: bool,
    yes: bool,
    dry_run: bool,
    open_: bool,
    api_url: str | None,
    anonymize: bool,
    **given: Any,
) -> int:
    """Post the report of a finished triage to GitHub, as a comment or an issue. A CASE is checked first.

    What was posted before is updated. The token is that of GH_TOKEN, GITHUB_TOKEN or gh; for an Enterprise Server of
    GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN or gh.
    """
    if issue is not None and (new or open_ or title is not None or labels):
        raise InputError("--issue names an issue that is there: leave out --new, --open, --title and --label")
    server, repository = GitHubServer.parse(api_url), Repository.parse(repo)
    wish = PostRequest(issue, labels, gist, yes)
    endpoints = Endpoints(server, repository)
    # Before minutes of compiling: what is missing is said at once.
    client = None if dry_run or open_ else Client(server, token.find(server, os.environ), _note)
    document, message = _made(place, title, anonymize, given)
    if open_:
        _open(server, repository, document, message, labels, launch=not dry_run)
        return 0
    if client is None:
        click.echo(json.dumps(plan(endpoints, message, wish), indent=2))
        return 0
    people = People(_note, _ask if sys.stdin.isatty() and sys.stderr.isatty() else None)
    posted = Attachment(client, endpoints, message, wish, people).post()
    click.echo(one_line(f"{posted.how}: {posted.url}" if posted else "nothing was posted"))
    return 0


def _made(place: str, title: str | None, anonymize: bool, given: dict[str, Any]) -> tuple[Document, Message]:
    found = finished_for(place, anonymize, given)
    for path in found.left_out:
        _note(f"{path}: left out; it is of another failure, or one of several")
    scrubber = scrubber_for(found)
    document = compose(found, scrubber)
    if not found.signature and not (found.report and found.report.diagnosis):
        raise InputError(f"{place}: compiles; there is no failure to attach")
    named = one_line(scrubber.text(title)) if title is not None else document.title
    if not named:
        raise InputError("--title: is empty; leave it out for the headline")
    message = Message(
        title=named[:MOST_TITLE],
        report=markdown.render(document),
        signature=found.signature or document.headline,
        headline=document.headline,
        files=files(found, scrubber),
    )
    return document, message


def _open(
    server: GitHubServer,
    repository: Repository,
    document: Document,
    message: Message,
    labels: tuple[str, ...],
    launch: bool,
) -> None:
    made = prefilled(server, repository, document, message.title, message.signature, labels)
    if made.shortened:
        _note("the address holds a part of the report, which says what was left out; triage report prints the whole")
    click.echo(made.url)
    if launch and sys.stdout.isatty():
        click.launch(made.url)


def _note(line: str) -> None:
    click.echo(one_line(f"triage: {line}"), err=True)


def _ask(question: str) -> bool:
    return click.confirm(question, default=False, err=True)
