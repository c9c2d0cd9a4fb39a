"""``triage help``: the user pages of the READMEs in the package."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

import click

from triage.filesystem.shipped import documentation_files
from triage.model.errors import InputError
from triage.publish.formats.terminal import console

_USER_PART = re.compile(r"^## For users\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_TOPIC = re.compile(r"^### ([a-z][a-z-]*): ([^\n]+)\n(.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
_LOCAL_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Topic:
    """One page: a section ``### name: Summary`` under "For users" of a README."""

    name: str
    summary: str
    text: str
    file: Path


def topics() -> dict[str, Topic]:
    """All pages by name, in alphabetical order."""
    pages = [
        Topic(name, summary, text.strip(), file)
        for file in documentation_files()
        for part in _USER_PART.findall(file.read_text(encoding="utf-8"))
        for name, summary, text in _TOPIC.findall(part)
    ]
    return {page.name: page for page in sorted(pages, key=lambda page: page.name)}


@click.command("help")
@click.argument("name", required=False, metavar="[TOPIC]")
def command(name: str | None) -> int:
    """Print the documentation of TOPIC; without TOPIC, list the topics.

    The options of a command are in `triage COMMAND --help`.
    """
    pages = topics()
    if name is None:
        width = max(map(len, pages))
        for page in pages.values():
            click.echo(f"{page.name:<{width}}  {page.summary}")
        return 0
    if name not in pages:
        close = difflib.get_close_matches(name, pages, n=1)
        hint = f"did you mean {close[0]}?" if close else "see triage help for the topics"
        raise InputError(f"help {name}: unknown topic; {hint}")
    # Imported here because the list of topics does not need it: it takes longer to load than the list takes to print.
    from rich.markdown import Markdown

    page = pages[name]
    # A link to another file is of no use on a terminal; its text is.
    text = _LOCAL_LINK.sub(r"\1", page.text)
    console.output().print(Markdown(f"# {page.summary}\n\n{text}", hyperlinks=False))
    return 0
