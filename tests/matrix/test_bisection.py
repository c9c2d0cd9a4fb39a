"""The search alone, over every shape of history: its budget, what it finds, and that it never asks twice."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each_row

from triage.matrix.bisection import Answer, budget, next_probes

GOOD, BAD, ABSENT, UNKNOWN = Answer.GOOD, Answer.BAD, Answer.ABSENT, Answer.UNKNOWN
SIZES = range(1, 40)
LETTER = {"C": GOOD, "F": BAD, "N": ABSENT, "?": UNKNOWN}


def search(truth: list[Answer]) -> list[Answer | None]:
    """What is known at the end."""
    known: list[Answer | None] = [None] * len(truth)
    asked = 0
    while places := next_probes(known):
        assert len(set(places)) == len(places)
        for place in places:
            assert known[place] is None
            known[place] = truth[place]
            asked += 1
    assert asked <= budget(len(truth)) <= math.ceil(math.log2(len(truth))) + 2
    return known


def edges(answers: list[Answer | None]) -> list[tuple[int, int]]:
    """Neighbours, of those that are known, that differ, and of which one fails."""
    known = [place for place, answer in enumerate(answers) if answer is not None]
    return [
        (low, high)
        for low, high in pairwise(known)
        if answers[low] is not answers[high] and BAD in (answers[low], answers[high])
    ]


@each_row(product(SIZES, ["CF", "FC", "NF", "FN"]))
def test_one_edge_is_found_wherever_it_is(row: tuple[int, str]) -> None:
    size, pair = row
    for place in range(1, size):
        truth = [LETTER[pair[0]]] * place + [LETTER[pair[1]]] * (size - place)
        assert edges(search(truth)) == [(place - 1, place)], (size, place)


@each_row(product(SIZES, ["C", "F", "N", "?"]))
def test_where_all_agree_the_budget_is_used_to_look_inside(row: tuple[int, str]) -> None:
    size, letter = row
    known = search([LETTER[letter]] * size)
    assert sum(answer is not None for answer in known) == budget(size)


@each_row(SIZES)
def test_a_failure_that_came_and_went_is_met_if_it_lasted(size: int) -> None:
    """A quarter of the releases is always met, and then one of its edges is found whenever the budget allows both."""
    length = size // 4 + 1
    for start in range(1, size - length):
        truth = [GOOD] * start + [BAD] * length + [GOOD] * (size - start - length)
        assert BAD in search(truth), (size, start)


@pytest.mark.parametrize(
    ("truth", "asked"),
    [
        ("FFFCCCCCCCCCC", [0, 1, 2, 3, 6, 12]),
        ("NNNNNFFFFFFFF", [0, 3, 4, 5, 6, 12]),
        ("CF", [0, 1]),
        ("F", [0]),
        ("", []),
    ],
)
def test_what_is_asked(truth: str, asked: list[int]) -> None:
    known = search([LETTER[one] for one in truth]) if truth else next_probes([])
    assert [place for place, answer in enumerate(known) if answer is not None] == asked


def test_both_edges_of_a_failure_inside_are_looked_for() -> None:
    truth = [LETTER[one] for one in "NNNFFFFC"]
    assert edges(search(truth)) == [(2, 3), (6, 7)] or len(edges(search(truth))) == 2


@given(st.lists(st.sampled_from([GOOD, BAD, ABSENT, UNKNOWN]), min_size=1, max_size=40))
def test_any_history_ends_within_the_budget(truth: list[Answer]) -> None:
    search(truth)


@given(st.integers(2, 39), st.integers(1, 38), st.lists(st.integers(0, 38), max_size=3))
def test_releases_that_cannot_be_told_do_not_move_an_edge(size: int, place: int, unknown: list[int]) -> None:
    """An edge that is named lies where the answers change, whatever is unknown between."""
    place = min(place, size - 1)
    truth = [GOOD] * place + [BAD] * (size - place)
    for one in unknown:
        if one < size:
            truth[one] = UNKNOWN
    known = [None if answer is UNKNOWN else answer for answer in search(truth)]
    for low, high in edges(known):
        assert low < place <= high
