"""Triton versions as text: what a user may write, which releases there are, and their order. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from triage.model.errors import InputError

# Every 3.x release on the Python Package Index when this was written. Newer ones are found by the installer;
# the table only answers what `3.3` means without asking, and what is near a version that does not exist.
RELEASES = (
    *("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.3.1", "3.4.0", "3.5.0"),
    *("3.5.1", "3.6.0", "3.7.0", "3.7.1", "3.8.0", "3.9.0"),
)

OLDEST = "3.0"

_NUMBER = r"(?:0|[1-9]\d{0,4})"
_VERSION = re.compile(
    rf"v?(?P<release>{_NUMBER}\.{_NUMBER}(?P<patch>\.{_NUMBER})?)"
    r"(?:(?P<pre>a|b|rc)(?P<pre_number>\d{1,8}))?(?:\.post(?P<post>\d{1,8}))?(?:\.dev(?P<dev>\d{1,8}))?"
    r"(?P<local>\+[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*)?\Z",
    re.ASCII,
)
_PRE_ORDER = {"a": 0, "b": 1, "rc": 2, None: 3}

Key = tuple[tuple[int, ...], int, int, int, float, str]


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asked for: one release (``3.3.1``), or the newest of a series (``3.3``)."""

    text: str
    is_series: bool

    @property
    def requirement(self) -> str:
        """The request as an installer's requirement."""
        return f"triton=={self.text}.*" if self.is_series else f"triton=={self.text}"

    def accepts(self, version: str) -> bool:
        """Whether an installer may answer the request with ``version`` (PEP 440: a local ``+…`` may be added)."""
        return self.is_met_by(version) or self.is_met_by(version.partition("+")[0])

    def is_met_by(self, version: str) -> bool:
        """Whether ``version`` is the release that was asked for, and not somebody's own build of it."""
        if not self.is_series:
            return version == self.text
        return re.fullmatch(rf"{re.escape(self.text)}\.\d+(\.post\d+)?", version) is not None


def parse(text: str) -> Request:
    """Read ``3.2.0``, ``3.2``, ``3.5.0rc1``, ``3.4.0+git1a2b3c``.

    A series that is over (a newer one is known) becomes its newest release here, without asking an installer.
    Raises InputError for anything else, and for Triton before 3.0.
    """
    match = _VERSION.match(text.strip())
    if match is None:
        raise InputError(f"--triton {text!r}: not a Triton version; write 3.2 or 3.2.0")
    text = text.strip().removeprefix("v")
    major = int(match["release"].partition(".")[0])
    if major < 3:
        raise InputError(f"--triton {text}: Triton {major}.x is not supported; {OLDEST} is the oldest")
    if match["patch"] is None and text != match["release"]:
        raise InputError(f"--triton {text!r}: write all three numbers of the release, as in 3.2.0rc1")
    if match["patch"] is not None:
        return Request(text, is_series=False)
    series = Request(text, is_series=True)
    known = [release for release in RELEASES if series.is_met_by(release)]
    if known and known[-1] != RELEASES[-1]:
        return Request(known[-1], is_series=False)
    return series


def is_supported(version: str) -> bool:
    """Whether an installed Triton is new enough; a version that cannot be read gets the benefit of the doubt."""
    major = re.match(r"\d+", version)
    return major is None or int(major.group()) >= 3


def sort_key(version: str) -> Key:
    """Order versions as releases follow each other; text that is no version comes first."""
    match = _VERSION.match(version)
    if match is None:
        return ((), 0, 0, 0, 0.0, version)
    return (
        tuple(int(number) for number in match["release"].split(".")),
        # A bare .devN comes before the first alpha.
        -1 if match["dev"] and not match["pre"] and not match["post"] else _PRE_ORDER[match["pre"]],
        int(match["pre_number"] or 0),
        int(match["post"] or -1),
        float(match["dev"] or "inf"),
        match["local"] or "",
    )


def nearest(version: str, released: Iterable[str], count: int = 3) -> list[str]:
    """The ``count`` supported releases around where ``version`` would be, in order."""
    known = sorted({one for one in released if _VERSION.match(one) and is_supported(one)}, key=sort_key)
    place = sum(sort_key(one) < sort_key(version) for one in known)
    start = max(0, min(place - (count + 1) // 2, len(known) - count))
    return known[start : start + count]
