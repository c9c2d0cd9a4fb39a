"""What to compile next to find where a case began to fail and where it was fixed, in few compiles. Pure.

The releases are ordered, and each has one of four answers. Both ends are compiled first; after that, always the middle
of a gap between two neighbours that were compiled. With n releases the budget is ceil(log2 n) + 2 compiles: where
one end fails and the other does not, that finds an edge wherever it is, since two are spent on the ends and the rest
halves the gap of n - 1 steps between them.

The assumption is that releases between two that agree agree with them. It is made only once an edge has been seen.
While none has (both ends fail, or both compile), what is left of the budget goes to the middle of the widest gap, so
that a failure that came and went is met if it lasted long enough. It has two edges; the budget finds one of them nearly
always (50 of the 56 times that it is met in 13 releases) and the other as far as it reaches, and the output names what
remains open (``history``). Only the whole table shows whether there is a second, separate failure.
"""

import math
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise


class Answer(Enum):
    """``ABSENT``: the release lacks the API. ``UNKNOWN``: it was tried, and triage could not tell."""

    GOOD = "good"
    BAD = "bad"
    ABSENT = "absent"
    UNKNOWN = "unknown"


Known = Sequence[Answer | None]
"""The releases' answers, oldest first; None where a release was not tried yet."""

_FAILURE_EDGES = ({Answer.GOOD, Answer.BAD}, {Answer.BAD, Answer.ABSENT})
"""The edges to search for, the more informative one first."""
_NO_EDGE = len(_FAILURE_EDGES)


def budget(releases: int) -> int:
    """How many of ``releases`` may be compiled at most."""
    return min(releases, math.ceil(math.log2(releases)) + 2) if releases else 0


def next_probes(known: Known) -> list[int]:
    """Indices in ``known`` of the releases to compile next: both ends at first, then one, none at the end."""
    left = budget(len(known)) - sum(answer is not None for answer in known)
    if left <= 0:
        return []
    ends = [_end(known, range(len(known) - 1, -1, -1)), _end(known, range(len(known)))]
    wanted = list(dict.fromkeys(index for index in ends if index is not None and known[index] is None))
    return wanted[:left] if wanted else _inside(known)


def _end(known: Known, indices: Sequence[int]) -> int | None:
    """The first from one side that has an answer or may still get one."""
    return next((index for index in indices if known[index] is not Answer.UNKNOWN), None)


def _inside(known: Known) -> list[int]:
    decided = [index for index, answer in enumerate(known) if answer not in (None, Answer.UNKNOWN)]
    seen_an_edge = False
    gaps: list[tuple[int, int, int, list[int]]] = []
    for low, high in pairwise(decided):
        answers = {known[low], known[high]}
        rank = _FAILURE_EDGES.index(answers) if answers in _FAILURE_EDGES else _NO_EDGE
        seen_an_edge |= rank < _NO_EDGE
        if untried := [index for index in range(low + 1, high) if known[index] is None]:
            # Of two edges the narrower gap; without an edge, the widest gap.
            gaps.append((rank, (high - low) * (1 if rank < _NO_EDGE else -1), -high, untried))
    if not gaps:
        return []
    rank, _, _, untried = min(gaps)
    if rank == _NO_EDGE and seen_an_edge:
        return []
    return [untried[(len(untried) - 1) // 2]]
