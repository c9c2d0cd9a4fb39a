"""How often an entry is right, counted on pasted texts: where the confidence of a match comes from.

``tests/knowledge/scored_matches.tsv`` has the first match of each scored text, and whether it was right: whether an
entry for one cause says what happened, or a family is true of the failure and no entry says more.
``tests/knowledge/count_matches.py`` computes :data:`COUNTS` from it; a test compares them.
"""

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Way(Enum):
    """The strongest evidence by which an entry matches, strongest first."""

    #: The message, the function, the file, the pass or the exception.
    SPECIFIC = "specific"
    #: The same, of a family: that says less, and an entry for the cause may be missing.
    FAMILY = "family"
    #: The kind and the stage alone, of a compile that triage ran, or a kind that only a compiler's failure has.
    COMPILER_KIND = "compiler kind"
    #: The kind alone, one that any program's failure has.
    ANY_KIND = "any kind"
    #: Whatever holds, of a failure that only the text chains to the one that is diagnosed.
    RELATED = "related"
    #: Whatever holds, where nothing shows that the failure is the compiler's.
    ELSEWHERE = "elsewhere"


class Scored(NamedTuple):
    """Matches that were right, of those scored; on texts seen for the first time, and on texts that had been learnt
    from."""

    right: int
    scored: int
    learnt_right: int
    learnt_scored: int


_LEARNT_WEIGHT = 10
"""Texts that the entries were written or changed for are right too often: together they count as so many new ones."""

COUNTS: Mapping[Way, Scored] = {
    Way.SPECIFIC: Scored(82, 84, 385, 389),
    Way.FAMILY: Scored(40, 46, 171, 176),
    Way.COMPILER_KIND: Scored(6, 13, 7, 9),
    Way.ANY_KIND: Scored(3, 11, 6, 24),
    Way.RELATED: Scored(0, 0, 7, 13),
    Way.ELSEWHERE: Scored(0, 4, 2, 31),
}


def rate(counts: Scored) -> float:
    """The probability that the next such match is right: Laplace's rule of succession on the learnt texts, updated by
    the new ones."""
    learnt = (counts.learnt_right + 1) / (counts.learnt_scored + 2)
    return (counts.right + _LEARNT_WEIGHT * learnt) / (counts.scored + _LEARNT_WEIGHT)


RATES: Mapping[Way, float] = {way: rate(counts) for way, counts in COUNTS.items()}
