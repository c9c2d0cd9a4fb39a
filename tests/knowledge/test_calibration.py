"""The confidence of a match is what was counted, and what is more certain is counted as more certain."""

from __future__ import annotations

from itertools import pairwise

from count_matches import counted, rows

from triage.knowledge import load_all
from triage.knowledge.calibration import COUNTS, RATES, Way


def test_the_counts_are_those_of_the_scored_matches() -> None:
    assert dict(COUNTS) == counted()


def test_every_scored_match_is_of_an_entry_that_exists() -> None:
    assert {entry for _, _, entry, *_ in rows()} <= {known.id for known in load_all()}


def test_stronger_evidence_is_right_more_often() -> None:
    by_evidence = [RATES[way] for way in (Way.SPECIFIC, Way.FAMILY, Way.COMPILER_KIND, Way.ANY_KIND, Way.ELSEWHERE)]
    assert all(stronger > weaker for stronger, weaker in pairwise(by_evidence))


def test_nothing_outside_the_compiler_is_blamed_on_it() -> None:
    assert RATES[Way.ELSEWHERE] < RATES[Way.ANY_KIND] < 0.5
