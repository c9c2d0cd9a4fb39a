"""``triage attach``."""

import functools
import os
import sys
from typing import Any

import click

from triage.cli.options import budget_option, case_options, compile_options, kb_option, note, print_json
from triage.cli.report import finished_for
from triage.model.errors import InputError
from triage.model.visible import one_line
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


@click.command("attach")
@click.argument("name", metavar="CASE|FOLDER")
@click.option("--repo", required=True, metavar="OWNER/NAME", help="The repository: triton-lang/triton, …")
@click.option("--issue", type=click.IntRange(min=1), metavar="N", help="Comment on this issue, or update the comment.")
@click.option("--new", is_flag=True, help="Open an issue; the default without --issue.")
@click.option("--title", metavar="TEXT", help="Title of the new issue. [the headline]")
@click.option("--label", "labels", multiple=True, metavar="L", help="Label for the new issue; repeatable.")
@click.option("--gist", is_flag=True, help="Put log, IR and reproducer into a secret gist.")
@click.option("--yes", is_flag=True, help="Post without asking, even if a similar issue exists.")
@click.option("--dry-run", is_flag=True, help="Print the requests as JSON; send nothing.")
@click.option("--open", "open_", is_flag=True, help="Print the URL of a pre-filled issue; needs no token.")
@click.option("--api-url", metavar="URL", help="API of an Enterprise Server: https://ghe.example.com/api/v3.")
@click.option("--anonymize", is_flag=True, help="Use only the reduction with changed names.")
@case_options
@compile_options
@budget_option
@kb_option
def command(
    name: str,
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
    **values: Any,
) -> int:
    """Post the report of a finished triage to GitHub, as a comment or an issue. A CASE is checked first.

    A post from an earlier run is updated. The token comes from GH_TOKEN, GITHUB_TOKEN or gh; for an Enterprise Server
    from GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN or gh.
    """
    if issue is not None and (new or open_ or title is not None or labels):
        raise InputError("--issue names an existing issue: leave out --new, --open, --title and --label")
    server, repository = GitHubServer.parse(api_url), Repository.parse(repo)
    request = PostRequest(issue, labels, gist, yes)
    endpoints = Endpoints(server, repository)
    # Before minutes of compiling, so that a missing token is reported at once.
    client = None if dry_run or open_ else Client(server, token.find(server, os.environ), note)
    document, message = _composed(name, title, anonymize, values)
    if open_:
        url, shortened = prefilled(server, repository, document, message.title, message.signature, labels)
        if shortened:
            rest = "which names what was left out; triage report prints all of it"
            note(f"the URL contains a part of the report, {rest}")
        click.echo(url)
        if sys.stdout.isatty() and not dry_run:
            click.launch(url)
        return 0
    if client is None:
        print_json(plan(endpoints, message, request))
        return 0
    ask = functools.partial(click.confirm, default=False, err=True)
    people = People(note, ask if sys.stdin.isatty() and sys.stderr.isatty() else None)
    posted = Attachment(client, endpoints, message, request, people).post()
    click.echo(one_line(f"{posted.how}: {posted.url}" if posted else "nothing was posted"))
    return 0


def _composed(name: str, title: str | None, anonymize: bool, values: dict[str, Any]) -> tuple[Document, Message]:
    finished = finished_for(name, anonymize, values)
    scrubber = scrubber_for(finished)
    document = compose(finished, scrubber)
    if not finished.signature and not (finished.report and finished.report.diagnosis):
        raise InputError(f"{name}: compiles; there is no failure to attach")
    headline = one_line(scrubber.text(title)) if title is not None else document.title
    if not headline:
        raise InputError("--title: empty; leave it out to use the headline")
    message = Message(
        title=headline[:MOST_TITLE],
        report=markdown.render(document),
        signature=finished.signature or document.headline,
        headline=document.headline,
        files=files(finished, scrubber),
    )
    return document, message
