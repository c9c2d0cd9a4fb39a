"""Triton releases as the rules compare them: ``3.5.1`` is (3, 5)."""

from __future__ import annotations

import re
from typing import TypeAlias

from triage.model.errors import InputError

Series: TypeAlias = tuple[int, int]
"""Major and minor number: what a rule of the language depends on."""

NEWEST: Series = (3, 9)
"""The newest that the tables were checked with; later ones are taken to be as it."""
OLDEST: Series = (3, 0)
_NUMBER = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:[.\-+a-z].*)?\Z")


def series(text: str | None) -> Series:
    """The series of a release as written; the newest for None. Raises InputError for what is no release, or one
    before 3.0."""
    if text is None:
        return NEWEST
    found = _NUMBER.match(text.strip())
    if found is None:
        raise InputError(f"Triton {text!r}: write a release such as 3.6.0")
    number = (int(found[1]), int(found[2]))
    if number < OLDEST:
        raise InputError(f"Triton {text}: the tables begin with {OLDEST[0]}.{OLDEST[1]}")
    return number
