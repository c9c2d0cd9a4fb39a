"""Triton releases as the rules compare them: ``3.5.1`` is (3, 5)."""

from typing import TypeAlias

from triage.model.errors import InputError
from triage.model.releases import numbers

Series: TypeAlias = tuple[int, int]
"""Major and minor number: what a rule of the language depends on."""

NEWEST: Series = (3, 9)
"""The newest that the tables were checked with; later ones are taken to equal it."""
OLDEST: Series = (3, 0)


def series(text: str | None) -> Series:
    """The series of a release as written; the newest for None. Raises InputError for text that is not a release, and
    for one before 3.0."""
    if text is None:
        return NEWEST
    match numbers(text):
        case (major, minor, *_):
            number = (major, minor)
        case _:
            raise InputError(f"Triton {text!r}: write a release such as 3.6.0")
    if number < OLDEST:
        raise InputError(f"Triton {text}: the tables begin with {OLDEST[0]}.{OLDEST[1]}")
    return number
