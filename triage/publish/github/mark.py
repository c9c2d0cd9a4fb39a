"""The invisible marker that identifies triage's posts: an HTML comment with a digest of the signature.

A digest, because a signature contains log text that could end the comment, and because search finds a single word
reliably. The word is also visible, since the search of an Enterprise Server does not index comments
(github.com/pfnet-research/alertmanager-to-github/pull/28)."""

from __future__ import annotations

import hashlib
import re

_DIGITS = 16
"""64 bits: among a million bugs, the chance that two share a digest is one in 30 million."""
_SIGNATURE = re.compile(r"<!-- triton-triage:signature=([0-9a-f]{16}) -->")
_GIST = re.compile(r"<!-- triton-triage:gist=([0-9a-f]{1,64}) -->")


def digest(signature: str) -> str:
    """The signature as one word to search for."""
    return hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def word(signature: str) -> str:
    """The content of the marker."""
    return f"triton-triage:signature={digest(signature)}"


def mark(signature: str) -> str:
    """The HTML comment."""
    return f"<!-- {word(signature)} -->"


def visible_line(signature: str) -> str:
    """The line that search finds."""
    return f"Signature `{digest(signature)}`"


def gist_mark(identifier: str) -> str:
    """Links a gist to a post."""
    return f"<!-- triton-triage:gist={identifier} -->"


def signature_of(body: str) -> str | None:
    """The digest in a post's marker."""
    return _last(_SIGNATURE, body)


def gist_of(body: str) -> str | None:
    """The gist id in a post's marker."""
    return _last(_GIST, body)


def _last(pattern: re.Pattern[str], body: str) -> str | None:
    # The marks stand at the end; what stands before them is a log's, which may quote one.
    matches = pattern.findall(body)
    return str(matches[-1]) if matches else None
