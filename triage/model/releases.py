"""Versions of a compiler as text: what a user may write, their order and ranges. Pure.

Versions are those of PEP 440, read by ``packaging``; it is imported when the first one is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triage.model.compilers import TRITON, Compiler
from triage.model.errors import InputError

if TYPE_CHECKING:
    from packaging.version import Version

RELEASES = TRITON.releases
_LARGEST_NUMBER = 99_999
"""Of a part of a version that a user asks for; anything above is a typing error."""
_BOUND = re.compile(r"\s*(?:<=|>=|<|>|==)\s*\d+(?:\.\d+)*\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """What a user asked for: one release (``3.3.1``), or the newest of a series (``3.3``)."""

    text: str
    is_series: bool
    compiler: Compiler = TRITON

    @property
    def requirement(self) -> str:
        """The request as an installer's requirement."""
        return f"{self.compiler.distribution}=={self.text}{'.*' if self.is_series else ''}"

    def accepts(self, version: str) -> bool:
        """Whether an installer may answer the request with ``version`` (PEP 440: a local ``+…`` may be added)."""
        return self.is_met_by(version) or self.is_met_by(without_local(version))

    def is_met_by(self, version: str) -> bool:
        """Whether ``version`` is the release that was asked for, and not a custom build of it."""
        if not self.is_series:
            return version == self.text
        parsed = read(version)
        return (
            parsed is not None
            and f"{parsed.major}.{parsed.minor}" == self.text
            and len(parsed.release) == 3
            and not (parsed.is_prerelease or parsed.local)
        )


def read(text: str) -> Version | None:
    """A version as ``packaging`` reads it, None for text that is not one."""
    from packaging.version import Version

    try:
        return Version(text)
    except ValueError:
        return None


def parse(text: str, compiler: Compiler = TRITON) -> ReleaseRequest:
    """Read ``3.2.0``, ``3.2``, ``3.5.0rc1``, ``3.4.0+git1a2b3c``.

    A series that is over (a newer one is known) becomes its newest release here, without asking an installer.
    Raises InputError for anything else, and for releases before the oldest that is supported.
    """
    version = read(text)
    text = text.strip().removeprefix("v")
    if (
        version is None
        or version.public != without_local(text)
        or version.epoch
        or len(version.release) not in (2, 3)
        or max(version.release) > _LARGEST_NUMBER
    ):
        example = compiler.releases[-1]
        series = example.rpartition(".")[0]
        raise InputError(f"{compiler.option} {text!r}: not a version of {compiler.title}; write {series} or {example}")
    if version.major < compiler.oldest_major:
        raise InputError(
            f"{compiler.option} {text}: {compiler.title} {version.major}.x is not supported; "
            f"{compiler.oldest} is the oldest"
        )
    if len(version.release) == 3:
        return ReleaseRequest(text, is_series=False, compiler=compiler)
    if text != version.base_version:
        raise InputError(
            f"{compiler.option} {text!r}: write all three numbers of the release, as in {compiler.releases[-1]}rc1"
        )
    series_request = ReleaseRequest(text, is_series=True, compiler=compiler)
    known = [release for release in compiler.releases if series_request.is_met_by(release)]
    if known and known[-1] != compiler.releases[-1]:
        return ReleaseRequest(known[-1], is_series=False, compiler=compiler)
    return series_request


def is_supported(version: str, compiler: Compiler = TRITON) -> bool:
    """Whether an installed compiler is new enough; a version that cannot be read gets the benefit of the doubt."""
    parsed = read(version)
    return parsed is None or parsed.major >= compiler.oldest_major


def without_local(version: str) -> str:
    """A version without its local part: ``3.4.0`` of ``3.4.0+git1a2b3c``."""
    return version.partition("+")[0]


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a release: (3, 5, 1) of ``3.5.1`` and ``3.5.1rc1``. Empty for text that is not a version."""
    parsed = read(version)
    return parsed.release if parsed is not None else ()


def sort_key(version: str) -> tuple[bool, Version | str]:
    """Order versions as releases follow each other; text that is not a version comes first."""
    parsed = read(version)
    return (False, version) if parsed is None else (True, parsed)


def is_range(text: str) -> bool:
    """Whether ``text`` is a range that ``in_range`` reads: bounds with ``<``, ``<=``, ``>``, ``>=`` or ``==``."""
    return all(_BOUND.fullmatch(bound) for bound in text.split(","))


def in_range(version: str, text: str) -> bool:
    """Whether a version is in a range such as ``>=3.0,<3.3``. The numbers of its release decide: a nightly build of
    3.3 has what 3.3 has. False where either of them cannot be read."""
    from packaging.specifiers import SpecifierSet

    parsed = read(version)
    return parsed is not None and is_range(text) and SpecifierSet(text).contains(parsed.base_version)


def nearest(version: str, released: Iterable[str], count: int = 3, compiler: Compiler = TRITON) -> list[str]:
    """The ``count`` supported releases around where ``version`` would be, in order."""
    supported = {release for release in released if read(release) and is_supported(release, compiler)}
    known = sorted(supported, key=sort_key)
    position = sum(sort_key(release) < sort_key(version) for release in known)
    start = max(0, min(position - (count + 1) // 2, len(known) - count))
    return known[start : start + count]
