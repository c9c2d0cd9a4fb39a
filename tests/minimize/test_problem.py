"""The reducer alone, with candidates that are sets of numbers: no kernel, no compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.minimize.problem import BudgetUsed, PatchSet, ReductionProblem, RunBudget, Verdict

Numbers = frozenset[int]
TEN: Numbers = frozenset(range(10))


class Judging:
    """Judges sets by a function, counts them, and may end after some."""

    def __init__(self, same: Callable[[Numbers], bool], most: int = 10_000) -> None:
        self.same, self.most, self.asked = same, most, 0

    def ask(
        self, candidates: Sequence[Numbers | None], alike: Callable[[Numbers], None], budget: RunBudget
    ) -> list[Verdict]:
        verdicts = []
        for candidate in candidates:
            if self.asked >= self.most:
                raise BudgetUsed
            self.asked += 1
            same = candidate is not None and self.same(candidate)
            verdicts.append(Verdict.SAME if same else Verdict.OTHER)
            if same and candidate is not None:
                alike(candidate)
        return verdicts


def problem(judge: Judging, start: Numbers = TEN) -> ReductionProblem[Numbers]:
    return ReductionProblem(judge, start, lambda numbers: (len(numbers),), width=3, budget=RunBudget())


def removals(base: Numbers) -> PatchSet[Numbers, int]:
    return PatchSet(sorted(base), lambda gone: base - set(gone), str)


def reduce(reduction: ReductionProblem[Numbers]) -> Numbers:
    reduction.rounds(lambda first: reduction.sweep(removals(reduction.best), chunks=first))
    return reduction.best


@given(st.sets(st.integers(0, 9)))
def test_what_is_needed_is_left_and_nothing_else(needed: set[int]) -> None:
    assert reduce(problem(Judging(lambda numbers: needed <= numbers))) == needed


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6))
def test_no_single_patch_is_left_that_works(either: set[tuple[int, int]]) -> None:
    """Of each pair one number must stay: patches that work alone do not work together."""

    def same(numbers: Numbers) -> bool:
        return all(numbers & set(pair) for pair in either)

    left = reduce(problem(Judging(same)))
    assert same(left)
    assert not any(same(left - {number}) for number in left)


def test_all_at_once_takes_one_question() -> None:
    judge = Judging(lambda numbers: True)
    problem(judge).sweep(removals(TEN))
    assert judge.asked == 1


def test_rejected_patches_are_tried_again_before_the_end() -> None:
    """9 can go only without 0, which is tried behind it."""
    judge = Judging(lambda numbers: 9 in numbers or 0 not in numbers)
    reduction = problem(judge, frozenset({0, 9}))
    order: PatchSet[Numbers, int] = PatchSet([9, 0], lambda gone: frozenset({0, 9}) - set(gone), str)
    reduction.sweep(order, chunks=False)
    assert reduce(reduction) == frozenset()


@pytest.mark.parametrize("most", range(1, 12))
def test_the_best_so_far_holds_whenever_it_ends(most: int) -> None:
    reduction = problem(Judging(lambda numbers: {3, 7} <= numbers, most))
    with pytest.raises(BudgetUsed):
        while True:
            reduce(reduction)
    assert {3, 7} <= reduction.best
    assert [len(numbers) for numbers in reduction.history] == sorted(map(len, reduction.history), reverse=True)


def test_a_larger_candidate_only_where_it_is_asked_for() -> None:
    reduction = problem(Judging(lambda numbers: True), frozenset({1}))
    assert not reduction.attempt(TEN)
    assert reduction.attempt(TEN, larger=True)
    assert reduction.best == TEN


def test_the_first_that_fails_alike_is_taken() -> None:
    reduction = problem(Judging(lambda numbers: 2 in numbers))
    assert reduction.first([None, frozenset({1}), frozenset({2, 3}), *[frozenset({2})] * 5])
    assert reduction.best == {2, 3}
