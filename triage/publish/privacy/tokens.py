"""Credentials recognised by their own form: those of ``credentials.toml``, and keys in lines.

A table of our own: existing libraries report the line of a secret, not its extent, and know neither names nor paths
(detect-secrets 1.5.0 finds ten of the fifty kinds of private text in the tests)."""

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Any

from triage.publish.privacy.generated import is_value
from triage.publish.privacy.rule import START, Removal, Rule, ScrubRule, removed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = "credentials.toml"
_MOST = 2048
"""Maximum length of a token in characters; none is as long."""


@cache
def table() -> dict[str, Any]:
    """The content of ``credentials.toml``."""
    content: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
    return content


def _rule(row: dict[str, Any]) -> ScrubRule:
    if "prefixes" in row:
        anchors = tuple(prefix.lower() for prefix in row["prefixes"])
        rest = f"[{row['rest']}]"
        prefixes = "|".join(map(re.escape, row["prefixes"]))
        pattern = rf"{START}(?:{prefixes})(?P<rest>{rest}{{{row['least']},{_MOST}}}){row.get('tail', '')}"
        if not row.get("mixed"):
            return removed(row["kind"], pattern, *anchors)
        placeholder = f"<{row['kind']}>"
        return ScrubRule(
            row["kind"], re.compile(pattern), lambda match: placeholder if is_value(match["rest"]) else None, anchors
        )
    anchors, leads = tuple(row.get("anchors", ())), row.get("leads")
    start = START if anchors and not leads else ""
    return removed(row["kind"], start + row["pattern"], *anchors, lead=leads, needs=row.get("needs", ()))


_LINE = r"[A-Za-z0-9+/=]{16,80}"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# Up to its end; where a text ends before that, the lines of it that there are, each perhaps behind a log's prefix.
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:(?:[^-]|-(?!----)){{0,20000}}{_END}"
    rf"|(?:[^\nA-Za-z0-9+/=]{{0,16}}(?:\n|$)?(?:[^\n]{{0,40}}?[^\nA-Za-z0-9+/=])?{_LINE}(?=[\s\"']|$)){{0,400}})"
)
_PUTTY = (
    rf"Private-Lines:[ \t]{{0,8}}\d{{1,4}}(?:\s{{1,64}}{_LINE}){{1,400}}"
    r"(?:\s{1,64}Private-MAC:[ \t]{0,8}[0-9a-f]{16,128})?"
)


class _TailOfKey:
    """Where a text begins in the middle of a key: the whole lines of it, up to its end."""

    name, anchors, needs = "private key", ("-----end ",), ()
    _end = re.compile(_END)
    _line = re.compile(rf"[#;/* \t]{{0,16}}{_LINE}[ \t\r]{{0,4}}")

    def edits(self, text: str, anchors_at: Iterable[int]) -> Iterator[Removal]:
        for at in anchors_at:
            last = text.rfind("\n", 0, at) + 1
            start = last
            while start and self._line.fullmatch(text, before := text.rfind("\n", 0, start - 1) + 1, start - 1):
                start = before
            if start < last and (end := self._end.match(text, at)):
                yield Removal(start, end.end(), "<private key>")


TOKENS: tuple[Rule, ...] = (
    removed("private key", _PEM, "-----begin "),
    removed("private key", _PUTTY, "private-lines:", flags=re.IGNORECASE),
    _TailOfKey(),
    *map(_rule, table()["credential"]),
)
"""In the order of precedence."""
