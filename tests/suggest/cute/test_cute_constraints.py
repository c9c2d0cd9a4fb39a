"""What messages ask of a number, and the numbers that are tried."""

from __future__ import annotations

import pytest

from triage.suggest.cute.constraints import Constraints


@pytest.mark.parametrize(
    ("message", "value", "first"),
    [
        ("expects the M-mode to be 64 or 128, but got 192", 192, [128, 64]),
        ("expects the N-mode to satisfy 8 <= N <= 256 and N % 8 == 0, but got 512", 512, [256]),
        ("Barrier number '99' out of range, expected to be in range [0..15]", 99, [15]),
        ("'nvvm.setmaxregister' op new register size must be multiple of 8", 100, [104, 96]),
        ("align should be a strictly positive power of 2.", 24, [32, 16]),
        ("Positive non-zero value expected for reqntid", 0, [1, 32]),
        ("'cp_size' only supports (32, 64, 128), but got 16", 16, [32, 64, 128]),
        ("num_columns must be between 32 and 512, and must be pow of 2, but got 48", 48, [64, 32]),
    ],
)
def test_numbers_that_a_message_asks_for(message: str, value: int, first: list[int]) -> None:
    constraints = Constraints.read(message)
    assert constraints.on_numbers
    assert not constraints.met(value)
    assert constraints.nearest(value)[: len(first)] == first
    assert all(map(constraints.met, constraints.nearest(value)))


@pytest.mark.parametrize(
    ("message", "rank"),
    [
        ("Launch cluster must have exactly 3 dimensions.", 3),
        ("Expected rank(target) >= rank(tiler), but got rank(target)=2 and rank(tiler)=3", 2),
        ("Launch grid must have at most 3 dimensions, but got 4.", 3),
    ],
)
def test_how_many_numbers_a_message_asks_for(message: str, rank: int) -> None:
    assert Constraints.read(message).rank == rank
