"""What to compile next to find where a case began to fail and where it was fixed, in few compiles. Pure.

The releases stand in order, and each has one of four answers. Both ends are asked first; after that, always the
middle of a gap between two neighbours that were asked. With n releases the budget is ceil(log2 n) + 2 compiles: where
one end fails and the other does not, that finds an edge wherever it is, since two are spent on the ends and the rest
halves the gap of n - 1 steps between them.

The assumption is that releases between two that agree agree with them. It is made only once an edge has been seen.
While none has (both ends fail, or both compile), what is left of the budget goes to the middle of the widest gap, so
that a failure that came and went is met if it lasted long enough. Where one is met, it has two edges; the budget finds
one of them nearly always (of the 56 places in 13 releases where it is met, 50 times) and the other as far as it goes,
and what remains open is said (``history``). Whether there is a second, separate failure only the whole table tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise


class Answer(Enum):
    """``ABSENT``: the release lacks the API. ``UNKNOWN``: it was asked, and triage could not tell."""

    GOOD = "good"
    BAD = "bad"
    ABSENT = "absent"
    UNKNOWN = "unknown"


Known = Sequence[Answer | None]
"""The releases' answers, oldest first; None where nothing was asked yet."""

_FAILURE_EDGES = ({Answer.GOOD, Answer.BAD}, {Answer.BAD, Answer.ABSENT})
"""The edges that are looked for, the more telling one first."""
_NO_EDGE = len(_FAILURE_EDGES)


def budget(releases: int) -> int:
    """How many of ``releases`` may be compiled at most."""
    return min(releases, math.ceil(math.log2(releases)) + 2) if releases else 0


def next_probes(known: Known) -> list[int]:
    """The releases to compile next, as places in ``known``: both ends at first, then one; none when it is done."""
    left = budget(len(known)) - sum(answer is not None for answer in known)
    if left <= 0:
        return []
    ends = [_end(known, range(len(known) - 1, -1, -1)), _end(known, range(len(known)))]
    wanted = list(dict.fromkeys(place for place in ends if place is not None and known[place] is None))
    return wanted[:left] if wanted else _inside(known)


def _end(known: Known, places: Sequence[int]) -> int | None:
    """The first from one side that has an answer or may still get one."""
    return next((place for place in places if known[place] is not Answer.UNKNOWN), None)


def _inside(known: Known) -> list[int]:
    decided = [place for place, answer in enumerate(known) if answer not in (None, Answer.UNKNOWN)]
    seen_an_edge = False
    gaps: list[tuple[int, int, int, list[int]]] = []
    for low, high in pairwise(decided):
        answers = {known[low], known[high]}
        rank = _FAILURE_EDGES.index(answers) if answers in _FAILURE_EDGES else _NO_EDGE
        seen_an_edge |= rank < _NO_EDGE
        if untried := [place for place in range(low + 1, high) if known[place] is None]:
            # Of two edges the one that is nearly found; where there is none to see, the widest gap.
            gaps.append((rank, (high - low) * (1 if rank < _NO_EDGE else -1), -high, untried))
    if not gaps:
        return []
    rank, _, _, untried = min(gaps)
    if rank == _NO_EDGE and seen_an_edge:
        return []
    return [untried[(len(untried) - 1) // 2]]
