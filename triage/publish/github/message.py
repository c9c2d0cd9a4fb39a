"""What is posted: title, body and the files of a gist, scrubbed, within GitHub's limits, with the mark at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triage.model.errors import EnvironmentFault
from triage.publish.github.mark import gist_mark, mark, visible_line

MOST_BODY = 65_536
"""Characters of an issue's or comment's text that GitHub takes."""
MOST_TITLE = 256
"""Characters of an issue's title that GitHub takes."""


@dataclass(frozen=True, slots=True)
class Message:
    """``title`` is one line; ``report`` is Markdown that leaves room for the lines under it; ``files`` by name are
    what a gist holds. ``signature`` says which bug it is, ``headline`` what it is called. All but the signature are
    scrubbed."""

    title: str
    report: str
    signature: str
    headline: str
    files: Mapping[str, str]

    def body(self, gist: Gist | None = None) -> str:
        """The text of the issue or comment. Raises EnvironmentFault where it cannot be made to fit."""
        lines = [self.report.rstrip()]
        marks = f"{visible_line(self.signature)} {mark(self.signature)}"
        if gist is not None:
            lines.append(f"Long artifacts ({', '.join(f'`{name}`' for name in self.files)}): {gist.url}")
            marks += gist_mark(gist.identifier)
        text = "\n\n".join([*lines, marks]) + "\n"
        if len(text) > MOST_BODY:
            raise EnvironmentFault(f"the report has {len(text)} characters, and GitHub takes {MOST_BODY}: use --open")
        return text


@dataclass(frozen=True, slots=True)
class Gist:
    """A secret gist: who knows ``url`` can read it."""

    identifier: str
    url: str
