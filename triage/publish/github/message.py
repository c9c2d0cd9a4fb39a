"""The content of a post: title, body and gist files, scrubbed, within GitHub's limits, with the marker at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triage.model.errors import EnvironmentFault
from triage.publish.github.mark import gist_mark, mark, visible_line

MOST_BODY = 65_536
"""GitHub's limit for the text of an issue or comment, in characters."""
MOST_TITLE = 256
"""GitHub's limit for an issue's title, in characters."""


@dataclass(frozen=True, slots=True)
class Message:
    """``title`` is one line; ``report`` is Markdown with room for the lines below it; ``files`` are the gist's, by
    name. All but ``signature`` are scrubbed."""

    title: str
    report: str
    signature: str
    headline: str
    files: Mapping[str, str]

    def body(self, gist: Gist | None = None) -> str:
        """The text of the issue or comment. Raises EnvironmentFault if it is too long."""
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
    """A secret gist: anyone who has ``url`` can read it."""

    identifier: str
    url: str
