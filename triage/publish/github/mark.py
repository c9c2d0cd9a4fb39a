"""The invisible mark by which a post of triage's is known again: an HTML comment with a digest of the signature.

A digest, because a signature is text from a log: it may hold what ends a comment, and a search finds one word for
certain. That word is visible as well, since the search of an Enterprise Server does not see comments
(github.com/pfnet-research/alertmanager-to-github/pull/28).
"""

from __future__ import annotations

import hashlib
import re

_DIGITS = 16
"""64 bits: among a million bugs, two that share a digest are one in 30 million."""
_SIGNATURE = re.compile(r"<!-- triton-triage:signature=([0-9a-f]{16}) -->")
_GIST = re.compile(r"<!-- triton-triage:gist=([0-9a-f]{1,64}) -->")


def digest(signature: str) -> str:
    """The signature as one word, which is what is searched for."""
    return hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def word(signature: str) -> str:
    """What stands in the mark."""
    return f"triton-triage:signature={digest(signature)}"


def mark(signature: str) -> str:
    """The comment itself."""
    return f"<!-- {word(signature)} -->"


def visible_line(signature: str) -> str:
    """The line that a search finds."""
    return f"Signature `{digest(signature)}`"


def gist_mark(identifier: str) -> str:
    """Says which gist belongs to a post."""
    return f"<!-- triton-triage:gist={identifier} -->"


def signature_of(body: str) -> str | None:
    """The digest that a post's mark holds."""
    return _last(_SIGNATURE, body)


def gist_of(body: str) -> str | None:
    """The gist that a post's mark names."""
    return _last(_GIST, body)


def _last(pattern: re.Pattern[str], body: str) -> str | None:
    # The marks stand at the end; what stands before them is a log's, which may quote one.
    found = pattern.findall(body)
    return str(found[-1]) if found else None
