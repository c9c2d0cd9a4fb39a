"""The content of a post: title, body and gist files, scrubbed, within GitHub's limits, with the marker at the end.

The invisible marker identifies triage's posts: an HTML comment with a digest of the signature. A digest, because a
signature contains log text that could end the comment, and because search finds a single word reliably. The word is
also visible, since the search of an Enterprise Server does not index comments
(github.com/pfnet-research/alertmanager-to-github/pull/28)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from triage.model.errors import EnvironmentFault

MOST_BODY = 65_536
"""GitHub's limit for the text of an issue or comment, in characters."""
MOST_TITLE = 256
"""GitHub's limit for an issue's title, in characters."""
_DIGITS = 16
"""64 bits: among a million bugs, the chance that two share a digest is one in 30 million."""
_SIGNATURE = re.compile(r"<!-- triton-triage:signature=([0-9a-f]{16}) -->")
_GIST = re.compile(r"<!-- triton-triage:gist=([0-9a-f]{1,64}) -->")


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
        marks = last_line(self.signature)
        if gist is not None:
            lines.append(f"Long artifacts ({', '.join(f'`{name}`' for name in self.files)}): {gist.url}")
            marks += f"<!-- triton-triage:gist={gist.identifier} -->"
        text = "\n\n".join([*lines, marks]) + "\n"
        if len(text) > MOST_BODY:
            raise EnvironmentFault(f"the report has {len(text)} characters, and GitHub takes {MOST_BODY}: use --open")
        return text


@dataclass(frozen=True, slots=True)
class Gist:
    """A secret gist: anyone who has ``url`` can read it. ``new``: nothing links it if the post fails."""

    identifier: str
    url: str
    new: bool = False


def digest(signature: str) -> str:
    """The signature as one word to search for."""
    return hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def word(signature: str) -> str:
    """The content of the marker."""
    return f"triton-triage:signature={digest(signature)}"


def mark(signature: str) -> str:
    """The HTML comment."""
    return f"<!-- {word(signature)} -->"


def last_line(signature: str) -> str:
    """The end of a post: the word that search finds, and the HTML comment."""
    return f"Signature `{digest(signature)}` {mark(signature)}"


def signature_of(body: str) -> str | None:
    """The digest in a post's marker."""
    return _last(_SIGNATURE, body)


def gist_of(body: str) -> str | None:
    """The gist id in a post's marker."""
    return _last(_GIST, body)


def _last(pattern: re.Pattern[str], body: str) -> str | None:
    # The markers are at the end; the text before them comes from a log, which may quote one.
    matches = pattern.findall(body)
    return str(matches[-1]) if matches else None
